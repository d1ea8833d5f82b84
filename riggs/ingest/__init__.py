"""Sources of turns: what the sibling tools and the outer agent recorded, one module a source."""

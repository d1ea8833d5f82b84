"""The builtin tools: files, code, tests, each confined to one workspace."""

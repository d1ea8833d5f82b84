"""`read` and `glob`."""

# ruff: noqa: PTH112, PTH113  # strings and os.path: a scan makes no Path object a file

from __future__ import annotations

import os
from collections.abc import Callable

from lackpy.tools.decode import decode
from lackpy.tools.errors import ToolError
from lackpy.tools.globs import compile_glob
from lackpy.tools.limits import PATHS, Clock, text_argument
from lackpy.tools.listing import Listing
from lackpy.tools.workspace import Workspace


class FileTools:
    """Tools that read the files of one workspace."""

    def __init__(self, workspace: Workspace, listing: Listing) -> None:
        """Share `listing` with the other tools of the workspace."""
        self.workspace = workspace
        self.listing = listing

    def read(self, path: str) -> str:
        """Return the text of a file, line endings as stored.

        Raises:
            ToolError: Missing, outside the workspace, binary, over 8 MB or unreadable.
        """
        text = decode(self.workspace.load(path))
        if text is None:
            raise ToolError(f"binary file: {path!r}; only text can be read")
        return text

    def glob(self, pattern: str) -> list[str]:
        """Return the files that match a pattern such as 'src/**/*.py', sorted.

        Raises:
            ToolError: The pattern is no text, empty or points outside the workspace, or too many files match.
        """
        given = text_argument(pattern, "'pattern'")
        return self.select(given, Clock())

    def select(self, pattern: str, clock: Clock, *, places: bool = False) -> list[str]:
        """Return the listed files that `pattern` matches.

        Args:
            pattern: A glob.
            clock: Polled while listing.
            places: A file's or folder's own name stands for that file, or for all files in it.

        Raises:
            ToolError: As `glob`, or the clock ran out.
        """
        pattern = self._inside(pattern)
        compiled = compile_glob(pattern)
        hidden, matches = compiled.hidden, compiled.matches
        if places:
            place, is_file = self._place(compiled.pattern)
            if is_file:
                return [place]
            if place:
                matches = _below(place)
        found = [
            path
            for path in self.listing.files(clock, hidden=hidden)
            if matches(path) or path == compiled.pattern
        ]
        if len(found) > PATHS:
            raise ToolError(
                f"glob {pattern!r} matches {len(found):,} files, over the limit of {PATHS:,}; narrow it"
            )
        return found

    def _inside(self, pattern: str) -> str:
        """Make an absolute pattern below the workspace relative."""
        prefix = self.workspace.root.replace(os.sep, "/").rstrip("/")
        return pattern[len(prefix) + 1 :] or "." if f"{pattern}/".startswith(f"{prefix}/") else pattern

    def _place(self, pattern: str) -> tuple[str, bool]:
        """Return the normal path of the file or folder that `pattern` names literally and whether it is a file."""
        try:
            real = self.workspace.resolve(pattern, "glob")
        except ToolError:
            return "", False
        place = os.path.normpath(pattern).replace(os.sep, "/")
        if os.path.isfile(real):
            return place, True
        return (place, False) if os.path.isdir(real) else ("", False)


def _below(folder: str) -> Callable[[str], bool]:
    """Match every file in `folder`, at any depth, hidden ones aside."""
    if folder == ".":
        return lambda _path: True
    prefix = folder + "/"
    return lambda path: path.startswith(prefix) and "/." not in path[len(folder) :]

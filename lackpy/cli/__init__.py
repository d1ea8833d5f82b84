"""The `lackpy` command. Each subcommand is a module of this package, imported when it is called."""

from lackpy.cli.group import main

__all__ = ["main"]

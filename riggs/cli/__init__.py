"""The `riggs` command. Each subcommand is a module of this package, imported when it is called."""

from riggs.cli.group import main

__all__ = ["main"]

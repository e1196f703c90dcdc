"""The `quadfill` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program with the arguments of this process."""
    from quadfill._quadfill import run_command

    sys.exit(run_command(["quadfill", *sys.argv[1:]]))

"""`python -m quadfill` is the `quadfill` command."""

from quadfill._command import main

main()

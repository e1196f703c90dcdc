"""`python -m quadfill` is the `quadfill` command."""

from quadfill._command import main

if __name__ == "__main__":
    main()

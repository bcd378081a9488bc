"""`python -m notebook_bcc`: the same as `nbcc`."""

from notebook_bcc.cli.main import main

if __name__ == "__main__":
    main()

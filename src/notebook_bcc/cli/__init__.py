"""The command line: commands, the live view, and the one place where errors become exit codes."""

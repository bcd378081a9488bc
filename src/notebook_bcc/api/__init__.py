"""The front door for Python: `run`, `arun`, `start`, `open`, `runs` and the `Run` they give.

They are used from `notebook_bcc` itself, which loads each with its first use.
"""

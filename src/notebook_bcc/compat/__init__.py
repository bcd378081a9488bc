"""The Python names that the protocol's documents promise. Thin, on top of everything; nothing else imports it.

They are used from `notebook_bcc` itself, which loads each with its first use.
"""

"""The process that starts a local kernel, watches it and ends it; and how others speak to it."""

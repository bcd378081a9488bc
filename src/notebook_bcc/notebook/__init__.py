"""The notebook: a document in memory, the file on disk, and what it can be exported to."""

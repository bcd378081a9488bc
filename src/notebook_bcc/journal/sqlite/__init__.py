"""The default journal: one SQLite file a run."""

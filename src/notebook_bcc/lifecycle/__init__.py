"""A run's life: its folder on disk, how it is started, taken up again, stopped and verified."""

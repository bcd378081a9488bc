"""What the beginning of a data file shows, read in our own process: nothing of the file is executed."""

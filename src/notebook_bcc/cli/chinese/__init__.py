"""The command line in Chinese: its help and its errors. Loaded only where somebody reads Chinese."""

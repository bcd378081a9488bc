"""Benchmarks beside peers: `python -m benchmarks` prints one row per gate. Not tests: nothing here is timed in CI."""

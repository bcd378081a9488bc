"""Confines a kernel: what its code may read, write, reach and see."""

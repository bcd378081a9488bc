"""A kernel in a process of ours."""

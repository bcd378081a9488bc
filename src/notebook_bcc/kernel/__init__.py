"""Where code runs: one interface, real kernels behind it, and a double."""

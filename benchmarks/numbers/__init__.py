"""Whether what runs tell is what their kernels hold: `make numbers`."""

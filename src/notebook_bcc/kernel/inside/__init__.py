"""Code that runs in the kernel's own process. It imports nothing of ours."""

"""What runs on the other side: before a kernel's own code, and in the kernel. It imports nothing of ours."""

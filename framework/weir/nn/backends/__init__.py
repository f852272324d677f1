"""Empty, as in PyTorch."""

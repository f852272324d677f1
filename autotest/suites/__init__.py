"""Test files that PyTorch's developers wrote, run on a subject beside PyTorch."""

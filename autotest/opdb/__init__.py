"""PyTorch's own op database as the source of questions."""

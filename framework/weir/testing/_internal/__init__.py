"""PyTorch's own test helpers, of which weir has those that libraries' tests import."""

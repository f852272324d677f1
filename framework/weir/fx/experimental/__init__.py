"""Parts of PyTorch's compiler that libraries ask about."""

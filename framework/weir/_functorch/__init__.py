"""Where `torch.func` is made in PyTorch: the steps of `vmap`, and what the older `functorch` package had."""

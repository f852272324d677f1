"""Layers of quantisation, which weir does not do."""

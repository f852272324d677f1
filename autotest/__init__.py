"""Conformance testing of torch-like frameworks against PyTorch's own op database.

The driver imports no framework. One worker process holds the oracle (PyTorch), another the
subject (`weir`, or any importable module with PyTorch's API); cases travel between them as data.
"""

"""The names of PyTorch's module `fold`, which live in other files here."""
from weir.nn.modules._elsewhere import elsewhere

__getattr__ = elsewhere(__name__)

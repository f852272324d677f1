"""Streams and events of `torch.cuda` under their module's name."""
from . import Event, ExternalStream, Stream  # noqa: F401

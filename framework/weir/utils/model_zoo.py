"""Weights by URL, under the name from before `torch.hub`."""
from weir.hub import load_state_dict_from_url  # noqa: F401

load_url = load_state_dict_from_url

"""Weights by URL, under the name from before `torch.hub`."""
from weir.hub import download_url_to_file as _download_url_to_file, load_state_dict_from_url, tqdm  # noqa: F401

load_url = load_state_dict_from_url

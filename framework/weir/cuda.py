"""`torch.cuda` for a build without the CUDA back end: everything answers, nothing pretends."""


def is_available():
    return False


def device_count():
    return 0


def is_bf16_supported():
    return False


def synchronize(device=None):
    raise RuntimeError("Torch not compiled with CUDA enabled")


def manual_seed(seed):
    """Ignored without a GPU, as in PyTorch."""


manual_seed_all = manual_seed

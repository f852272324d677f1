"""Questions about PyTorch's compiler, which is not here."""


def is_compile_supported(device_type):
    return False

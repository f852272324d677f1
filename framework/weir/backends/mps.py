"""Apple's GPUs, which this build does not use."""


def is_available():
    return False


def is_built():
    return False


def is_macos_or_newer(major, minor):
    return False


is_macos13_or_newer = is_macos_or_newer

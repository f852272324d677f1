"""OpenMP, whose threads the kernels run on."""


def is_available():
    return True

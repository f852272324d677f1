"""xeon, which this build does without."""


def is_available():
    return False

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has

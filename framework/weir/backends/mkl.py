"""MKL, which this build does without: its products are oneDNN's."""
VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available():
    return False

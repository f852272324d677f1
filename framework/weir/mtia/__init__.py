"""Another accelerator, which this build does not use."""


def is_available():
    return False


def device_count():
    return 0

"""Watching backward for NaN, which weir does not do: switching it on raises NotImplementedError."""


class detect_anomaly:
    """NotImplementedError when entered."""

    def __init__(self, check_nan=True):
        self.check_nan = check_nan

    def __enter__(self):
        raise NotImplementedError("detect_anomaly: weir does not watch backward for NaN")

    def __exit__(self, *exc):
        return None


class set_detect_anomaly:
    """NotImplementedError for True; False is how it is."""

    def __init__(self, mode, check_nan=True):
        if mode:
            raise NotImplementedError("set_detect_anomaly: weir does not watch backward for NaN")

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return None

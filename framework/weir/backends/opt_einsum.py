"""The order of contractions in `einsum`, which is from left to right here."""
enabled, strategy = False, None


def is_available():
    return False


def get_opt_einsum():
    return None

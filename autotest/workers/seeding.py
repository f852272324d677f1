"""Seeds what a framework draws from."""


def seed(W, number: int = 0) -> None:
    """Seeds the CPU generator of framework `W`, if it has one.

    PyTorch's own `manual_seed` also formats a stack for every absent accelerator: a third of a campaign's time.
    """
    generator = getattr(W, "default_generator", None)
    if generator is not None:
        generator.manual_seed(number)
    elif hasattr(W, "manual_seed"):
        W.manual_seed(number)

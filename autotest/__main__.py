"""`python -m weir_autotest` is the command `weir-autotest`."""

from .cli import main

main()

"""Other back ends, which weir does not take."""
from ._named import generate_methods_for_privateuse1_backend, rename_privateuse1_backend  # noqa: F401

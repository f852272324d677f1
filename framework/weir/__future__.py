"""Switches between old and new behaviour of PyTorch, of which weir has one each."""


def get_overwrite_module_params_on_conversion():
    return False


def set_overwrite_module_params_on_conversion(value):
    """NotImplementedError for True."""
    if value:
        raise NotImplementedError("set_overwrite_module_params_on_conversion: weir changes parameters in place")


def get_swap_module_params_on_conversion():
    return False


def set_swap_module_params_on_conversion(value):
    """NotImplementedError for True."""
    if value:
        raise NotImplementedError("set_swap_module_params_on_conversion: weir changes parameters in place")

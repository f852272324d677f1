"""Weights of convolutions in another order of axes."""
import weir


def _convert(module, kinds, rank, memory_format):
    for m in module.modules():
        if isinstance(m, kinds):
            m.weight.data = m.weight.detach().clone(memory_format=memory_format) if m.weight.dim() == rank else m.weight.detach()
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """module with the weights of its 2-d convolutions, plain and transposed, in the memory format. Changed in place and returned.

    Source: torch.nn.utils.convert_conv2d_weight_memory_format.
    """
    return _convert(module, (weir.nn.Conv2d, weir.nn.ConvTranspose2d), 4, memory_format)


def convert_conv3d_weight_memory_format(module, memory_format):
    """The same for 3-d convolutions and channels_last_3d."""
    return _convert(module, (weir.nn.Conv3d, weir.nn.ConvTranspose3d), 5, memory_format)

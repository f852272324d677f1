"""Pooling modules."""

import weir.nn.functional as F

from ._fields import Fields

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]


class _MaxPoolNd(Fields):
    """Maxima over windows; `return_indices` gives their positions too."""

    _shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices: bool = False,
                 ceil_mode: bool = False):
        super().__init__()
        self._keep(locals())
        self.stride = kernel_size if stride is None else stride

    def forward(self, input):
        return getattr(F, self._function)(input, self.kernel_size, self.stride, self.padding, self.dilation,
                                          ceil_mode=self.ceil_mode, return_indices=self.return_indices)


class MaxPool1d(_MaxPoolNd):
    """Maxima over windows of the last axis."""

    _function = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """Maxima over windows of the last two axes."""

    _function = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """Maxima over windows of the last three axes."""

    _function = "max_pool3d"


class _MaxUnpoolNd(Fields):
    """Puts values back where the max pool found them."""

    _shown = ("kernel_size", "stride", "padding")
    _function, _rank = None, 0

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        repeat = lambda v: v if isinstance(v, (tuple, list)) else (v,) * self._rank  # noqa: E731
        self.kernel_size = repeat(kernel_size)
        self.stride = repeat(kernel_size if stride is None else stride)
        self.padding = repeat(padding)

    def forward(self, input, indices, output_size=None):
        return getattr(F, self._function)(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpoolNd):
    """Inverse of MaxPool1d, zeros elsewhere."""

    _function, _rank = "max_unpool1d", 1


class MaxUnpool2d(_MaxUnpoolNd):
    """Inverse of MaxPool2d, zeros elsewhere."""

    _function, _rank = "max_unpool2d", 2


class MaxUnpool3d(_MaxUnpoolNd):
    """Inverse of MaxPool3d, zeros elsewhere."""

    _function, _rank = "max_unpool3d", 3


class _AvgPoolNd(Fields):
    """Means over windows."""

    _shown = ("kernel_size", "stride", "padding")


class AvgPool1d(_AvgPoolNd):
    """Means over windows of the last axis."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode: bool = False, count_include_pad: bool = True):
        super().__init__()
        self.kernel_size, self.stride, self.padding = (
            v if isinstance(v, (tuple, list)) else (v,)
            for v in (kernel_size, kernel_size if stride is None else stride, padding))
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPool(_AvgPoolNd):
    """Means over windows of several axes."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override=None):
        super().__init__()
        self._keep(locals())
        self.stride = kernel_size if stride is None else stride

    def forward(self, input):
        return getattr(F, self._function)(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                                          self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPool):
    """Means over windows of the last two axes."""

    _function = "avg_pool2d"


class AvgPool3d(_AvgPool):
    """Means over windows of the last three axes."""

    _function = "avg_pool3d"


class _LPPoolNd(Fields):
    """p-norms over windows."""

    _shown = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(self, norm_type: float, kernel_size, stride=None, ceil_mode: bool = False):
        super().__init__()
        self._keep(locals())

    def forward(self, input):
        pooled = getattr(F, self._function)(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
        if not self.norm_type:
            raise ZeroDivisionError(f"{type(self).__name__}: there is no root of power 1 / 0")
        return pooled


class LPPool1d(_LPPoolNd):
    """p-norms over windows of the last axis."""

    _function = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """p-norms over windows of the last two axes."""

    _function = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """p-norms over windows of the last three axes."""

    _function = "lp_pool3d"


class _Adaptive(Fields):
    """Pools to a given output size."""

    _shown = ("output_size",)
    _function = None


class _AdaptiveAvgPoolNd(_Adaptive):
    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return getattr(F, self._function)(input, self.output_size)


class _AdaptiveMaxPoolNd(_Adaptive):
    def __init__(self, output_size, return_indices: bool = False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input):
        return getattr(F, self._function)(input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means pooled to a length."""

    _function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means pooled to (H, W)."""

    _function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means pooled to (D, H, W)."""

    _function = "adaptive_avg_pool3d"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima pooled to a length."""

    _function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima pooled to (H, W)."""

    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima pooled to (D, H, W)."""

    _function = "adaptive_max_pool3d"


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)

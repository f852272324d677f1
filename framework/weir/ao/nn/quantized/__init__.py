"""Quantised layers: names only."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.ao.nn.quantized", "Linear Conv1d Conv2d Conv3d BatchNorm2d ReLU6 FloatFunctional QFunctional "
                            "Quantize DeQuantize Embedding LSTM", "weir has no quantised tensors")

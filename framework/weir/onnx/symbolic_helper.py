"""Decorators of functions that an ONNX export would call; they give the function back."""


def parse_args(*arg_descriptors):
    return lambda fn: fn


def quantized_args(*arg_q_descriptors, **options):
    return lambda fn: fn

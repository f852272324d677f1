"""Derivatives by `func`: of one example at a time, in a direction, as whole matrices (`bench/derivatives.py`)."""

from functools import partial

from ..case import case, tensor

func = partial(case, "func", mode="derive", traffic=0)

NET = [tensor(64, 32), tensor(64), tensor(10, 64), tensor(10)]  # 32 -> 64 -> 10
LARGE = [tensor(512, 256), tensor(512), tensor(256, 512), tensor(256)]
MODELS = [tensor(8, *t["shape"]) for t in NET]

CASES = [
    func("per_sample_gradients", "32-64-10, 64 samples", [*NET, tensor(64, 32), tensor(64, 10)]),
    func("per_picture_gradients", "1x16x16, 32 pictures", [tensor(8, 1, 3, 3), tensor(10, 8 * 16 * 16), tensor(32, 1, 16, 16)]),
    func("ensemble", "8 nets, 64 samples", [*MODELS, tensor(64, 32)]),
    func("jacrev", "32-64-10", [*NET, tensor(32)]),
    func("jacfwd", "32-64-10", [*NET, tensor(32)]),
    func("hessian", "32-64-10", [*NET, tensor(32)]),
    func("jvp", "256-512-256, 64 samples", [*LARGE, tensor(64, 256), tensor(64, 256)]),
    func("hessian_vector", "256-512-256, 64 samples", [*LARGE, tensor(64, 256), tensor(64, 256), tensor(512, 256)]),
]

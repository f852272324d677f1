"""Decompositions and solves at three sizes and in batches, products of doubles, and Fourier transforms."""

from functools import partial

from ..case import case, tensor

# Neither bytes nor a count of operations bounds a decomposition that is made in small blocks: no roofline.
linalg, fft = partial(case, "linalg", traffic=0), partial(case, "fft")
SIZES = {"4": (4, 4), "64": (64, 64), "512": (512, 512), "128 of 16": (128, 16, 16)}
L = "linalg."
# Of an eigenvector or a singular vector a library may give the negative: only its shape is compared.
DEFINITE = [("inv", {}), ("cholesky", {}), ("det", {}), ("eigvalsh", {}), ("eigh", {"check": "shape"})]
GENERAL = [("qr", {}), ("svdvals", {}), ("svd", {"check": "shape"})]
# Vectors of 512 rows take a tenth of a second, and a determinant of as many overflows.
LEFT_OUT = {("svd", "512"), ("eigh", "512"), ("det", "512")}


def square(op: str, size: str, fill: str, columns: int = 0, mode: str = "fwd", **more) -> dict:
    """Returns the case of `op` of a square matrix, and of as many right sides as `columns`."""
    shape = SIZES[size]
    inputs = [tensor(*shape, fill=fill, requires_grad=mode != "fwd")]
    inputs += [tensor(*shape[:-1], columns, requires_grad=mode != "fwd")] if columns else []
    return linalg(L + op, f"{size}{' backward' * (mode != 'fwd')}", inputs, mode=mode, **more)


LINALG = [
    *(square(op, size, "definite", **more) for op, more in DEFINITE for size in SIZES if (op, size) not in LEFT_OUT),
    *(square(op, size, "normal", **more) for op, more in GENERAL for size in SIZES if (op, size) not in LEFT_OUT),
    *(square("solve", size, "definite", columns=8) for size in SIZES),
    *(square("solve_triangular", size, "definite", columns=8, upper=True) for size in SIZES),
    square("inv", "64", "definite", mode="bwd"),
    square("solve", "64", "definite", columns=8, mode="bwd"),
    square("cholesky", "64", "definite", mode="bwd"),
    *(linalg("matmul", f"{n} f64", [tensor(n, n, dtype="float64")] * 2, flops=0) for n in (64, 512)),
]

LINE, ROWS, PICTURE = tensor(4096), tensor(64, 1024), tensor(8, 256, 256)
SPECTRUM = tensor(64, 1024, dtype="complex64")

FFT = [
    fft("fft.rfft", "64", [tensor(64)]),
    fft("fft.fft", "4096", [LINE]),
    fft("fft.rfft", "64x1024", [ROWS]),
    fft("fft.fft", "64x1024 complex", [SPECTRUM]),
    fft("fft.irfft", "64x513 to 1024", [tensor(64, 513, dtype="complex64")], out=64 * 1024),
    fft("fft.rfft", "64x1000", [tensor(64, 1000)]),
    fft("fft.rfft", "64x1009, a prime", [tensor(64, 1009)]),
    fft("fft.fft2", "8x256x256", [PICTURE]),
    fft("fft.rfft2", "8x256x256", [PICTURE]),
    fft("fft.rfft", "64x1024 backward", [tensor(64, 1024, requires_grad=True)], mode="bwd"),
    fft("stft", "16000 by 400", [tensor(4, 16000), tensor(400, fill="positive")],
        [{"input": 0}, 400], hop_length=160, window={"input": 1}, return_complex=True),
]

CASES = LINALG + FFT

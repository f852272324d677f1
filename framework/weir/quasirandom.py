"""Sobol sequences: points that fill the unit cube evenly. Source: torch.quasirandom.SobolEngine."""
import weir

from ._lazy import LazyModule

_qmc = LazyModule("scipy.stats.qmc")


class SobolEngine:
    """Points of `dimension` coordinates. The sequence is SciPy's, whose direction numbers are PyTorch's (Joe and Kuo 2008).

    Scrambled sequences are as random, but not the same numbers, as PyTorch's.
    """

    MAXBIT, MAXDIM = 30, 21201

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self._start()

    def _start(self):
        seed = self.seed if self.seed is not None else int(weir.randint(2**31, (1,))) if self.scramble else 0
        self._engine = _qmc.Sobol(self.dimension, scramble=self.scramble, bits=self.MAXBIT, rng=seed)
        self.num_generated = 0

    def draw(self, n=1, out=None, dtype=None):
        """The next n points. Shape: (n, dimension)."""
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of balance, which PyTorch does not speak of
            points = self._engine.random(n)
        self.num_generated += n
        result = weir.from_numpy(points).to(dtype or weir.get_default_dtype())
        return out.resize_(result.shape).copy_(result) if out is not None else result

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2 ** m points. ValueError unless the total stays a power of two."""
        n = 2 ** m
        total = self.num_generated + n
        if total & (total - 1) != 0:
            raise ValueError(f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points "
                             f"have been previously generated, then: n={self.num_generated}+2**{m}={total}. If you still want to "
                             "do this, please use 'SobolEngine.draw()' instead.")
        return self.draw(n, out, dtype)

    def reset(self):
        self._start()
        return self

    def fast_forward(self, n):
        """Skips n points."""
        self._engine.fast_forward(n)
        self.num_generated += n
        return self

    def __repr__(self):
        text = [f"dimension={self.dimension}"]
        text += ["scramble=True"] if self.scramble else []
        text += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(text)})"

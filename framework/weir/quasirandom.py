"""Sobol sequences: points that fill the unit cube evenly. Source: torch.quasirandom.SobolEngine."""
import weir

from ._lazy import LazyModule, np

_qmc = LazyModule("scipy.stats.qmc")


class SobolEngine:
    """Points of `dimension` coordinates, by the direction numbers of Joe and Kuo 2008, which SciPy keeps.

    scramble: Matousek's linear scramble and a shift, drawn from a generator of `seed` (None: the default one) as PyTorch draws
    them, so that equal seeds give equal points. ValueError for a dimension outside [1, 21201].
    """

    MAXBIT, MAXDIM = 30, 21201

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self._directions = _qmc.Sobol(dimension, scramble=False, bits=self.MAXBIT)._sv.astype(np.int64)
        self._shift = np.zeros(dimension, np.int64)
        if scramble:
            self._scramble(None if seed is None else weir.Generator().manual_seed(seed))
        self.num_generated = 0

    def _scramble(self, generator):
        bits = np.arange(self.MAXBIT)
        shift = weir.randint(2, (self.dimension, self.MAXBIT), generator=generator).numpy()
        self._shift = (shift << bits).sum(-1)
        rows = weir.randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), generator=generator).tril().numpy()
        rows[:, bits, bits] = 1
        masks = (rows << bits[::-1]).sum(-1)  # of each row of the matrix, from the highest bit down
        parity = self._directions[:, :, None] & masks[:, None, :]
        for half in (16, 8, 4, 2, 1):
            parity ^= parity >> half
        self._directions = ((parity & 1) << bits[::-1]).sum(-1)

    def draw(self, n=1, out=None, dtype=None):
        """The next n points. Shape: (n, dimension)."""
        at = np.arange(self.num_generated, self.num_generated + n)
        gray, points = at ^ at >> 1, np.tile(self._shift, (n, 1))
        for bit in range(int(gray.max(initial=0)).bit_length()):
            points ^= np.where((gray >> bit & 1)[:, None], self._directions[:, bit], 0)
        self.num_generated += n
        result = (weir.from_numpy(points).double() * 2.0**-self.MAXBIT).to(dtype or weir.get_default_dtype())
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
        """Back to the first point, of the same scramble."""
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Skips n points."""
        self.num_generated += n
        return self

    def __repr__(self):
        text = [f"dimension={self.dimension}"]
        text += ["scramble=True"] if self.scramble else []
        text += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(text)})"

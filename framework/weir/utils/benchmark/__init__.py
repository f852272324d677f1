"""Timing of snippets. Source: torch.utils.benchmark."""
import statistics
import time
import timeit

from weir._absent import absent as _absent


class Measurement:
    """Times of some runs, per execution of the statement."""

    def __init__(self, number_per_run, raw_times, task_spec=None, metadata=None):
        self.number_per_run, self.raw_times, self.task_spec = number_per_run, raw_times, task_spec
        self.metadata = metadata or {}
        self.times = [t / number_per_run for t in raw_times]

    median = property(lambda self: statistics.median(self.times))
    mean = property(lambda self: statistics.fmean(self.times))

    @property
    def iqr(self):
        """The distance between the quartiles."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    def __repr__(self):
        unit, scale = next((u, s) for u, s in (("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)) if self.median >= s or s == 1e-9)
        return (f"<weir.utils.benchmark.Measurement>\n{self.task_spec or ''}\n  Median: {self.median / scale:.2f} {unit}\n"
                f"  IQR:    {self.iqr / scale:.2f} {unit}\n  {len(self.times)} measurements, {self.number_per_run} runs per "
                "measurement")


class Timer:
    """Times a statement, with one thread unless told."""

    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=time.perf_counter, globals=None, label=None,
                 sub_label=None, description=None, env=None, num_threads=1, language="python"):
        import weir
        if str(language).lower() not in ("python", "language.python"):
            raise NotImplementedError("benchmark.Timer: only Python statements")
        scope = dict(globals or {})
        scope.setdefault("torch", weir)
        self._timer = timeit.Timer(stmt, setup, timer, scope)
        self._threads, self._spec = num_threads, label or stmt

    def _run(self, number):
        import weir
        before = weir.get_num_threads()
        weir.set_num_threads(self._threads)
        try:
            return self._timer.timeit(number)
        finally:
            weir.set_num_threads(before)

    def timeit(self, number=1000000):
        """One run of `number` executions, after a short one to warm up."""
        self._run(max(number // 100, 2))
        return Measurement(number, [self._run(number)], self._spec)

    def _block(self, min_run_time):
        number = 1
        while True:
            taken = self._run(number)
            if taken >= min_run_time / 1000 or number > 1 << 40:
                return number
            number *= 10

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Runs for at least min_run_time seconds."""
        number, times = self._block(min_run_time), []
        while sum(times) < min_run_time or not times:
            times.append(self._run(number))
            if callback:
                callback(number, times[-1])
        return Measurement(number, times, self._spec)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """Runs until the spread is below threshold of the median."""
        number, times = self._block(min_run_time), []
        while sum(times) < max_run_time:
            times.append(self._run(number))
            m = Measurement(number, times, self._spec)
            if sum(times) >= min_run_time and len(times) >= 4 and m.iqr < threshold * m.median:
                break
        return Measurement(number, times, self._spec)

    def collect_callgrind(self, *args, **kwargs):
        raise NotImplementedError("benchmark.Timer: weir counts no instructions")


Compare = _absent("utils.benchmark.Compare")
Fuzzer = _absent("utils.benchmark.Fuzzer")
FuzzedTensor = _absent("utils.benchmark.FuzzedTensor")
FuzzedParameter = _absent("utils.benchmark.FuzzedParameter")
CallgrindStats = _absent("utils.benchmark.CallgrindStats")

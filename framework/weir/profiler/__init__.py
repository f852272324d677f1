"""Wall times of scopes: `profile` and `record_function`. Ops are not timed one by one yet. Source: torch.profiler.

A profile gathers the scopes of `record_function` that end inside it. Its table and its trace hold these, with measured times.
"""
import enum
import json
import threading
import time

_stack = threading.local()
_running: list = []


class ProfilerActivity(enum.Enum):
    """What to watch; only the CPU is there."""

    CPU, XPU, MTIA, CUDA, HPU, PrivateUse1 = range(6)


class ProfilerAction(enum.Enum):
    """What a step of a schedule does."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

DeviceType = enum.Enum("DeviceType", "CPU CUDA")


def supported_activities():
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A function of the step's number that says what to do: skip, wait, warm up, record, and so on."""
    def what(step):
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait and step < warmup + active:
            step += wait
        span = wait + warmup + active
        if repeat and step // span >= repeat:
            return ProfilerAction.NONE
        at = step % span
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < span - 1 else ProfilerAction.RECORD_AND_SAVE
    return what


class _Event:
    """One ended scope: its name, start and length in microseconds, thread and nested time."""

    def __init__(self, name, start, length, inside, thread):
        self.name = self.key = name
        self.start_us, self.cpu_time_total, self.thread = start, length, thread
        self.self_cpu_time_total, self.count = length - inside, 1

    cpu_time = property(lambda self: self.cpu_time_total / self.count)


class record_function:
    """`with record_function("forward"):` names a scope; as a decorator too. Costs two clock readings outside of a profile."""

    def __init__(self, name, args=None):
        self.name = name

    def __enter__(self):
        if not hasattr(_stack, "open"):
            _stack.open = []
        _stack.open.append([time.perf_counter_ns(), 0])
        return self

    def __exit__(self, *exc):
        start, inside = _stack.open.pop()
        length = time.perf_counter_ns() - start
        if _stack.open:
            _stack.open[-1][1] += length
        for profile_ in _running:
            profile_._note(_Event(self.name, start / 1e3, length / 1e3, inside / 1e3, threading.get_ident()))

    def __call__(self, fn):
        import functools

        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            with record_function(self.name):
                return fn(*args, **kwargs)
        return wrapped


class EventList(list):
    """Events, with a table and totals."""

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        """One event per name, times added up."""
        found: dict = {}
        for e in self:
            if e.name not in found:
                found[e.name] = _Event(e.name, e.start_us, 0, 0, e.thread)
                found[e.name].count = found[e.name].self_cpu_time_total = 0
            total = found[e.name]
            total.cpu_time_total += e.cpu_time_total
            total.self_cpu_time_total += e.self_cpu_time_total
            total.count += 1
        return EventList(found.values())

    def total_average(self):
        total = _Event("Total", 0, 0, 0, 0)
        total.count = 0
        for e in self:
            total.self_cpu_time_total += e.self_cpu_time_total
            total.cpu_time_total += e.cpu_time_total
            total.count += e.count
        return total

    @property
    def self_cpu_time_total(self):
        return sum(e.self_cpu_time_total for e in self)

    def table(self, sort_by=None, row_limit=100, **options):
        """The events as text, by time or count."""
        key = {"count": "count", "self_cpu_time_total": "self_cpu_time_total"}.get(sort_by, "cpu_time_total")
        events = sorted(self, key=lambda e: -getattr(e, key)) if sort_by else list(self)
        rows = [("Name", "Self CPU", "CPU total", "CPU time avg", "# of Calls")]
        rows += [(e.name, _time(e.self_cpu_time_total), _time(e.cpu_time_total), _time(e.cpu_time), str(e.count))
                 for e in events[:row_limit if row_limit >= 0 else None]]
        widths = [max(len(r[k]) for r in rows) for k in range(5)]
        rule = "  ".join("-" * w for w in widths)
        lines = ["  ".join(c.rjust(w) for c, w in zip(r, widths)) for r in rows]
        return "\n".join([rule, lines[0], rule, *lines[1:], rule,
                          f"Self CPU time total: {_time(self.self_cpu_time_total)}", ""])


def _time(us):
    return f"{us / 1e6:.3f}s" if us >= 1e6 else f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


class profile:
    """Gathers the scopes inside. With a `schedule`, call `step()` once a step; on_trace_ready(self) runs when a span ends."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False, experimental_config=None, **options):
        self._schedule, self._ready, self.step_num = schedule, on_trace_ready, 0
        self._events, self._action, self._metadata = EventList(), ProfilerAction.RECORD, {}
        self.profiler = self

    def _note(self, event):
        if self._action in _RECORDING:
            self._events.append(event)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()

    def start(self):
        self._action = self._schedule(0) if self._schedule else ProfilerAction.RECORD
        _running.append(self)
        self._scope = record_function(f"ProfilerStep#{self.step_num}") if self._schedule else None
        if self._scope:
            self._scope.__enter__()

    def stop(self):
        if self._scope:
            self._scope.__exit__()
        _running.remove(self)
        if self._ready and self._action in _RECORDING:
            self._ready(self)

    def step(self):
        """The next step begins."""
        if self._schedule is None:
            self.step_num += 1
            return
        self._scope.__exit__()
        before, self.step_num = self._action, self.step_num + 1
        if before is ProfilerAction.RECORD_AND_SAVE and self._ready:
            self._ready(self)
        self._action = self._schedule(self.step_num)
        if self._action in _RECORDING and before is not ProfilerAction.RECORD:
            self._events = EventList()  # a span begins; until then the last one's can be read
        self._scope = record_function(f"ProfilerStep#{self.step_num}")
        self._scope.__enter__()

    def events(self):
        return self._events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        return self._events.key_averages()

    def table(self, **options):
        return self._events.table(**options)

    def add_metadata(self, key, value):
        self._metadata[key] = value

    add_metadata_json = add_metadata

    def export_chrome_trace(self, path):
        """Writes the scopes in the format of chrome://tracing."""
        events = [dict(ph="X", cat="user_annotation", name=e.name, pid=0, tid=e.thread, ts=e.start_us, dur=e.cpu_time_total)
                  for e in self._events]
        with open(path, "w") as file:
            json.dump({"traceEvents": events, **self._metadata}, file)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        raise NotImplementedError("profile.export_stacks: weir records no stacks")


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False, use_python_export=False):
    """A function for on_trace_ready that writes a trace file into a folder."""
    import os
    import socket

    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json"))
    return handler


def kineto_available():
    return False


_KinetoProfile = profile


class ExecutionTraceObserver:
    """NotImplementedError: ops are not recorded."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("ExecutionTraceObserver: weir records no ops yet")


class _ITT:
    @staticmethod
    def is_available():
        return False


itt = _ITT()


def __getattr__(name):
    if name == "profiler":
        import sys
        return sys.modules[__name__]
    raise AttributeError(f"module 'weir.profiler' has no attribute '{name}'")

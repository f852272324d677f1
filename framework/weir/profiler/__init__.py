"""Wall times of ops and scopes: `profile` and `record_function`. Source: torch.profiler.

A profile gathers the ops that are called inside it, on every thread, backward included, and the scopes of `record_function` that
end inside it. Its table and its trace hold these, with measured times; an op that is composed of others holds them.
"""
import enum
import gzip
import json
import threading
import time

from _weir import _record_ops, _recorded_ops

_running: list = []


def _collect():
    """Gives the ops that ended since the last time to all profiles that run."""
    ops = [_Event(f"aten::{name}", begin / 1e3, length / 1e3, thread, shapes) for name, begin, length, thread, shapes in _recorded_ops()]
    for profile_ in _running:
        profile_._note(*ops)


def _watch():
    """Ops are recorded while a profile runs that wants them now."""
    wanted = [p for p in _running if p._action in _RECORDING]
    _record_ops(bool(wanted), any(p._shapes for p in wanted))


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
    """An ended scope or op: its name, start and length in microseconds, thread and the shapes of an op's inputs."""

    def __init__(self, name, start, length, thread, input_shapes=()):
        self.name = self.key = name
        self.start_us, self.cpu_time_total, self.thread = start, length, thread
        self.self_cpu_time_total, self.count, self.input_shapes = length, 1, [list(s) for s in input_shapes]

    cpu_time = property(lambda self: self.cpu_time_total / self.count)


def _nested(events):
    """Each event, from the first to begin on, with the one directly around it on its thread, or None."""
    open_ = {}
    for e in sorted(events, key=lambda e: (e.start_us, -e.cpu_time_total)):
        around = open_.setdefault(e.thread, [])
        while around and around[-1].start_us + around[-1].cpu_time_total <= e.start_us:
            around.pop()
        yield e, around[-1] if around else None
        around.append(e)


def _subtract_parts(events):
    """Leaves each event the time of its own: without that of the events directly inside it on the same thread."""
    for e, around in _nested(events):
        e.self_cpu_time_total = e.cpu_time_total
        if around:
            around.self_cpu_time_total -= e.cpu_time_total


class record_function:
    """`with record_function("forward"):` names a scope; as a decorator too. Costs two clock readings outside of a profile."""

    def __init__(self, name, args=None):
        self.name = name

    def __enter__(self):
        self._start = time.perf_counter_ns()
        return self

    def __exit__(self, *exc):
        length = time.perf_counter_ns() - self._start
        for profile_ in _running:
            profile_._note(_Event(self.name, self._start / 1e3, length / 1e3, threading.get_ident()))

    def __call__(self, fn):
        import functools

        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            with record_function(self.name):
                return fn(*args, **kwargs)
        return wrapped


class EventList(list):
    """Events, with a table and totals."""

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, group_by_overload_name=False):
        """One event per name, or per name and shapes, times added up. Events know neither stacks nor names of overloads."""
        found: dict = {}
        for e in self:
            key = (e.name, str(e.input_shapes) if group_by_input_shapes else None)
            if key not in found:
                found[key] = _Event(e.name, e.start_us, 0, e.thread, e.input_shapes if group_by_input_shapes else ())
                found[key].count = found[key].self_cpu_time_total = 0
            total = found[key]
            total.cpu_time_total += e.cpu_time_total
            total.self_cpu_time_total += e.self_cpu_time_total
            total.count += 1
        return EventList(found.values())

    def total_average(self):
        total = _Event("Total", 0, 0, 0)
        total.count = 0
        for e in self:
            total.self_cpu_time_total += e.self_cpu_time_total
            total.cpu_time_total += e.cpu_time_total
            total.count += e.count
        return total

    @property
    def self_cpu_time_total(self):
        return sum(e.self_cpu_time_total for e in self)

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None,
              top_level_events_only=False, time_unit=None):
        """The events as text, the largest of `sort_by` first (an attribute of theirs; AttributeError for others), `row_limit` of them, all if it is
        negative. Names and shapes are cut at their widths, None for none; times are in `time_unit` ("s", "ms", "us"), else in what suits each."""
        events = [e for e, around in _nested(self) if not around] if top_level_events_only else list(self)
        if not events:
            return ""
        if sort_by is not None:
            key = sort_by.replace("cuda", "device").replace("xpu", "device")
            unmeasured = key.startswith(("device_", "self_device_")) or key.endswith("memory_usage")  # of no event
            events.sort(key=lambda e: 0 if unmeasured else getattr(e, key), reverse=True)
        whole = self.self_cpu_time_total or 1
        shapes = any(e.input_shapes for e in events)
        rows = [("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls", *["Input Shapes"] * shapes)]
        rows += [(_cut(e.name, max_name_column_width), f"{e.self_cpu_time_total / whole:.2%}", _time(e.self_cpu_time_total, time_unit),
                  f"{e.cpu_time_total / whole:.2%}", _time(e.cpu_time_total, time_unit), _time(e.cpu_time, time_unit), str(e.count),
                  *[_cut(str(e.input_shapes), max_shapes_column_width)] * shapes) for e in events[:row_limit if row_limit >= 0 else None]]
        widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
        rule = "  ".join("-" * w for w in widths)
        lines = ["  ".join(c.rjust(w) for c, w in zip(r, widths)) for r in rows]
        above = ["=" * len(rule), header] if header is not None else []
        return "\n".join([*above, rule, lines[0], rule, *lines[1:], rule,
                          f"Self CPU time total: {_time(self.self_cpu_time_total, time_unit)}", ""])


def _cut(text, width):
    return text if width is None or len(text) < width else text[:width - 3] + "..."


def _time(us, unit=None):
    unit = unit or ("s" if us >= 1e6 else "ms" if us >= 1e3 else "us")
    return f"{us / {'s': 1e6, 'ms': 1e3, 'us': 1}[unit]:.3f}{unit}"


class profile:
    """Gathers the scopes inside. With a `schedule`, call `step()` once a step; on_trace_ready(self) runs when a span ends."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False, experimental_config=None, **options):
        self._schedule, self._ready, self.step_num = schedule, on_trace_ready, 0
        self._events, self._action, self._metadata, self._shapes = EventList(), ProfilerAction.RECORD, {}, record_shapes
        self.profiler = self

    def _note(self, *events):
        if self._action in _RECORDING:
            self._events.extend(events)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()

    def start(self):
        self._action = self._schedule(0) if self._schedule else ProfilerAction.RECORD
        _collect()  # for others: what ended before is not ours
        _running.append(self)
        _watch()
        self._scope = record_function(f"ProfilerStep#{self.step_num}") if self._schedule else None
        if self._scope:
            self._scope.__enter__()

    def stop(self):
        if self._scope:
            self._scope.__exit__()
        _collect()
        _running.remove(self)
        _watch()
        _subtract_parts(self._events)
        if self._ready and self._action in _RECORDING:
            self._ready(self)

    def step(self):
        """The next step begins."""
        if self._schedule is None:
            self.step_num += 1
            return
        self._scope.__exit__()
        _collect()
        _subtract_parts(self._events)
        before, self.step_num = self._action, self.step_num + 1
        if before is ProfilerAction.RECORD_AND_SAVE and self._ready:
            self._ready(self)
        self._action = self._schedule(self.step_num)
        if self._action in _RECORDING and before is not ProfilerAction.RECORD:
            self._events = EventList()  # a span begins; until then the last one's can be read
        _watch()
        self._scope = record_function(f"ProfilerStep#{self.step_num}")
        self._scope.__enter__()

    def events(self):
        return self._events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        return self._events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None,
              top_level_events_only=False):
        return self._events.table(sort_by, row_limit, max_src_column_width, max_name_column_width, max_shapes_column_width, header, top_level_events_only)

    def add_metadata(self, key, value):
        self._metadata[key] = value

    add_metadata_json = add_metadata

    def export_chrome_trace(self, path, use_python_export=False):
        """Writes ops and scopes in the format of chrome://tracing, compressed if the path ends in .gz. There is one way to: `use_python_export` changes nothing."""
        events = [dict(ph="X", cat="cpu_op" if e.name.startswith("aten::") else "user_annotation", name=e.name, pid=0, tid=e.thread,
                       ts=e.start_us, dur=e.cpu_time_total, **({"args": {"Input Dims": e.input_shapes}} if e.input_shapes else {}))
                  for e in self._events]
        with gzip.open(path, "wt") if str(path).endswith(".gz") else open(path, "w") as file:
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
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json" + ".gz" * use_gzip), use_python_export)
    return handler


def kineto_available():
    return False


_KinetoProfile = profile
PROFILER_STEP_NAME = "ProfilerStep"  # what a step of a schedule is called in PyTorch's traces


def _default_schedule_fn(_):
    """What a profile without a schedule does in each step."""
    return ProfilerAction.RECORD


class _ExperimentalConfig:
    """Settings of PyTorch's recorder, kept for programs; what they would add to a trace is not there. NotImplementedError for counters of devices."""

    def __init__(self, profiler_metrics=(), profiler_measure_per_kernel=False, verbose=False, performance_events=(), enable_cuda_sync_events=False,
                 adjust_profiler_step=False, disable_external_correlation=False, profile_all_threads=False, capture_overload_names=False,
                 record_python_gc_info=False, expose_kineto_event_metadata=False, custom_profiler_config="", adjust_timestamps=False,
                 trace_only=False):
        if profiler_metrics or performance_events:
            raise NotImplementedError("_ExperimentalConfig: weir reads no counters of devices")
        self.custom_profiler_config, self.trace_only = custom_profiler_config, trace_only


class ExecutionTraceObserver:
    """NotImplementedError: the graph of ops and tensors is not recorded."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("ExecutionTraceObserver: weir records no graph of ops and tensors")


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

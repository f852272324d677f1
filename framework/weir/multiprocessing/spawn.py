"""Starting processes and waiting for all of them. Source: torch.multiprocessing.spawn."""
import multiprocessing
import multiprocessing.connection
import pickle
import signal
import sys
import tempfile
import os
import traceback


class ProcessException(Exception):
    """A process ended with an error."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process raised an exception."""


class ProcessExitedException(ProcessException):
    """A process was killed or left by itself."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _wrap(fn, i, args, error_file):
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """The processes of one start."""

    def __init__(self, processes, error_files):
        self.processes, self.error_files = processes, error_files
        self.sentinels = {p.sentinel: i for i, p in enumerate(processes)}

    def pids(self):
        return [p.pid for p in self.processes]

    def join(self, timeout=None, grace_period=None):
        """True when all have ended. When one failed, ends the others and raises what it raised."""
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(list(self.sentinels), timeout=timeout)
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)
            process = self.processes[index]
            process.join()
            if process.exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        process = self.processes[failed]
        if os.path.getsize(self.error_files[failed]) == 0:
            if process.exitcode < 0:
                name = signal.Signals(-process.exitcode).name
                raise ProcessExitedException(f"process {failed} terminated with signal {name}", failed, process.pid,
                                             process.exitcode, name)
            raise ProcessExitedException(f"process {failed} terminated with exit code {process.exitcode}", failed, process.pid,
                                         process.exitcode)
        with open(self.error_files[failed], "rb") as file:
            text = pickle.load(file)
        raise ProcessRaisedException(f"\n\n-- Process {failed} terminated with the following error:\n{text}", failed, process.pid)


SpawnContext = ProcessContext


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """fn(i, *args) in nprocs processes."""
    context = multiprocessing.get_context(start_method)
    processes, files = [], []
    for i in range(nprocs):
        file = tempfile.NamedTemporaryFile(prefix="weir-errorfile-", delete=False)
        file.close()
        files.append(file.name)
        process = context.Process(target=_wrap, args=(fn, i, args, file.name), daemon=daemon)
        process.start()
        processes.append(process)
    running = ProcessContext(processes, files)
    if not join:
        return running
    try:
        while not running.join():
            pass
    finally:
        for name in files:
            os.unlink(name)
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """fn(i, *args) in nprocs new processes. Waits for them, and raises what one raised, unless `join` is False."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)

"""A lock between processes: who makes a file holds it."""
import os
import time
import warnings


class FileBaton:
    """The lock of one file. `wait` looks every wait_seconds, and warns once when warn_after_seconds have passed."""

    def __init__(self, lock_file_path, wait_seconds=0.1, warn_after_seconds=None):
        self.lock_file_path, self.wait_seconds, self.warn_after_seconds = lock_file_path, wait_seconds, warn_after_seconds
        self.fd = None

    def try_acquire(self):
        """True when this call made the file, which nobody else had."""
        try:
            self.fd = os.open(self.lock_file_path, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return False
        return True

    def wait(self):
        """Returns when the file is gone."""
        due = None if self.warn_after_seconds is None else time.time() + self.warn_after_seconds
        while os.path.exists(self.lock_file_path):
            time.sleep(self.wait_seconds)
            if due is not None and time.time() > due:
                warnings.warn(f'Waited on lock file "{self.lock_file_path}" for {self.warn_after_seconds} seconds.', stacklevel=2)
                due = None

    def release(self):
        """Removes the file. FileNotFoundError when it is not there."""
        if self.fd is not None:
            os.close(self.fd)
        os.remove(self.lock_file_path)

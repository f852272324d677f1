"""Files that are replaced as a whole: at every moment the path holds the old content or the new one, whatever happens."""

import contextlib
import os
import stat
import tempfile


@contextlib.contextmanager
def replacing(path):
    """A binary file to write; on leaving without an error it takes the place of `path`, which was untouched until then.

    The content reaches the disk before the name does (fsync, rename, fsync of the folder), so that neither a killed
    process nor a full disk loses the old file. Devices and pipes are written directly: they cannot be replaced.
    """
    path = os.path.realpath(os.fspath(path))
    known = os.stat(path) if os.path.exists(path) else None
    if known and not stat.S_ISREG(known.st_mode):
        with open(path, "wb") as file:
            yield file
        return
    folder, name = os.path.split(path)
    descriptor, draft = tempfile.mkstemp(prefix=f".{name[:100]}.", suffix=".part", dir=folder)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(file.fileno(), stat.S_IMODE(known.st_mode) if known else 0o666 & ~_umask())
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    _sync_folder(folder)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder):
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # a folder that may be written but not read: the rename is as durable as its file system makes it
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

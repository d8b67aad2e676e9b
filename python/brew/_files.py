"""Atomic writes of files, like support/AtomicFile.h."""
import contextlib
import errno
import itertools
import os
import shutil
import stat
import tempfile

_numbers = itertools.count()


def _create_beside(path):
    """Creates a temporary file in the folder of ``path``, with default permissions."""
    for _ in range(100):  # an earlier process with this pid may have left a file
        name = "%s.tmp-%d-%d" % (path, os.getpid(), next(_numbers))
        try:
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
            return name
        except FileExistsError:
            continue
        except OSError as failure:
            raise type(failure)(failure.errno, failure.strerror, path) from None
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)


def _sync(path, flags=0):
    """Flushes a file or folder to the device, if the file system supports it."""
    with contextlib.suppress(PermissionError):  # the folder may be writable but not readable
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
        try:
            os.fsync(handle)
        except OSError as failure:
            if failure.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
                raise
        finally:
            os.close(handle)


@contextlib.contextmanager
def atomic(path):
    """Context manager that returns a temporary name; on success, the file of that name replaces ``path``.

    Follows symbolic links. A pipe or device cannot be replaced, so the complete content is
    copied to it. Raises OSError."""
    path = os.fspath(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None  # a new file or a dangling link
    if mode is not None and not stat.S_ISREG(mode):
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "content")
            yield name
            with open(name, "rb") as content, open(path, "wb") as out:
                shutil.copyfileobj(content, out)
        return
    if mode is not None:
        path = os.path.realpath(path)
    name = _create_beside(path)
    try:
        yield name
        _sync(name)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync(os.path.dirname(path) or ".", os.O_DIRECTORY)


def probe(path):
    """Raises OSError if no file can be created beside ``path``. For checks before long computations."""
    os.unlink(_create_beside(os.fspath(path)))


def write_bytes(path, data):
    """Writes bytes to a file."""
    with atomic(path) as name:
        with open(name, "wb") as out:
            out.write(data)

"""Files that appear whole or not at all, as the libraries write them (support/AtomicFile.h)."""
import contextlib
import errno
import itertools
import os
import shutil
import stat
import tempfile

_numbers = itertools.count()


def _create_beside(path):
    """A new file in ``path``'s folder, with the permissions of one that was written there."""
    for _ in range(100):  # a name of an earlier process with this pid may linger
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
    """Flushes a file or folder to the device, where its file system can."""
    with contextlib.suppress(PermissionError):  # a folder one may write to but not read
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
    """A name to write to; what it holds takes ``path``'s place when all went well.

    A symbolic link is written through. A pipe or device cannot be replaced, so it is written
    to when all is there. Raises OSError."""
    path = os.fspath(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None  # a new one, or what a link leads to that is not there
    if mode is not None and not stat.S_ISREG(mode):
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "whole")
            yield name
            with open(name, "rb") as whole, open(path, "wb") as out:
                shutil.copyfileobj(whole, out)
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
    """Raises OSError where a file of this name, which is not there, could not be written: before what takes long."""
    os.unlink(_create_beside(os.fspath(path)))


def write_bytes(path, data):
    """Writes bytes to a file."""
    with atomic(path) as name:
        with open(name, "wb") as out:
            out.write(data)

"""Files that appear whole or not at all."""
import contextlib
import os
import tempfile


@contextlib.contextmanager
def atomic(path):
    """A name beside ``path`` to write to; it takes ``path``'s place when all went well."""
    path = os.fspath(path)
    folder = os.path.dirname(path) or "."
    handle, name = tempfile.mkstemp(prefix="." + os.path.basename(path) + ".", dir=folder)
    os.close(handle)
    try:
        yield name
        with open(name, "rb") as written:
            os.fsync(written.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def write_bytes(path, data):
    """Writes bytes to a file."""
    with atomic(path) as name:
        with open(name, "wb") as out:
            out.write(data)

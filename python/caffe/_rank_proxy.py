"""A process that mpirun starts as the proxy of an existing rank: ``_rank_proxy.py FOLDER``.

It sends its environment from mpirun to the rank, which joins in its place, and exits when the
rank does, so that mpirun notices ranks that died and ends all of them.
The process runs this file by its path, without the package."""
import json
import os
import socket
import sys

# Timeout in seconds for the rank to connect.
_CONNECT_TIMEOUT = 600
# Message of a rank before a regular exit.
DONE = b"done"


def main(folder):
    rank = os.environ["OMPI_COMM_WORLD_RANK"]
    path = os.path.join(folder, rank)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.settimeout(_CONNECT_TIMEOUT)
        listener.bind(path + ".new")
        listener.listen(1)
        os.rename(path + ".new", path)  # atomically, once it accepts connections
        try:
            channel = listener.accept()[0]
        except socket.timeout:
            return "rank %s did not connect within %d s" % (rank, _CONNECT_TIMEOUT)
        finally:
            os.unlink(path)
    channel.settimeout(None)
    launcher_environment = {name: value for name, value in os.environ.items()
                            if name.startswith(("OMPI_", "PMIX_", "ORTE_"))}
    channel.sendall(json.dumps(launcher_environment).encode() + b"\n")
    try:
        message = channel.recv(len(DONE), socket.MSG_WAITALL)
    except OSError:
        message = b""
    return None if message == DONE else "rank %s has ended, which ends the others" % rank


if __name__ == "__main__":
    failure = main(sys.argv[1])
    if failure:
        sys.stderr.write(failure + "\n")
        sys.exit(3)

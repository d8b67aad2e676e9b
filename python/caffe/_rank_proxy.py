"""What mpirun starts for each rank that is a process of its own already: ``_rank_proxy.py FOLDER``.

It hands the environment that mpirun has given it to the rank, which joins with that in its place,
and ends when the rank does: so mpirun learns of ranks that are gone, and ends all of them.
Run by its path, without the package."""
import json
import os
import socket
import sys

# Seconds in which the rank has to come.
_PATIENCE = 600
# What a rank says before it leaves in order.
DONE = b"done"


def main(folder):
    rank = os.environ["OMPI_COMM_WORLD_RANK"]
    path = os.path.join(folder, rank)
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(_PATIENCE)
        door.bind(path + ".new")
        door.listen(1)
        os.rename(path + ".new", path)  # it is there when it can be spoken to
        try:
            channel = door.accept()[0]
        except socket.timeout:
            return "rank %s has not come for %d s" % (rank, _PATIENCE)
        finally:
            os.unlink(path)
    channel.settimeout(None)
    given = {name: value for name, value in os.environ.items() if name.startswith(("OMPI_", "PMIX_", "ORTE_"))}
    channel.sendall(json.dumps(given).encode() + b"\n")
    try:
        said = channel.recv(len(DONE), socket.MSG_WAITALL)
    except OSError:
        said = b""
    return None if said == DONE else "rank %s has ended, and so do the others" % rank


if __name__ == "__main__":
    failure = main(sys.argv[1])
    if failure:
        sys.stderr.write(failure + "\n")
        sys.exit(3)

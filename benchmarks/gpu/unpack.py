"""Unpacks a package with tar, or with Python's tarfile if xz is missing."""

import shutil
import subprocess
import tarfile


def unpack(archive, folder):
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.which("tar") and shutil.which("xz"):
        subprocess.run(["tar", "xf", str(archive), "-C", str(folder)],
                       check=True)
        return
    with tarfile.open(archive, "r:xz") as file:
        file.extractall(folder)

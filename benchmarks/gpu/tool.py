"""Packs brew-run with its libraries, and tests that they suffice.

The GPU machine has a C library, NVIDIA's driver and NVIDIA's wheels. All other libraries are
packed in lib/brew-run, where brew-run's RPATH finds them.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The C library of the GPU machine is used. A copy (lib/system) is for machines whose C library
# is older than this machine's.
SYSTEM = re.compile(r"^(ld-linux|libc\.|libm\.|libpthread\.|libdl\.|librt\.)")
# NVIDIA's libraries, which the GPU machine has.
NVIDIA = re.compile(r"^lib(cuda|cudnn|cublas|cublasLt|nccl)\.so")
ELF = b"\x7fELF"
PROGRAM = "/gpu-check/bin/brew-run"  # in a root folder with a package


class ToolError(Exception):
    """The tool would not start on the GPU machine."""


def copy_tool(package, binaries):
    """Copies brew-run, its libraries and a brewc that returns compiled plans to `package`.
    Raises ToolError for libraries that would be missing on the GPU machine."""
    (package / "bin").mkdir()
    libraries, system = (package / "lib" / name for name in ("brew-run", "system"))
    for folder in (libraries, system):
        folder.mkdir(parents=True)
    tool = binaries / "brew-run"
    shutil.copy(tool, package / "bin")
    shutil.copy(HERE / "plan_store.py", package / "bin" / "brewc")
    (package / "bin" / "brewc").chmod(0o755)
    for path in libraries_of(tool):
        shutil.copy(path, (system if SYSTEM.match(path.name) else libraries)
                    / path.name)
    set_rpath(package / "bin" / "brew-run", "$ORIGIN/../lib/brew-run")
    for path in elf_files(libraries):
        set_rpath(path, "$ORIGIN")
    require_closed(package)


def libraries_of(tool):
    """Returns the shared libraries that the loader maps for `tool` on this machine."""
    listed = subprocess.run(["ldd", str(tool)], capture_output=True, text=True,
                            check=True).stdout
    if "not found" in listed:
        raise ToolError("{} does not start here:\n{}".format(tool, listed))
    return [Path(match.group(1)) for match in
            re.finditer(r"^\s*(?:\S+ => )?(/\S+)", listed, re.MULTILINE)]


def dynamic_entries(path):
    """Returns the NEEDED, RPATH and RUNPATH entries of an ELF file as (tag, value)."""
    text = subprocess.run(["readelf", "--dynamic", "--wide", str(path)],
                          capture_output=True, text=True, check=True).stdout
    return re.findall(r"\((NEEDED|RPATH|RUNPATH)\).*\[(.*)\]", text)


def set_rpath(path, rpath):
    """Replaces the RPATH of an ELF file, if it has one, by a shorter one, because the RPATH of
    libraries that were built here names folders of this machine."""
    for tag, value in dynamic_entries(path):
        if tag != "RPATH" or value == rpath:
            continue
        old_entry, data = value.encode() + b"\0", path.read_bytes()
        if len(rpath) > len(value) or data.count(old_entry) != 1:
            raise ToolError("the RPATH of {} ({}) cannot be replaced".format(path.name,
                                                                           value))
        path.write_bytes(data.replace(old_entry, rpath.encode().ljust(len(old_entry), b"\0")))


def elf_files(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as file:
                if file.read(4) == ELF:
                    yield path


def require_closed(package):
    """Raises ToolError if a packed ELF file has a RUNPATH, which disables brew-run's RPATH for
    its dependencies, or needs a library that is neither packed nor on the GPU machine."""
    files = [path for folder in ("bin", "lib") for path in elf_files(package / folder)]
    packed = {path.name for path in files}
    for path in files:
        for tag, value in dynamic_entries(path):
            if tag == "RUNPATH" and not SYSTEM.match(path.name):
                raise ToolError("{} has a RUNPATH ({}): link it with "
                                "--disable-new-dtags".format(path.name, value))
            if tag == "RPATH" and not value.startswith("$ORIGIN"):
                raise ToolError("{} has the RPATH {}".format(path.name, value))
            if tag == "NEEDED" and value not in packed and not (
                    SYSTEM.match(value) or NVIDIA.match(value)):
                raise ToolError("{} needs {}, which is not packed".format(path.name,
                                                                          value))


def make_root(root, package):
    """Creates a root folder that contains only `package` and the C library."""
    shutil.copytree(package, root / "gpu-check", symlinks=True)
    for folder in ("lib64", "lib/x86_64-linux-gnu"):
        (root / folder).mkdir(parents=True)
        for path in (package / "lib" / "system").iterdir():
            shutil.copy(path, root / folder)
    (root / "tmp").mkdir()


def isolated(root):
    """Returns the beginning of a command that runs a program with `root` as its root folder,
    or None if that is not permitted."""
    (root / "proc").mkdir(exist_ok=True)  # the loader needs it to resolve $ORIGIN
    namespace = ["--mount", "--pid", "--fork", "--mount-proc=" + str(root / "proc"),
                 "chroot", str(root)]
    for prefix in (["unshare", *namespace], ["unshare", "--map-root-user", *namespace]):
        if not shutil.which(prefix[0]):
            continue
        completed = subprocess.run(prefix + [PROGRAM, "--version"], capture_output=True,
                                   text=True)
        # Also accepted if the program itself fails, which its loader reports.
        if completed.returncode == 0 or "loading shared libraries" in completed.stderr:
            return prefix
    return None


def try_tool(root, package, commands):
    """Runs each of the `commands` (arguments of brew-run, with paths from the root folder) in
    an isolated root folder. Raises ToolError for the first that fails. Returns a description
    of the isolation."""
    make_root(root, package)
    prefix, program = isolated(root), PROGRAM
    isolation = "in a root folder of its own"
    if prefix is None:
        # Ignores the system's library cache; libraries outside the package are an error.
        system = package / "lib" / "system"
        loader = next(system.glob("ld-linux*"))
        prefix = [str(loader), "--inhibit-cache", "--library-path", str(system)]
        program = str(root) + PROGRAM
        isolation = "by its own loader"
        listed = subprocess.run(prefix + ["--list", program], capture_output=True,
                                text=True).stdout
        outside = [line for line in re.findall(r"=> (/\S+)", listed)
                   if not line.startswith((str(root), str(package)))]
        if outside:
            raise ToolError("found outside the package: " + ", ".join(outside))
    for arguments in commands:
        if program != PROGRAM:
            arguments = [str(root) + word if word.startswith("/") else word
                         for word in arguments]
        # GOMP_SPINCOUNT keeps brew-run from restarting itself, which fails under a loader.
        completed = subprocess.run(prefix + [program, *arguments], capture_output=True, text=True,
                                   env={"PATH": os.environ["PATH"],
                                        "GOMP_SPINCOUNT": "10000"})
        if completed.returncode != 0:
            raise ToolError("brew-run {} fails {}: {}".format(
                " ".join(arguments), isolation,
                (completed.stderr or completed.stdout).strip()[-600:]))
    return isolation

"""Compares the libraries that a shared library is linked with (DT_NEEDED) with a list of
allowed libraries. Fails if it loads OpenCV, directly or indirectly."""
import argparse
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("library")
    parser.add_argument("list")
    args = parser.parse_args()
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of(args.readelf, "-d", args.library))
    if not needed:
        sys.exit(f"{args.readelf} names no library that {args.library} needs")
    allowed = set(open(args.list).read().split())
    errors = [f"{args.library} is linked with {name}, which is not in {args.list}"
              for name in needed if name.split(".so")[0] not in allowed]
    loaded = output_of("ldd", args.library)
    errors += [f"{args.library} loads {name}"
               for name in re.findall(r"^\s*(libopencv\S*)", loaded, flags=re.M)]
    sys.exit("\n".join(errors) or 0)


main()

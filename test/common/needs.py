"""Runs a test that needs files outside the repository; skips it if one is missing.

usage: needs.py PATH... -- COMMAND...

Exits with the status of COMMAND, or with 77 (SKIP_RETURN_CODE) and prints the first missing PATH.
"""
import os
import sys

split = sys.argv.index("--")
for path in sys.argv[1:split]:
    if not os.path.exists(path):
        print(f"skipped: {path} is not there; set BREW_SHARED_DIR to the folder with "
              "recorded nets, models and data sets")
        sys.exit(77)
command = sys.argv[split + 1:]
os.execvp(command[0], command)

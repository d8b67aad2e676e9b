"""Runs a command and fails unless it ends with the given exit status.

usage: status.py STATUS COMMAND...
The command's output passes through."""
import subprocess
import sys

expected, *command = sys.argv[1:]
status = subprocess.run(command, timeout=120).returncode
if status != int(expected):
    sys.exit(f"exit status {status}, expected {expected}: {' '.join(command)}")

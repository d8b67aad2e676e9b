#!/usr/bin/python3
"""Runs the commands of a documentation page and compares their output with the page.

usage: run_docs.py --source REPOSITORY --build BUILD_FOLDER PAGE.md

A code block, indented by four spaces or between lines of ```, is run if its first line begins
with `$ `. Each such line is a command for one bash, which runs the whole page. A here-document
(<<'END') and a line that ends in a backslash continue a command. The lines below a command are its
expected output (standard output and standard error); a command without such lines may print
anything.

The shell starts in an empty folder that looks like the repository after a build: examples/ and
docs/ are links into the repository, and bin/, lib/ and python/ of build/release are links into the
build folder.

Rules of the comparison, by line:
  - `...` alone on a line matches any number of lines, and `...` within a line any text;
  - a number with a decimal point or an exponent on the page matches any number, because times,
    losses and scores differ between machines; all other numbers must be equal;
  - the prefix of a log line (I1121 10:31:19.923533  5353 solver.cpp:351]) matches any prefix of the
    same severity;
  - runs of spaces are equal.

A command must succeed, except if its expected output contains `error:`; then it must fail.
Exit status: 0 if the page is correct, 1 if not, 2 if it contains no command.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

NUMBER = r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+"
ANY_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
LOG_PREFIX = r"\b([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.]+:\d+\]"
TOKENS = re.compile(rf"(?P<any>\.\.\.)|(?P<log>{LOG_PREFIX})|(?P<number>{NUMBER})|(?P<space>\s+)")
MARKER = "run_docs:end-of-command:"


def code_blocks(text):
    """Yields the number of the first line and the lines of each code block, without indentation."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        fence = re.match(r"( *)```", lines[at])
        if fence:
            start = at = at + 1
            while at < len(lines) and not lines[at].lstrip().startswith("```"):
                at += 1
            yield start + 1, [line[len(fence.group(1)):] for line in lines[start:at]]
            at += 1
        elif lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            start = at
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            yield start + 1, "\n".join(line[4:] for line in lines[start:at]).rstrip().split("\n")
        else:
            at += 1


def commands(text):
    """Yields (line number, command, lines of expected output) of a page."""
    for number, lines in code_blocks(text):
        if not lines or not lines[0].startswith("$ "):
            continue
        at = 0
        while at < len(lines):
            start, command = at, [lines[at][2:]]
            at += 1
            while command[-1].endswith("\\") and at < len(lines):
                command.append(lines[at])
                at += 1
            end = re.search(r"<<-?\s*['\"]?(\w+)", command[0])
            if end:
                while at < len(lines) and lines[at] != end.group(1):
                    command.append(lines[at])
                    at += 1
                if at == len(lines):
                    raise ValueError(f"line {number + start}: no line '{end.group(1)}'")
                command.append(lines[at])
                at += 1
            expected = []
            while at < len(lines) and not lines[at].startswith("$ "):
                expected.append(lines[at].rstrip())
                at += 1
            yield number + start, "\n".join(command), expected


def line_pattern(line):
    """Returns a regular expression for the lines that an expected line matches."""
    pattern, at, line = "", 0, line.strip()
    for token in TOKENS.finditer(line):
        pattern += re.escape(line[at:token.start()])
        if token.group("any"):
            pattern += ".*"
        elif token.group("log"):
            pattern += LOG_PREFIX.replace("([IWEF])", token.group("log")[0])
        elif token.group("number"):
            pattern += f"(?:{ANY_NUMBER})"
        else:
            pattern += r"\s+"
        at = token.end()
    return re.compile(pattern + re.escape(line[at:]))


def first_difference(expected, printed):
    """Returns the first expected line that the output lacks, or None if all match.

    Tries every number of lines for each `...`."""
    printed = [line.strip() for line in printed]
    # Positions in the output at which the expected lines so far may end.
    ends = {0}
    for line in expected:
        if line.strip() == "...":
            ends = set(range(min(ends), len(printed) + 1))
            continue
        pattern = line_pattern(line)
        next_ends = {end + 1 for end in ends
                     if end < len(printed) and pattern.fullmatch(printed[end])}
        if not next_ends:
            return line
        ends = next_ends
    return None if len(printed) in ends else "(end of the output)"


def make_repository(folder, source, build):
    """Fills `folder` with links, so that it looks like a repository with its build."""
    release = os.path.join(folder, "build", "release")
    os.makedirs(release)
    for name in ("examples", "docs", "include", "benchmarks"):
        os.symlink(os.path.join(source, name), os.path.join(folder, name))
    for name in ("bin", "lib", "python"):
        if os.path.exists(os.path.join(build, name)):
            os.symlink(os.path.join(build, name), os.path.join(release, name))


class Shell:
    """A bash in which the commands of a page run one after the other."""

    def __init__(self, folder):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("PYTHONPATH", "LD_LIBRARY_PATH", "BASH_ENV")}
        # The interpreter for which the Python packages are built is python3.
        environment.update(PATH="/usr/bin:" + environment["PATH"], LC_ALL="C.UTF-8",
                           PYTHONDONTWRITEBYTECODE="1",
                           XDG_CACHE_HOME=os.path.join(folder, ".cache"))
        self.process = subprocess.Popen(["bash", "--norc"], cwd=folder, env=environment, text=True,
                                        errors="replace", stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.process:
            self.process.stdin.close()

    def run(self, command):
        """Returns the exit status and the lines of the output."""
        # Commands must not read the shell's own input.
        self.process.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n{MARKER}%d\\n' $?\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith(MARKER):
                break
            lines.append(line.rstrip("\n"))
        else:
            return self.process.wait() or 1, lines
        if lines and not lines[-1]:
            lines.pop()  # the line feed before the marker
        return int(line[len(MARKER):]), lines


def check_page(text, name, folder, out=sys.stdout):
    """Runs a page in `folder`. Returns the number of its commands, or None after a failure."""
    count = 0
    with Shell(folder) as shell:
        for number, command, expected in commands(text):
            count += 1
            print(f"$ {command}", file=out, flush=True)
            status, printed = shell.run(command)
            while printed and not printed[-1].strip():
                printed.pop()
            print("\n".join(printed), file=out, flush=True)
            must_fail = any("error:" in line for line in expected)
            if (status != 0) != must_fail:
                print(f"{name}:{number}: the command ended with status {status}", file=out)
                return None
            missing = first_difference(expected, printed) if expected else None
            if missing is not None:
                print(f"{name}:{number}: the output differs from the page at: {missing}", file=out)
                return None
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", required=True, help="the repository")
    parser.add_argument("--build", required=True, help="the build folder, with bin/ and python/")
    parser.add_argument("page")
    options = parser.parse_args()
    with open(options.page, encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        make_repository(folder, os.path.abspath(options.source), os.path.abspath(options.build))
        count = check_page(text, options.page, folder)
    if count is None:
        sys.exit(1)
    if count == 0:
        print(f"{options.page}: no code block begins with '$ '")
        sys.exit(2)
    print(f"{options.page}: {count} commands")


if __name__ == "__main__":
    main()

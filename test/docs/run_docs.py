#!/usr/bin/python3
"""Runs the commands of a documentation page and compares their output with the page.

usage: run_docs.py --source REPOSITORY --build BUILD_FOLDER PAGE.md

A code block, indented by four spaces or between lines of ```, is run if its first line begins
with `$ `. Each such line is a command for one bash, which runs the whole page. A here-document
(<<'END') and a line that ends in a backslash continue a command. The lines below a command are its
expected output (standard output and standard error); a command without such lines may print
anything.

Comments, which readers do not see, prepare and exclude blocks:

    <!-- run                     runs the lines up to --> in the same bash. They must succeed.
    <!-- file: NAME -->          writes the next block to a file, for later commands.
    <!-- not run: REASON -->     excludes the next block: it needs a GPU, a network, minutes, or
                                 files that nobody has.

So that no command is left out by mistake, a block whose first line is a command without `$ ` is an
error, unless it is excluded or a synopsis (a line with a word in CAPITALS or with brackets), and so
is a C or C++ program with a main function that is written to no file.

The shell starts in an empty folder that looks like the repository after a build: docs/, examples/
and others are links into the repository, and bin/, lib/ and python/ of build/release are links into
the build folder. prepare.py makes files that many pages name.

Rules of the comparison, by line:
  - `...` alone on a line matches any number of lines, and `...` within a line any text;
  - a number with a decimal point or an exponent on the page matches any number, because times,
    losses and scores differ between machines; all other numbers must be equal;
  - the prefix of a log line (I1121 10:31:19.923533  5353 solver.cpp:351]) matches any prefix of the
    same severity;
  - runs of spaces are equal.

A command must succeed, except if its expected output contains `error:`; then it must fail.
Exit status: 0 if the page is correct, 1 if not.
"""
import argparse
import dataclasses
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
# The first words of commands.
COMMAND = re.compile(
    r"(?:\w+=\S* )*(?:\S*/)?(?:brewc|brew-run|brew-data|caffe|convert_imageset|compute_image_mean|"
    r"extract_features|python3|pip|cmake|cpack|cc|c\+\+|g\+\+|mpirun|srun|debootstrap|mkdir|cat|cd|"
    r"(?<=scripts/)\w+|(?<=scripts/)gpu-check|(?<=benchmarks/)\S+|(?<=test/install/)\w+)(?=\s|$)")
# Words of a synopsis: CAPITALS, [options] or repeated...
PLACEHOLDER = re.compile(r"(?<![\w./$-])[A-Z][A-Z_]+(?![\w=/.])|\[|\.\.\.")


@dataclasses.dataclass
class Block:
    """A code block, or a comment `<!-- run`."""
    line: int  # number of its first line of content
    lines: list  # without indentation
    comment: str = ""  # `run`, or `file: NAME` or `not run: REASON` of the comment above


def blocks(text):
    """Yields the blocks of a page."""
    lines = text.split("\n")
    at, comment = 0, ""
    while at < len(lines):
        fence = re.match(r"( *)```", lines[at])
        mark = re.fullmatch(r" *<!-- (file: \S+|not run: .+) -->", lines[at])
        if lines[at] == "<!-- run":
            start = at = at + 1
            while at < len(lines) and lines[at] != "-->":
                at += 1
            yield Block(start + 1, lines[start:at], "run")
            at += 1
        elif fence:
            start = at = at + 1
            while at < len(lines) and not lines[at].lstrip().startswith("```"):
                at += 1
            yield Block(start + 1, [line[len(fence.group(1)):] for line in lines[start:at]],
                        comment)
            at, comment = at + 1, ""
        elif lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            start = at
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            # Blocks of a list are indented further.
            indent = len(lines[start]) - len(lines[start].lstrip())
            yield Block(start + 1, "\n".join(
                line[indent:] if not line[:indent].strip() else line.lstrip()
                for line in lines[start:at]).rstrip().split("\n"), comment)
            comment = ""
        else:
            if mark and comment:
                raise ValueError(f"line {at + 1}: two comments for one block")
            comment = mark.group(1) if mark else comment
            if comment and not mark and lines[at].strip():
                raise ValueError(f"line {at + 1}: no block follows the comment '{comment}'")
            at += 1
    if comment:
        raise ValueError(f"no block follows the comment '{comment}'")


def block_commands(block):
    """Yields (line number, command, lines of expected output) of a block of `$ ` lines."""
    number, lines = block.line, block.lines
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
        while expected and not expected[-1]:
            expected.pop()
        yield number + start, "\n".join(command), expected


def commands(text):
    """Yields (line number, command, lines of expected output) of a page, in order."""
    for block in blocks(text):
        content = "\n".join(block.lines)
        if block.comment == "run":
            # After a failure the shell exits, which is an error.
            yield block.line, f"set -e\n{content}\nset +e", []
        elif block.comment.startswith("file: "):
            name = block.comment.removeprefix("file: ")
            yield block.line, f"cat > {name} <<'END-OF-FILE'\n{content}\nEND-OF-FILE", []
        elif not block.comment and block.lines[0].startswith("$ "):
            yield from block_commands(block)


def left_out(text):
    """Yields the line number and first line of each block that is neither run nor excluded."""
    for block in blocks(text):
        first = re.sub(r"\s+#.*", "", block.lines[0])
        is_command = COMMAND.match(first) and not PLACEHOLDER.search(first)
        is_program = re.search(r"^int main\(", "\n".join(block.lines), re.M)
        if not block.comment and (is_command or is_program and not first.startswith("$ ")):
            yield block.line, first


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
    for name in ("examples", "docs", "include", "benchmarks", "test"):
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
    omitted = list(left_out(text))
    for number, line in omitted:
        print(f"{name}:{number}: not run, and no comment says why: {line}", file=out)
    if omitted:
        return None
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
    print(f"{options.page}: {count} commands")


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Writes or checks the tables of options in the documentation, from the tools' own help.

usage: option_tables.py --source REPOSITORY --bin FOLDER [--update]

A page marks the place of a table by two comments:

    <!-- options: brew-run train test -->
    <!-- end of options -->

The table lists the options that all of these commands take; a tool without commands (brewc, caffe)
stands alone. Options that an earlier table lists for a command are left out. Each group
of the help becomes a table of its own, below its name. --update rewrites the tables.

Without --update, each of these is an error:
  - a table that differs from the help of the tool;
  - an option of a tool that no table lists;
  - an option that a page names, but the tool lacks: in `code` or a code block that begins with the
    name of a tool, and alone in `code`, except on pages that name options of other programs.

Exit status: 1 if there is an error.
"""
import argparse
import dataclasses
import glob
import os
import re
import subprocess
import sys

from run_docs import blocks

# The page about each tool.
PAGES = {"brewc": "docs/brewc.md", "brew-run": "docs/brew-run.md",
         "brew-data": "docs/brew-data.md", "caffe": "docs/caffe.md"}
# Pages that also name options of scripts.
OTHER_PROGRAMS = {"docs/monitor.md", "docs/performance.md", "docs/scaling.md"}
# Options of every command, which the pages describe once.
COMMON = {"-h", "--help", "--version", "-help"}
# Parsed outside the tables of options, options of MLIR and brew-opt, and a name in prose.
OTHER = re.compile(r"--completion|--mlir-.*|--brew-.*|--name")
MARKER = re.compile(r"<!-- options: ([\w\s-]+?) -->\n(.*?)<!-- end of options -->\n", re.S)
OPTION = r"--?[A-Za-z][\w-]*"
HELP_COLUMN = 30


@dataclasses.dataclass(frozen=True)
class Option:
    names: tuple  # with dashes
    argument: str  # with its separator, such as " FILE" or "[=FORM]"; empty for flags
    default: str
    meaning: str
    group: str = ""

    def row(self):
        names = ", ".join(f"`{name}`" for name in self.names[:-1])
        last = f"`{self.names[-1]}{self.argument}`".replace("|", "\\|")
        return f"| {names + ', ' if names else ''}{last} | {self.default} | {self.meaning} |"


def markdown(text):
    """Returns a text of the help with its code in backticks and special characters escaped."""
    parts = re.split(rf"(`[^`]*`|(?<![\w'])'[^']+'(?!\w)|(?<![\w`-]){OPTION}(?![\w`])|"
                     r"/?\b\w[\w/.]*_[\w/.]*\w)", text)
    for at, part in enumerate(parts):
        if at % 2:
            parts[at] = "`" + part.strip("`'") + "`"
        else:
            parts[at] = re.sub(r"([*<>_])", r"\\\1", part)
    return "".join(parts).replace("|", "\\|")


def split_default(text):
    """Returns the help without its "(default: VALUE)" or "VALUE (default)", and VALUE."""
    found = re.fullmatch(r"(.*?) \(default:? ([^();]*)(?:; ([^()]*))?\)", text)
    if found:
        return found.group(1) + (f" ({found.group(3)})" if found.group(3) else ""), found.group(2)
    found = re.search(r"(\w+) \(default\)", text)
    return (text.replace(" (default)", ""), found.group(1)) if found else (text, "")


def code(value):
    """Returns a default as code if it is one word."""
    return f"`{value}`" if value and " " not in value else markdown(value)


def brewc_options(text):
    """Returns the options of the help in the form `  --name=<value>  - meaning`."""
    options = []
    for line in text.split("\n"):
        value = re.match(r"    =(\S+)\s+-\s+(.*)", line)
        if value:
            options[-1][3].append(f"`{value.group(1)}` ({markdown(value.group(2))})")
        option = re.match(rf"  ({OPTION})(.*?)\s+- (.*)", line)
        if option:
            argument = re.sub(r"[<>]", "", option.group(2))
            options.append((option.group(1), argument, option.group(3), []))
    result = []
    for name, argument, help_text, values in options:
        meaning, default = split_default(help_text)
        meaning = markdown(meaning) + (": " + ", ".join(values) if values else "")
        result.append(Option((name,), argument, code(default), meaning))
    return result


def cli11_option(left, help_text, group):
    """Returns an option from the left column of the help, such as `--top INT=5`."""
    names, _, rest = left.strip().partition(" ")
    meaning, default = split_default(help_text)
    notes = []
    argument = ""
    optional = re.search(r"\{(.*?)\}", names)
    if optional:
        names = names.replace(optional.group(0), "")
        argument, default = "[=VALUE]", ""
        notes.append(f"without a value `{optional.group(1)}`")
    relation = re.search(r"\b(Needs|Excludes): (.*)", rest)
    if relation:
        rest = rest[:relation.start()]
        verb = "needs" if relation.group(1) == "Needs" else "not with"
        notes.append(f"{verb} " + ", ".join(f"`{name}`" for name in relation.group(2).split()))
    if "REQUIRED" in rest:
        notes.append("required")
    rest = rest.replace("REQUIRED", "").strip().removesuffix(" x 2")
    rest = rest.removesuffix(" ...") + (",..." if rest == "NUMBER ..." else "")
    rest = re.sub(r":\w+ in \[\S+ - \S+\]", "", rest)  # limits of a number
    choices = re.search(r":\{(.*)\}", rest)
    if choices:
        rest = choices.group(1).replace(",", "|")
    if not optional and rest:
        value = re.fullmatch(r"(.*?)=([^A-Z]+)", rest)
        argument = " " + (value.group(1) if value else rest)
        default = value.group(2) if value else default
        argument = re.sub(r"^ (INT|UINT|NUMBER|FLOAT)\b", " N", argument)
    meaning = markdown(meaning)
    if notes:
        meaning += "".join(f"; {note}" for note in notes)
    return Option(tuple(names.split(",")), argument, code(default), meaning, group)


def cli11_options(text):
    """Returns the options of CLI11's help."""
    options, group, left = [], "", ""
    lines = text.split("\n")
    for line, next_line in zip(lines, lines[1:] + [""]):
        heading = re.fullmatch(r"(\S.*):", line)
        if heading:
            group = "" if heading.group(1) == "Options" else heading.group(1)
        elif line.startswith(" " * HELP_COLUMN):
            options.append(cli11_option(left, line.strip(), group))
        elif re.match(r"  -", line):
            # A long option has its text on the next line.
            left = line
            if not next_line.startswith(" " * HELP_COLUMN):
                options.append(cli11_option(line[:HELP_COLUMN], line[HELP_COLUMN:], group))
    return options


def commands_of(text):
    """Returns the commands that CLI11's help of a tool lists."""
    return re.findall(r"^  ([a-z][\w-]*) {2,}", text[text.index("Subcommands:"):], re.M)


class Tools:
    """The options of each command, by "TOOL" or "TOOL COMMAND"."""

    def __init__(self, folder):
        def help_of(*words):
            return subprocess.run([os.path.join(folder, words[0]), *words[1:]], check=True,
                                  capture_output=True, text=True).stdout
        self.options = {"brewc": brewc_options(help_of("brewc", "--help"))}
        caffe = help_of("caffe", "-help")
        self.options["caffe"] = brewc_options(caffe)
        # Names that no table lists.
        self.accepted = set(re.search("^accepted without an effect:(.*)", caffe, re.M)
                            .group(1).split())
        for tool in ("brew-run", "brew-data"):
            for command in commands_of(help_of(tool, "--help")):
                self.options[f"{tool} {command}"] = cli11_options(help_of(tool, command, "--help"))

    def of(self, command):
        return [option for option in self.options[command] if not COMMON & set(option.names)]


def table(commands, tools, listed):
    """Returns the text of a table. Adds its options to `listed`, a dict from command to names."""
    def key(option):
        return option.names, option.argument, option.default, option.meaning
    rows = tools.of(commands[0])
    for command in commands:
        keys = {key(option): option.group for option in tools.of(command)}
        rows = [option if option.group == keys[key(option)] else
                dataclasses.replace(option, group="") for option in rows
                if key(option) in keys
                and not set(option.names) & listed.setdefault(command, set())]
    for command in commands:
        listed[command].update(name for option in rows for name in option.names)
    text = ""
    for group in dict.fromkeys([""] + [option.group for option in rows]):
        group_rows = [option.row() for option in rows if option.group == group]
        if group_rows:
            text += (f"**{group}**\n\n" if group else "") + "| option | default | meaning |\n"
            text += "|---|---|---|\n" + "\n".join(group_rows) + "\n\n"
    return text.rstrip("\n") + "\n" if text else ""


def command_names(words, tools):
    """Returns the keys of `tools` for the words of a marker."""
    tool, *commands = words.split()
    names = [f"{tool} {command}" for command in commands] or [tool]
    for name in names:
        if name not in tools.options:
            raise ValueError(f"'{name}' is no command")
    return names


def with_tables(text, tools, listed):
    """Returns a page with its tables rewritten."""
    def rewrite(marker):
        rows = table(command_names(marker.group(1), tools), tools, listed)
        return f"<!-- options: {marker.group(1)} -->\n{rows}<!-- end of options -->\n"
    return MARKER.sub(rewrite, text)


def unlisted(tools, listed):
    """Yields the options that no table lists."""
    for command in tools.options:
        for option in tools.of(command):
            if not set(option.names) & listed.get(command, set()):
                yield f"{PAGES[command.split()[0]]}: no table lists {option.names[0]} of {command}"


def prose_code(text):
    """Yields the line number and the words of each `code` outside code blocks and tables."""
    in_blocks = {block.line + at for block in blocks(text) for at in range(len(block.lines))}
    prose = "\n".join("" if number in in_blocks else line
                      for number, line in enumerate(text.split("\n"), 1))
    prose = MARKER.sub(lambda marker: "\n" * marker.group(0).count("\n"), prose)
    for span in re.finditer(r"`([^`]+)`", prose):
        yield prose.count("\n", 0, span.start()) + 1, span.group(1).split()


def shell_code(text):
    """Yields the line number and the words of each command line in a code block."""
    for block in blocks(text):
        joined, start = "", 0
        for at, line in enumerate(block.lines):
            start = start if joined else at
            joined += re.sub(r"\s#.*", "", line)
            if joined.endswith("\\"):
                joined = joined[:-1]
                continue
            for command in re.split(r"&&|;|\|", joined.removeprefix("$ ")):
                yield block.line + start, command.split()
            joined = ""


def unknown_options(page, text, tools):
    """Yields the line and text of each option on the page that its tool lacks."""
    known = {}
    for command, options in tools.options.items():
        names = {name for option in options for name in option.names}
        for key in (command, command.split()[0], ""):
            known.setdefault(key, set()).update(names)
    def spelled(name):
        return "--" + name.lstrip("-").replace("_", "-")
    known["caffe"] |= tools.accepted
    known["caffe"] |= {"-no" + name.lstrip("-") for name in known["caffe"]}
    known = {key: {spelled(name) for name in names} for key, names in known.items()}
    for number, words in [*prose_code(text), *shell_code(text)]:
        words = [word for word in words if not re.fullmatch(r"\w+=\S*", word)]
        if not words:
            continue
        tool = words[0]
        if tool not in PAGES:
            # Alone in `code`: an option of any tool.
            if page in OTHER_PROGRAMS or not re.match(r"--\w", tool):
                continue
            key = ""
        else:
            key = " ".join(words[:2]) if " ".join(words[:2]) in known else tool
        for word in words:
            name = re.match(rf"\[?({OPTION})(?=$|[=\[\]{{:])", word)
            if name and not OTHER.fullmatch(name.group(1)):
                short = len(name.group(1).lstrip("-")) == 1
                if not short and spelled(name.group(1)) not in known[key] | {"--help"}:
                    yield number, f"{name.group(1)} is no option of {key or 'the tools'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", required=True, help="the repository")
    parser.add_argument("--bin", required=True, help="the folder of the tools")
    parser.add_argument("--update", action="store_true", help="rewrite the tables")
    options = parser.parse_args()
    tools, listed, found = Tools(options.bin), {}, []
    pages = sorted({"README.md", *(os.path.relpath(path, options.source) for path in glob.glob(
        os.path.join(options.source, "docs/**/*.md"), recursive=True))})
    for page in pages:
        path = os.path.join(options.source, page)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        written = with_tables(text, tools, listed)
        if written != text and options.update:
            with open(path, "w", encoding="utf-8") as file:
                file.write(written)
            print(f"{page}: rewritten")
        elif written != text:
            found.append(f"{page}: a table differs from the tool's help; run this with --update")
        found += [f"{page}:{number}: {problem}"
                  for number, problem in unknown_options(page, written, tools)]
    found += unlisted(tools, listed)
    for problem in found:
        print(problem)
    print(f"{sum(map(len, tools.options.values()))} options, {len(found)} errors")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Finds wording that Brew's comments, messages and docs should not use, and long lines in docs.

usage: check_prose.py SOURCE_FOLDER [FOLDER_OR_FILE...]

Reads comments and string literals of C++ files, comments and docstrings of Python files, TableGen,
CMake and shell files, and Markdown outside code blocks. Prints each finding as
PATH:LINE: advice: text. ALLOWED lists exceptions, such as names and Caffe's own texts.
"""
import io
import os
import re
import subprocess
import sys
import tokenize

COLUMNS = 100

# Pairs of the advice to the author and the pattern of the banned wording.
BANNED = [
    ("say 'again'", r"\banew\b"),
    ("say 'whether ... or'", r"\bbe it\b"),
    ("say 'if there is any'", r"\bwhich there (?:is|are)\b|\bwhere there is one\b"),
    ("say 'after'", r"\bbehind (?:it|them|this|that|each|a (?:convolution|layer|ReLU)|the (?:step|layer))\b"),
    ("name the things", r"^(?:Those|That|These) of\b"
                        r"|\b(?:those|that) of\b[^.;:]*\b(?:those|that|of which)\b[^.;:]* of\b"),
    ("say 'no'", r"(?<![Tt]here )\b(?:is|are|was|were) none (?:of|but|that)\b|\bthat are none\b"),
    ("report, print or emit", r"\b(?:tells|telling)\b|\b(?:is|was|are|were|be) told\b"),
    ("start with a subject", r"^(?:Of (?:a|an|the|one|each|all|its)|Where (?:a|an|the|it|no|nobody|nothing)) "
                             r"|^(?:Likewise|The same)[,.]? (?:of|for|in)?\b.{0,20}$"),
    ("name the thing", r"^What (?:a|an|the|is|it|its|they|one|each|every|all|both|stands|this|that|has|"
                       r"can|may|must|needs|comes|goes|makes|reads|follows|happens|Caffe|Brew|MLIR|LLVM|"
                       r"[a-z]+s) "),
    ("say 'query' or 'request'", r"\b(?:is|are|was|were) asked for\b"),
    ("use the standard term", r"\b(?:joined (?:blob|kernel|launch)|spare place|homeless|carried state)"),
]
PATTERNS = [(advice, re.compile(pattern)) for advice, pattern in BANNED]

# Maps the path of a file to the banned wordings that are allowed in it.
ALLOWED = {
}

SKIPPED = ("test/reference/", "examples/mnist/", "examples/cifar10/", "examples/siamese/",
           "test/prose/", "test/lit/layering/")
CPP = (".cpp", ".h", ".inl", ".c", ".cu")
TABLEGEN = (".td",)
PYTHON = (".py",)
OTHER = (".cmake", "CMakeLists.txt", ".sh")


def cpp_texts(text):
    """Yields the line number and text of each string literal and comment.

    Consecutive comment lines are one text."""
    paragraph, start = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        comment = re.search(r"(?:^|\s)//[/!]?<?\s?(.*)$", line)
        code = line[:comment.start()] if comment else line
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', code):
            yield number, literal
        if comment and not code.strip():
            if not comment.group(1).strip():
                if paragraph:
                    yield start, " ".join(paragraph)
                paragraph = []
                continue
            start = number if not paragraph else start
            paragraph.append(comment.group(1).strip())
        else:
            if paragraph:
                yield start, " ".join(paragraph)
                paragraph = []
            if comment:
                yield number, comment.group(1).strip()
    if paragraph:
        yield start, " ".join(paragraph)


def python_texts(text):
    """Yields the line number and text of each comment and of each line of a string."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string.lstrip("#!- =").strip()
            elif token.type == tokenize.STRING:
                for number, line in enumerate(token.string.split("\n")):
                    yield token.start[0] + number, line.strip().strip("\"'").strip()
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return


def markdown_texts(text):
    in_code_block = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            in_code_block = not in_code_block
        elif not in_code_block and not line.startswith("    "):
            yield number, line.rstrip()


def plain_texts(text):
    for number, line in enumerate(text.split("\n"), 1):
        yield number, line.strip().lstrip("#").strip()


def find_violations(path, text):
    """Yields the line number, the advice and the text of each violation in a file."""
    name = os.path.basename(path)
    if name.endswith(".md"):
        texts = markdown_texts(text)
        tables = {line.strip() for line in text.split("\n") if line.startswith("|")}
        for number, line in markdown_texts(text):
            if len(line) > COLUMNS and "](http" not in line and line.strip() not in tables:
                yield number, f"over {COLUMNS} columns", line
    elif name.endswith(CPP):
        texts = cpp_texts(text)
    elif name.endswith(PYTHON):
        texts = python_texts(text)
    elif name.endswith(TABLEGEN) or name.endswith(OTHER):
        texts = plain_texts(text)
    else:
        return
    for number, content in texts:
        content = content.lstrip("#*->| ").strip() if name.endswith(".md") else content
        sentences = [content] + re.split(r"(?<=[.:;!?]) +", content)[1:]
        for advice, pattern in PATTERNS:
            for sentence in sentences if pattern.pattern.startswith("^") else [content]:
                match = pattern.search(sentence)
                if match and match.group(0).strip() not in ALLOWED.get(path, ()):
                    yield number, advice, sentence
                    break


def main():
    source = sys.argv[1]
    ls_files = subprocess.run(["git", "-C", source, "ls-files"] + sys.argv[2:], capture_output=True,
                            text=True)
    if ls_files.returncode:
        print(f"skipped: {source} is not a git repository")
        sys.exit(77)
    finding_count = file_count = 0
    for path in ls_files.stdout.splitlines():
        full_path = os.path.join(source, path)
        if path.startswith(SKIPPED) or not os.path.isfile(full_path) or os.path.islink(full_path):
            continue
        try:
            text = open(full_path, encoding="utf-8").read()
        except UnicodeDecodeError:
            continue
        file_count += 1
        for number, advice, content in find_violations(path, text):
            print(f"{path}:{number}: {advice}: {content[:120]}")
            finding_count += 1
    if finding_count or not file_count:
        sys.exit(f"{finding_count} findings in {file_count} files")
    print(f"no findings in {file_count} files")


main()

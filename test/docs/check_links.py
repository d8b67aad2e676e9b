#!/usr/bin/python3
"""Checks the links of all Markdown pages, and the pages that other files name.

usage: check_links.py REPOSITORY

Every relative link must lead to a file or folder of the repository, and its anchor to a heading of
that page. Every docs/NAME.md that source files, scripts and messages name must exist. Every page of
docs/ must be listed in docs/README.md, and every folder of examples/ in examples/README.md. Prints
each problem as PATH:LINE: text. Exit status: 1 if there is any, 77 outside a git repository.
"""
import os
import re
import subprocess
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
PAGE = re.compile(r"(?<![\w./-])docs/[\w/-]+\.md\b")
# Not in this repository, or texts of others.
SKIPPED = ("test/reference/", "test/fuzz/corpus/", "test/docs/")


def text_lines(text):
    """Yields the number and text of each line outside code blocks, without `code`."""
    in_code_block = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            in_code_block = not in_code_block
        elif not in_code_block and not line.startswith("    "):
            yield number, line


def anchors(text):
    """Returns the anchors of a page's headings, as web sites for git repositories form them."""
    found = set()
    for _, line in text_lines(text):
        heading = re.match(r"#+\s+(.*)", line)
        if heading:
            words = re.sub(r"[^\w\s-]", "", heading.group(1).strip().lower())
            anchor = base = re.sub(r"\s", "-", words)
            count = 0
            while anchor in found:
                count += 1
                anchor = f"{base}-{count}"
            found.add(anchor)
    return found


def joined_paragraphs(text):
    """Yields the line number and text of each paragraph: a link may span two lines."""
    start, lines = 0, []
    for number, line in text_lines(text):
        if line.strip() and (not lines or number == start + len(lines)):
            start = start if lines else number
            lines.append(line)
        else:
            if lines:
                yield start, "\n".join(lines)
            start, lines = number, [line] if line.strip() else []
    if lines:
        yield start, "\n".join(lines)


def broken_links(root, path, text, files):
    folder = os.path.dirname(path)
    for start, paragraph in joined_paragraphs(text):
        for link in LINK.finditer(paragraph):
            target, _, anchor = link.group(1).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            number = start + paragraph.count("\n", 0, link.start())
            page = os.path.normpath(os.path.join(folder, target)) if target else path
            if page not in files and not any(name.startswith(page + "/") for name in files):
                yield number, f"{link.group(1)}: no such file"
            elif anchor and page.endswith(".md"):
                with open(os.path.join(root, page), encoding="utf-8") as file:
                    if anchor not in anchors(file.read()):
                        yield number, f"{link.group(1)}: no such heading"


def missing_pages(text, files):
    for number, line in enumerate(text.split("\n"), 1):
        for name in PAGE.findall(line):
            if name not in files:
                yield number, f"{name}: no such file"


def unlisted(path, text, names):
    """Yields the names to which the index page `path` does not link."""
    folder = os.path.dirname(path)
    targets = {os.path.normpath(os.path.join(folder, link.group(1).partition("#")[0]))
               for link in LINK.finditer(text)}
    for name in sorted(names):
        if not any(target == name or target.startswith(name + "/") for target in targets):
            yield 1, f"no link to {name}"


def main():
    root = sys.argv[1]
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others",
                             "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode:
        print(f"skipped: {root} is not a git repository")
        sys.exit(77)
    files = {path for path in listed.stdout.splitlines()
             if os.path.isfile(os.path.join(root, path))}
    count = link_count = 0
    for path in sorted(files):
        if path.startswith(SKIPPED):
            continue
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            continue
        found = list(missing_pages(text, files)) if not path.endswith(".md") else []
        if path.endswith(".md"):
            link_count += len(LINK.findall(text))
            found += broken_links(root, path, text, files)
        if path == "docs/README.md":
            found += unlisted(path, text, {name for name in files if name != path and
                                           re.fullmatch(r"docs/.*\.md", name)})
        if path == "examples/README.md":
            found += unlisted(path, text, {"/".join(name.split("/")[:2]) for name in files
                                           if name.count("/") > 1 and name.startswith("examples/")})
        for number, message in found:
            count += 1
            print(f"{path}:{number}: {message}")
    print(f"{link_count} links, {count} broken")
    if link_count == 0 or count:
        sys.exit(1)


if __name__ == "__main__":
    main()

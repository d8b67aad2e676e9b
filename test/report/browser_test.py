"""Tests HTML reports in headless Chromium. Skipped (exit status 77) without Chromium.

usage: browser_test.py BREWC SOURCE
"""
import html
import os
import pathlib
import re
import shutil
import sys
import tempfile

import pages

# Selects every program, opens all kernels and selects a layer, like a user. Stores in the page by how
# many pixels it is wider than the window.
PROBE = """<script>
const programs = document.querySelectorAll('nav button');
for (const button of [...programs, programs[0]])
  button.click();
for (const kernel of document.querySelectorAll('details'))
  kernel.open = true;
document.querySelector('#before .node.layer').dispatchEvent(new MouseEvent('click'));
document.querySelector('.sortable th:nth-child(3)').click();
const root = document.documentElement;
document.body.dataset.overflow = root.scrollWidth - root.clientWidth;
</script></body>"""


def render(browser, path, profile, width):
    """Returns the HTML text of a page after its scripts have run, and the lines that they logged."""
    process = pages.output(
        [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--disable-background-networking", "--user-data-dir=" + profile,
         "--window-size={},900".format(width), "--enable-logging=stderr", "--dump-dom",
         path.as_uri()])
    logged = [line for line in process.stderr.splitlines() if "CONSOLE" in line]
    return process.stdout, logged


def extract(text, begin, end):
    """Returns the text from `begin` to the following `end`."""
    start = text.index(begin)
    return text[start:text.index(end, start)]


def check(name, text, dom, logged):
    assert not logged, (name, logged)
    assert "data-evil" not in dom, name
    overflow = int(re.search(r'data-overflow="(-?\d+)"', dom).group(1))
    assert overflow <= 0, (name, "is too wide by", overflow)
    program = pages.Page(text).data["programs"][0]
    for phase in ("before", "after"):
        drawn = extract(dom, 'id="{}"'.format(phase), "</svg>")
        graph = program[phase]
        assert drawn.count('class="node ') == len(graph["nodes"]), (name, phase)
        assert len(re.findall(r'class="edge', drawn)) == len(graph["edges"]), (name, phase)
        assert "NaN" not in drawn and "undefined" not in drawn, (name, phase)
    # The page shows the selected layer, and highlights the related nodes after optimization.
    layer = next(node for node in program["before"]["nodes"] if node["kind"] == "layer")
    assert html.escape(layer["name"], quote=False) in extract(dom, 'id="chosen"', "</div>"), name
    assert " related" in extract(dom, 'id="after"', "</svg>"), name
    arena = extract(dom, 'id="arena"', "</svg>")
    assert arena.count('class="buffer"') == len(program["buffers"]), name
    assert "NaN" not in arena, name


def main():
    brewc, source = sys.argv[1:]
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        print("skipped: chromium is not installed; apt-get install chromium")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        for name, arguments in pages.nets(source, folder).items():
            text = pages.report(brewc, arguments, "html")
            path = pathlib.Path(folder) / (name + ".html")
            # The page's security policy allows only inline scripts such as the probe.
            path.write_text(text.replace("</body>", PROBE))
            for width in (1400, 500):
                check(name, text, *render(browser, path, folder + "/profile", width))
    return 0


sys.exit(main())

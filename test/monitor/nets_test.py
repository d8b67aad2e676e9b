"""Looks at the monitor and at HTML reports of small and deep nets in a headless Chromium: nothing may
be wider than the window, boxes may not overlap, and text must be readable. Skipped (exit status 77)
without Chromium.

usage: nets_test.py BREWC BREW_RUN SOURCE [--all] [--pictures FOLDER]

The test of ctest looks at LeNet and GoogLeNet in two windows. With --all, also at ResNet-50 and
ResNet-152, in small, usual and large windows, light and dark; this takes some minutes:

    python3 test/monitor/nets_test.py build/release/bin/brewc build/release/bin/brew-run . --all
"""
import argparse
import faulthandler
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import browser_test
import devtools

SOLVER = 'net: "{}.prototxt" base_lr: 0.00002 lr_policy: "fixed" momentum: 0.9 max_iter: 1000000 display: 5'
# One image per iteration: only the pages are tested.
DATA = """layer {{ name: "data" type: "DummyData" top: "data" top: "label" dummy_data_param {{
  shape {{ dim: 1 dim: {channels} dim: {size} dim: {size} }} shape {{ dim: 1 }}
  data_filler {{ type: "gaussian" std: 1 }} data_filler {{ type: "uniform" min: 0 max: 9.9 }} }} }}
"""

# Heights of windows by width.
WINDOWS = {420: 900, 1280: 1000, 2560: 1400}

# Returns the faults of a page as texts. `graphs` selects the boxes that contain graphs, `node` the
# rectangles in them; the boxes of `apart` must not overlap either.
FAULTS = """((graphs, node, apart) => {
  const faults = [], root = document.documentElement, kTolerance = .5;
  const name = (element) => element.id || element.className.baseVal || element.className || element.tagName;
  if (root.scrollWidth > root.clientWidth)
    faults.push(`the page needs ${root.scrollWidth} of ${root.clientWidth} pixels`);
  const findOverlaps = (what, elements) => {
    const places = elements.map((element) => element.getBoundingClientRect()).filter((place) => place.width);
    for (const [i, a] of places.entries())
      for (const b of places.slice(i + 1))
        if (a.left + kTolerance < b.right && b.left + kTolerance < a.right &&
            a.top + kTolerance < b.bottom && b.top + kTolerance < a.bottom)
          return faults.push(`${what} overlap at ${[a.left, a.top, b.left, b.top].map(Math.round)}`);
  };
  findOverlaps('boxes of ' + apart, [...document.querySelectorAll(apart)]);
  for (const box of document.querySelectorAll(graphs)) {
    const nodes = [...box.querySelectorAll(node)], place = box.getBoundingClientRect();
    findOverlaps('nodes of ' + name(box), nodes);
    const shown = nodes.filter((rect) => {
      const {left, right, top, bottom} = rect.getBoundingClientRect();
      return left >= place.left && right <= place.right && top >= place.top && bottom <= place.bottom;
    });
    if (!shown.length)
      faults.push(name(box) + ' shows no node');
  }
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
    if (!hasText || element.closest('title, script, option, noscript') || !element.getClientRects().length)
      continue;
    const scale = element.getScreenCTM ? element.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (size < 10.99) {
      faults.push(`text of ${size} pixels: ${element.textContent}`);
      break;
    }
  }
  return faults;
})"""


def resnet(source, depth):
    sys.path.append(str(source / "benchmarks"))
    import deep
    return deep.resnet(depth, 1)


def prototxt(source, name, channels, size):
    """Returns the training net `name` on random images."""
    match = re.fullmatch(r"resnet(\d+)", name)
    text = (resnet(source, int(match.group(1))) if match else
            (source / "benchmarks" / "nets" / (name + ".prototxt")).read_text())
    parts = re.split(r"(?m)^(?=layer \{)", text)
    layers = [part for part in parts[1:]
              if not re.search(r'type: "(Data|DummyData|Input)"|phase: TEST', part)]
    return parts[0] + DATA.format(channels=channels, size=size) + "".join(layers)


class Windows:
    """Shows a page in windows of several sizes and collects what is wrong with it."""

    def __init__(self, page, widths, schemes, pictures):
        self.page, self.widths, self.schemes, self.pictures = page, widths, schemes, pictures
        self.faults = []

    def check(self, name, arguments, in_view=()):
        """`arguments` are those of FAULTS; the elements `in_view` must be visible even at the end of
        the page."""
        for width in self.widths:
            for dark in self.schemes:
                self.page.resize(width, WINDOWS[width], dark)
                time.sleep(.3)  # the page draws after changes of its size
                self.page.value("scrollTo(0, 0); document.querySelectorAll('button[aria-label^=Fit]')"
                                ".forEach((button) => button.click())")
                faults = self.page.value(FAULTS + "({})".format(", ".join(map(repr, arguments))))
                if self.pictures:
                    self.save_pictures("{}-{}{}".format(name, width, "-dark" if dark else ""), arguments[0])
                self.page.value("scrollTo(0, document.documentElement.scrollHeight)")
                for element in in_view:
                    if not self.page.value(
                            "(() => {{ const place = document.getElementById('{}').getBoundingClientRect();"
                            "return place.width > 0 && place.top >= 0 && place.bottom <= innerHeight; }})()"
                            .format(element)):
                        faults.append(element + " is not in view")
                self.faults += [(name, width, "dark" if dark else "light", fault) for fault in faults]

    def save_pictures(self, name, graphs):
        self.page.screenshot(self.pictures / (name + ".webp"))
        self.page.value("document.querySelector('{}').scrollIntoView({{block: 'center'}})".format(graphs))
        time.sleep(.3)
        self.page.screenshot(self.pictures / (name + "-net.webp"))


def check_monitor(name, windows, run):
    page = windows.page
    page.open(run.url())
    page.wait("document.getElementById('status').textContent == 'running'")
    page.wait("[...document.querySelectorAll('#graph .time')].some((time) => /ms/.test(time.textContent))", 120)
    page.wait("Number(document.getElementById('iteration').textContent.replace(/,/g, '')) > 3", 120)
    page.wait("/\\d/.test(document.getElementById('remaining').textContent)")
    page.wait("document.getElementById('weights').width > 1", 120)
    page.click("#play")
    page.wait("document.getElementById('status').textContent == 'paused'")
    lonely = page.value("document.querySelectorAll('#graph .node').length - 1 -"
                        "document.querySelectorAll('#graph .edge').length")
    if lonely > 0:
        windows.faults.append((name, "monitor", "the graph lacks edges", lonely))
    windows.check("monitor-" + name, ("#graphbox", ".node", ".card, .tiles > div, .buttons"),
                  ("iteration", "remaining", "lr", "speed"))
    # Zoom and pan.
    page.value("document.querySelector('#graphtools button[aria-label=Larger]').click()")
    before = page.value("(() => { const box = document.getElementById('graphbox'); box.scrollTop = 0;"
                        "return box.scrollTop; })()")
    left, top, width, height = page.place("#graphbox")
    x, y = left + width / 2, top + height / 2
    page.mouse("mousePressed", x, y)
    for distance in (20, 60):
        page.mouse("mouseMoved", x, y - distance)
    page.mouse("mouseReleased", x, y - 60, False)
    after = page.value("document.getElementById('graphbox').scrollTop")
    if after - before < 30:
        windows.faults.append((name, "monitor", "dragging does not move the graph", after - before))
    # The part that the user looks at stays in the box when the window changes.
    page.value("document.querySelector('#graphtools button[aria-label^=Fit]').click()")
    page.mouse("mousePressed", x, y)
    for distance in (20, 60):
        page.mouse("mouseMoved", x, y - distance)
    page.mouse("mouseReleased", x, y - 60, False)
    moved = page.value("document.getElementById('graphbox').scrollTop")
    page.resize(1000, 700)
    time.sleep(.3)
    stays = page.value("document.getElementById('graphbox').scrollTop")
    if stays < moved - 1:
        windows.faults.append((name, "monitor", "a change of the window moves the graph to", stays))


def check_report(name, windows, path):
    windows.page.open(path.as_uri())
    windows.check("report-" + name, (".graph", ".node rect", "figure, .scroll, #buffer, summary"))
    # The largest share has a full bar.
    fullest = windows.page.value("Math.max(...[...document.querySelectorAll('meter')].map("
                                 "(meter) => meter.value / meter.max))")
    if abs(fullest - 1) > 1e-6:
        windows.faults.append((name, "report", "the largest share fills this part of its bar", fullest))


def main():
    parser = argparse.ArgumentParser()
    for name in ("brewc", "brew_run", "source"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--all", action="store_true", help="look at all nets in all windows")
    parser.add_argument("--pictures", type=pathlib.Path, help="folder for screenshots")
    options = parser.parse_args()
    if not devtools.find():
        print("skipped: chromium is not installed; apt-get install chromium")
        return 77
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    nets = {"lenet": (1, 28), "googlenet": (3, 224)}
    if options.all:
        nets.update(resnet50=(3, 64), resnet152=(3, 64))
    else:
        faulthandler.dump_traceback_later(560, exit=True)  # before the timeout of ctest
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        page = devtools.Browser(str(folder / "profile"))
        windows = Windows(page, WINDOWS if options.all else (420, 1280),
                          (False, True) if options.all else (False,), options.pictures)
        try:
            for net, shape in nets.items():
                (folder / (net + ".prototxt")).write_text(prototxt(options.source, net, *shape))
                (folder / (net + "_solver.prototxt")).write_text(SOLVER.format(net))
                report = subprocess.run([options.brewc, net + "_solver.prototxt", "--report=html", "-o", net + ".plan"],
                                        cwd=folder, check=True, capture_output=True, timeout=240).stdout
                path = folder / (net + ".html")
                path.write_bytes(report)
                check_report(net, windows, path)
                run = browser_test.Run([options.brew_run, "train", net + ".plan", "--threads", "2", "--monitor=:0"],
                                       folder)
                try:
                    check_monitor(net, windows, run)
                except Exception:
                    browser_test.print_state(run, page)
                    raise
                finally:
                    run.stop()
                # Runs end before their pages, and refuse to show tensors while an iteration takes long.
                logged = [entry for entry in page.logged if not re.search("ERR_|status of 503", str(entry))]
                windows.faults += [(net, "logged", entry) for entry in logged]
                page.logged.clear()
        finally:
            page.close()
    for fault in windows.faults:
        print(*fault, sep=": ")
    return 1 if windows.faults else 0


if __name__ == "__main__":
    sys.exit(main())

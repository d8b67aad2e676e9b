"""Trains LeNet and uses the monitor's page like a user: pauses, steps, changes the learning
rate, draws digits. Skipped (exit status 77) without Chromium.

usage: browser_test.py BREWC BREW_RUN BREW_DATA SOURCE [--pictures FOLDER]
"""
import argparse
import faulthandler
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import devtools

# Strokes, in fractions of the canvas's width and height.
ONE = [[(.52, .12), (.5, .5), (.48, .88)]]
ZERO = [[(.5, .12), (.32, .2), (.24, .5), (.32, .8), (.5, .88), (.68, .8), (.76, .5), (.68, .2), (.5, .12)]]
SEVEN = [[(.22, .18), (.5, .17), (.78, .16), (.66, .4), (.55, .65), (.48, .9)]]


def parse_number(text):
    return float(text.replace(",", ""))


class Run:
    """A brew-run process that serves a monitor page; it runs and logs in `folder`."""

    def __init__(self, command, folder):
        self.log = open(folder / "log", "w+")
        self.process = subprocess.Popen(command, cwd=folder, stderr=self.log,
                                        stdout=subprocess.DEVNULL,
                                        preexec_fn=devtools.end_with_parent)

    def url(self):
        """Waits until the run logs the address of its page, and returns the address."""
        deadline = time.time() + 60
        while True:
            match = re.search(r"Monitor: http://.*token is in (\S+)\)", self.log_text())
            if match:
                return pathlib.Path(match.group(1)).read_text().strip()
            assert self.process.poll() is None and time.time() < deadline, self.log_text()
            time.sleep(.05)

    def log_text(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:  # SIGTERM does not end a run that is opening a pipe
            self.process.kill()
            self.process.wait()

    def expect_success(self):
        """Waits for the end of the run and checks its exit status."""
        assert self.process.wait(60) == 0, self.log_text()[-2000:]


class ClassSender:
    """Sends the classes of the first `count` images to a run that reads them from a pipe."""

    def __init__(self, labels, pipe, count):
        self.labels, self.pipe, self.count = labels, pipe, count
        os.mkfifo(pipe)

    def send(self, run):
        labels = gzip.decompress(self.labels.read_bytes())[8:]
        deadline = time.time() + 60
        while True:
            try:
                pipe = os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:  # the run has not opened the pipe yet
                assert run.process.poll() is None and time.time() < deadline, run.log_text()
                time.sleep(.05)
        os.write(pipe, "".join("%d\n" % label for label in labels[:self.count]).encode())
        os.close(pipe)


def draw(page, strokes):
    page.click("#clear")
    left, top, width, height = page.place("#pad")
    for stroke in strokes:
        points = [(left + x * width, top + y * height) for x, y in stroke]
        page.mouse("mousePressed", *points[0])
        for point in points[1:]:
            page.mouse("mouseMoved", *point)
        page.mouse("mouseReleased", *points[-1], False)


def check_run(page, run, pictures):
    page.open(run.url())
    page.wait("document.getElementById('status').textContent == 'running'")
    assert "token" not in page.value("location.href")
    # Accurate enough to recognize digits.
    page.wait("Number(document.getElementById('score').textContent) > .95 && "
              "Number(document.getElementById('iteration').textContent.replace(/,/g, '')) > 300", 240)
    page.wait("document.querySelectorAll('#graph text.small').length > 3")
    if pictures:
        time.sleep(4)
        draw(page, SEVEN)
        page.wait("document.getElementById('classes').dataset.best")
        page.value("scrollTo(0, 0)")
        time.sleep(1)
        page.screenshot(pictures / "monitor.webp")

    # The graph shows a time at each layer.
    page.wait("[...document.querySelectorAll('#graph .time')].filter((time) => /ms/.test(time.textContent)).length > 3")
    page.click("#play")
    page.wait("document.getElementById('status').textContent == 'paused'")
    time.sleep(.3)
    before = parse_number(page.value("document.getElementById('iteration').textContent"))
    time.sleep(.5)
    assert parse_number(page.value("document.getElementById('iteration').textContent")) == before
    for steps in (1, 2):
        page.click("#step")
        page.wait("document.getElementById('iteration').textContent.replace(/,/g, '') == {}"
                  .format(int(before) + steps))
        page.wait("document.getElementById('status').textContent == 'paused'")

    # The middle of the slider is the current rate; positions to the right are larger rates.
    left, top, width, height = page.place("#slider-base_lr")
    y = top + height / 2
    page.mouse("mousePressed", left + width * .5, y)
    page.mouse("mouseMoved", left + width * .6, y)
    page.mouse("mouseReleased", left + width * .6, y, False)
    chosen = float(page.value("document.getElementById('field-base_lr').value"))
    assert .011 < chosen < .1, chosen
    page.click("#step")
    page.wait("document.getElementById('log').textContent.includes('base_lr: {:g}')".format(chosen))
    assert re.search(r"base_lr.*{:g}".format(chosen), run.log_text()), run.log_text()[-2000:]
    page.click("#changes button")
    page.click("#step")
    page.wait("document.getElementById('log').textContent.includes('freeze \"conv1.0\"')")
    # An invalid value is rejected with a message. The answer to an earlier command, which arrives
    # later, does not hide it.
    page.value("(() => { const fetchNow = window.fetch; window.fetch = async (path, request) => {"
               "const answer = await fetchNow(path, request); if (path === '/api/step')"
               "{ while (document.getElementById('message').hidden)"
               "await new Promise((done) => setTimeout(done, 10)); window.fetch = fetchNow;"
               "setTimeout(() => { window.stepAnswered = true; }, 100); } return answer; }; })()")
    page.click("#step")
    page.value("(() => { const field = document.getElementById('field-base_lr'); field.value = 'much';"
               "field.dispatchEvent(new Event('change')); })()")
    page.wait("window.stepAnswered")
    assert page.value("!document.getElementById('message').hidden"), "the message was hidden"
    page.logged.clear()  # Chromium logs the status 400 of the invalid value

    for digit, strokes in ((1, ONE), (0, ZERO), (7, SEVEN)):
        draw(page, strokes)
        page.wait("document.getElementById('classes').dataset.best == '{}'".format(digit))

    weights_width = "document.getElementById('weights').width"
    page.wait(weights_width + " > 20")  # filters of 5 x 5, side by side
    page.wait("document.getElementById('maps').width > 40")
    if pictures:
        page.screenshot(pictures / "paused.webp")
    page.click("#play")
    page.wait("document.getElementById('status').textContent == 'running'")
    overflow = page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, overflow
    check_reset(page, 0)
    assert not page.logged, page.logged
    page.click("#stop")
    page.wait("document.getElementById('status').textContent == 'finished'", 180)
    run.expect_success()


def check_reset(page, first):
    """Pauses a run and resets it to iteration `first`, where it must stay paused; then continues it."""
    iteration = "Number(document.getElementById('iteration').textContent.replace(/,/g, ''))"
    page.wait(iteration + " > 60")
    page.click("#play")
    page.wait("document.getElementById('status').textContent == 'paused'")
    page.click("#reset")
    and_paused = " && document.getElementById('status').textContent == 'paused'"
    page.wait("{} == {}{}".format(iteration, first, and_paused))
    page.wait("document.getElementById('log').textContent.includes('Restarted at iteration 0')")
    page.click("#step")
    page.wait("{} == {}{}".format(iteration, first + 1, and_paused))
    page.click("#play")
    page.wait("document.getElementById('status').textContent == 'running'")


def check_learner(page, run, pictures):
    page.open(run.url())
    page.logged.clear()  # the server of the previous page has ended
    page.wait("document.getElementById('status').textContent == 'running'")
    page.wait("document.querySelector('.chart[data-measure=reward]') !== null")
    page.wait("!document.getElementById('scenecard').hidden && "
              "Number(document.getElementById('scene').dataset.step) > 3")
    # The animation advances: the displayed step is later or belongs to another episode.
    shown = page.value("document.getElementById('scenenote').textContent")
    page.wait("document.getElementById('scenenote').textContent != {}".format(json.dumps(shown)))
    painted_pixels = (
        "(() => { const canvas = document.getElementById('scene'); const d = canvas.getContext('2d')"
        ".getImageData(0, 0, canvas.width, canvas.height).data; let n = 0;"
        "for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })()")
    assert page.value(painted_pixels) > 300
    assert "steps" in page.value("document.getElementById('waits').textContent")
    if pictures:
        time.sleep(3)
        page.screenshot(pictures / "learner.webp")
    check_reset(page, 1)  # a paused learner continues to its first update
    assert not page.logged, page.logged
    page.click("#stop")
    page.wait("document.getElementById('status').textContent == 'finished'", 180)
    run.expect_success()


def check_folder(page, run, names, pictures):
    page.open(run.url())
    page.wait("document.querySelectorAll('#runlist tr').length == {}".format(len(names)))
    listed = page.value("document.getElementById('runlist').textContent")
    for name in names:
        assert name in listed, listed
    page.wait("document.querySelector('.chart[data-measure=loss]') !== null")
    time.sleep(.3)
    if pictures:
        page.screenshot(pictures / "runs.webp")
    # The mouse cannot click here: the page rebuilds the list between a press and a release.
    page.value("document.querySelector('#runlist input').click()")
    page.wait("document.querySelectorAll('.chart[data-measure=loss] h3 span').length == {}"
              .format(len(names) - 1))


def check_embedding(page, run, classes, pictures):
    page.open(run.url())
    page.logged.clear()  # the server of the previous page has ended
    # The run waits for the classes, so it cannot end before the page is open.
    classes.send(run)
    page.wait("Number(document.getElementById('layout').dataset.iteration) >= 50")
    page.wait("document.querySelector('.chart[data-measure=\"KL divergence\"]') !== null")
    legend = page.value("document.getElementById('layoutlegend').textContent")
    assert legend == "0123456789", legend
    # The points have different colours, even if only the upper 3 bits of each channel count.
    colour_count = (
        "(() => { const canvas = document.getElementById('layout'); const d = canvas.getContext('2d')"
        ".getImageData(0, 0, canvas.width, canvas.height).data; const colours = new Set();"
        "for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 150)"
        " colours.add([d[i], d[i + 1], d[i + 2]].map((v) => v >> 5).join()); return colours.size; })()")
    assert page.value(colour_count) >= 8
    shown = page.value("document.getElementById('layoutnote').textContent")
    assert "KL divergence" in shown, shown
    page.wait("document.getElementById('layoutnote').textContent != {}".format(json.dumps(shown)))
    page.wait("document.getElementById('status').textContent == 'finished'", 180)
    if pictures:
        time.sleep(.3)
        page.screenshot(pictures / "embedding.webp")
    run.expect_success()
    assert not page.logged, page.logged


def print_state(run, page):
    """Prints the log of a run and the state of its page after a failure."""
    if run:
        print("The run has logged:", run.log_text()[-3000:], file=sys.stderr)
    if page:
        print("The page has logged:", page.logged, file=sys.stderr)
        try:
            print("The page says:", page.said(), file=sys.stderr)
        except (AssertionError, OSError, EOFError) as failure:
            print("The page does not respond:", failure, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    for name in ("brewc", "brew_run", "brew_data", "source"):
        parser.add_argument(name)
    parser.add_argument("--pictures", type=pathlib.Path, help="folder for screenshots")
    options = parser.parse_args()
    if not devtools.find():
        print("skipped: chromium is not installed; apt-get install chromium")
        return 77
    mnist = pathlib.Path(options.source) / "examples" / "mnist"
    faulthandler.dump_traceback_later(840)  # before the timeout of ctest
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)

        def run_command(*command):
            try:
                subprocess.run([str(argument) for argument in command], cwd=folder, check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=240)
            except subprocess.SubprocessError as failure:
                print((failure.stderr or b"").decode(errors="replace")[-3000:], file=sys.stderr)
                raise

        # Training and tests use the same images, because only the page is tested.
        for kind in ("train", "test"):
            run_command(options.brew_data, "mnist", mnist / "data" / "t10k-images-idx3-ubyte.gz",
                        mnist / "data" / "t10k-labels-idx1-ubyte.gz", "mnist_{}_lmdb".format(kind))
        run_command(options.brewc, mnist / "lenet_solver.prototxt", "--keep", "conv1", "-o", "lenet.plan")
        run_command(options.brewc, mnist / "lenet.prototxt", "-o", "classify.plan")
        train = [options.brew_run, "train", "lenet.plan", "--threads", "2", "--random-seed", "1"]
        run = page = None
        try:
            page = devtools.Browser(str(folder / "profile"))
            run = Run(train + ["--monitor=:0", "--monitor-net", "classify.plan", "--max-iter",
                               "1000000", "--test-interval", "50", "--test-iter", "3",
                               "--display", "20", "--log-dir", "logs/live"], folder)
            check_run(page, run, options.pictures)
            run_command(*train, "--max-iter", "20", "--display", "5", "--test-interval", "10",
                        "--test-iter", "2", "--base-lr", "0.002", "--log-dir", "logs/slow")
            run = Run([options.brew_run, "monitor", "logs", "--listen", ":0"], folder)
            check_folder(page, run, ["live", "slow"], options.pictures)
            run.stop()
            cartpole = pathlib.Path(options.source) / "examples" / "cartpole"
            run_command(options.brewc, cartpole / "softmax_solver.prototxt", "-o", "policy.plan")
            run = Run([options.brew_run, "train", "policy.plan", "--env", "cartpole", "--episodes",
                       "10000000", "--threads", "1", "--random-seed", "1", "--base-lr", "0.0001",
                       "--monitor=:0"], folder)
            check_learner(page, run, options.pictures)
            run_command(options.brewc, mnist / "lenet.prototxt", "--keep", "ip1", "--batch", "100",
                        "-o", "features.plan")
            classes = ClassSender(mnist / "data" / "t10k-labels-idx1-ubyte.gz", folder / "classes", 800)
            run = Run([options.brew_run, "embed", "features.plan", mnist / "data" / "t10k-images-idx3-ubyte.gz",
                       "--weights", "lenet_iter_20.caffemodel", "--scale", "0.00390625", "--blob", "ip1",
                       "--classes", classes.pipe.name, "--count", str(classes.count),
                       "--iterations", "6000", "--plot", "digits.png",
                       "--threads", "1", "--monitor=:0"], folder)
            check_embedding(page, run, classes, options.pictures)
            assert (folder / "digits.png").exists()
        except Exception:
            print_state(run, page)
            raise
        finally:
            try:
                if run:
                    run.stop()
            finally:
                if page:
                    page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

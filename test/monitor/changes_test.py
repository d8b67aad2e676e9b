#!/usr/bin/python3
"""Changes parameters of a run through the monitor's requests: they take effect after the next
iteration, are refused for what the page does not show, and are lines of changes.hooks with which
the run can be repeated bit for bit.

usage: changes_test.py BREWC BREW_RUN
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

NET = '''
layer { name: "data" type: "DummyData" top: "data" dummy_data_param {
  shape { dim: 8 dim: 6 } data_filler { type: "gaussian" std: 1 } } }
layer { name: "ip1" type: "InnerProduct" bottom: "data" top: "ip1" inner_product_param {
  num_output: 6 weight_filler { type: "xavier" } } }
layer { name: "ip2" type: "InnerProduct" bottom: "ip1" top: "ip2" inner_product_param {
  num_output: 6 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip2" bottom: "data" top: "loss" }
'''
SOLVER = '''net: "net.prototxt" base_lr: 0.05 lr_policy: "fixed" random_seed: 1 max_iter: 1000000
snapshot_prefix: "%s"
'''


class Run:
    """A paused training run with a monitor, in the current folder."""

    def __init__(self, brew_run, plan, log_folder):
        self.log = open("log", "w")
        self.process = subprocess.Popen(
            [brew_run, "train", plan, "--monitor=:0", "--log-dir", log_folder, "--threads", "1"],
            stderr=self.log, stdout=subprocess.DEVNULL)
        deadline = time.time() + 60
        while not (found := re.search(r"token is in (\S+)\)", self.text())):
            assert self.process.poll() is None and time.time() < deadline, self.text()
            time.sleep(.05)
        url = urllib.parse.urlsplit(pathlib.Path(found.group(1)).read_text().strip())
        self.address = "http://%s/api/" % url.netloc
        self.token = urllib.parse.parse_qs(url.query)["token"][0]
        self.request("pause", {})
        while not self.request("state")["paused"]:
            time.sleep(.01)

    def text(self):
        return pathlib.Path("log").read_text()

    def request(self, name, body=None):
        request = urllib.request.Request(self.address + name, headers={"X-Brew-Token": self.token},
                                         data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def refusal(self, **change):
        try:
            self.request("change", change)
        except urllib.error.HTTPError as error:
            return error.code
        raise AssertionError("not refused: %s" % change)

    def iteration(self):
        return self.request("state")["iteration"]

    def step(self):
        """Does one iteration."""
        before = self.iteration()
        self.request("step", {})
        while self.iteration() == before or not self.request("state")["paused"]:
            time.sleep(.01)

    def values(self, layer):
        """Describes the weights of a layer: mean, deviation and histogram."""
        return self.request("parameter?name=%s&index=0" % layer)["histogram"]


def main():
    brewc, brew_run = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("net.prototxt").write_text(NET)
        for name in ("first", "second"):
            pathlib.Path(name + ".prototxt").write_text(SOLVER % name)
            subprocess.run([brewc, name + ".prototxt", "-o", name + ".plan"], check=True)
        run = Run(brew_run, "first.plan", "logs")
        try:
            check_changes(run)
            run.request("stop", {})
            assert run.process.wait(60) == 0, run.text()
        finally:
            run.process.kill()
        end = int(re.search(r"first_iter_(\d+).caffemodel", run.text()).group(1))
        lines = pathlib.Path("logs/changes.hooks").read_text()
        assert all(action in lines for action in ("freeze", "unfreeze", "scale", "reinitialise")), lines
        subprocess.run([brew_run, "train", "second.plan", "--hooks", "logs/changes.hooks", "--threads", "1",
                        "--max-iter", str(end)], check=True, stderr=subprocess.DEVNULL)
        first, second = (pathlib.Path("%s_iter_%d.caffemodel" % (name, end)).read_bytes()
                         for name in ("first", "second"))
        assert first == second, "the repeated run has other weights"


def check_changes(run):
    assert run.refusal(name="ip1", index=0, action="run") == 400
    assert run.refusal(name="ip3", index=0, action="freeze") == 404
    assert run.refusal(name="ip1", index=2, action="freeze") == 404
    assert run.refusal(name='ip1"', index=0, action="freeze") == 404
    assert run.refusal(name="ip1", index=0, action="scale") == 400
    assert run.refusal(name="ip1", index=0, action="scale", factor="2 do stop") == 400

    run.request("change", {"name": "ip1", "index": 0, "action": "freeze"})
    run.step()  # the change follows this iteration
    frozen, other = run.values("ip1"), run.values("ip2")
    run.step()
    assert run.values("ip1") == frozen
    assert run.values("ip2") != other
    run.request("change", {"name": "ip1", "index": 0, "action": "scale", "factor": 0.5})
    run.step()
    scaled = run.values("ip1")
    assert abs(scaled["deviation"] - frozen["deviation"] / 2) < 1e-6, (scaled, frozen)
    run.request("change", {"name": "ip1", "index": 0, "action": "unfreeze"})
    run.step()
    assert run.values("ip1") == scaled
    run.step()
    assert run.values("ip1") != scaled
    run.request("change", {"name": "ip1", "index": 0, "action": "reinitialise"})
    run.step()
    assert run.values("ip1")["deviation"] > 1.2 * scaled["deviation"]
    log = run.request("state")["log"]
    assert any('scale "ip1.0" by 0.5' in line for line in log), log


if __name__ == "__main__":
    main()

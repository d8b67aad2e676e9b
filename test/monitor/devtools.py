"""A headless Chromium that a test drives through its DevTools protocol, over a pipe."""
import base64
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import time


def find():
    return shutil.which("chromium") or shutil.which("chromium-browser")


def end_with_parent():
    """Called in a child between fork and exec: the child is killed when this process ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Browser:
    def __init__(self, profile, width=1400, height=1500):
        # The browser reads requests from its descriptor 3 and answers on 4.
        theirs_in, self.requests = os.pipe()
        self.answers, theirs_out = os.pipe()

        def place():
            end_with_parent()
            os.dup2(os.dup(theirs_in), 100)
            os.dup2(os.dup(theirs_out), 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
             "--user-data-dir=" + profile, "--window-size={},{}".format(width, height),
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest = b""
        self.number = 0
        self.session = None
        self.logged = []  # the page's warnings and errors
        try:
            self.attach()
        except BaseException:
            self.close()
            raise

    def attach(self):
        page = next(target for target in self.call("Target.getTargets")["targetInfos"]
                    if target["type"] == "page")
        self.session = self.call("Target.attachToTarget",
                                 {"targetId": page["targetId"], "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def receive(self, timeout):
        end = time.time() + timeout
        while b"\0" not in self.rest:
            if not select.select([self.answers], [], [], max(0, end - time.time()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.answers, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, parameters=None, timeout=60):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters or {}}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.requests, json.dumps(request).encode() + b"\0")
        while True:
            message = self.receive(timeout)
            if message.get("id") == self.number:
                assert "error" not in message, (method, message["error"])
                return message["result"]
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.logged.append(message["params"])
            if message.get("method") == "Page.javascriptDialogOpening":
                self.number += 1
                os.write(self.requests, json.dumps(
                    {"id": self.number, "sessionId": self.session,
                     "method": "Page.handleJavaScriptDialog",
                     "params": {"accept": True}}).encode() + b"\0")
                self.number -= 1

    def open(self, url):
        failure = self.call("Page.navigate", {"url": url}).get("errorText")
        assert not failure, (url, failure)
        self.wait("document.readyState == 'complete' && location.protocol == 'http:'")

    def value(self, expression):
        result = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True,
                                                "awaitPromise": True})
        assert "exceptionDetails" not in result, (expression, result)
        return result["result"].get("value")

    def said(self):
        """Returns the status and message texts of the page, if it has them."""
        return self.value("['status', 'message'].map("
                          "(id) => document.getElementById(id)?.textContent).filter(Boolean)")

    def wait(self, expression, seconds=60):
        """Waits until the expression is true; returns its value."""
        end = time.time() + seconds
        while True:
            value = self.value(expression)
            if value:
                return value
            assert time.time() < end, ("never came true", expression, self.said())
            time.sleep(.05)

    def mouse(self, kind, x, y, pressed=True):
        self.call("Input.dispatchMouseEvent",
                  {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1,
                   "buttons": 1 if pressed else 0})

    def place(self, selector):
        """Scrolls to an element; returns its left, top, width and height in the window."""
        return json.loads(self.value(
            "(() => {{ const it = document.querySelector('{}');"
            "it.scrollIntoView({{block: 'center'}}); const b = it.getBoundingClientRect();"
            "return JSON.stringify([b.x, b.y, b.width, b.height]); }})()".format(selector)))

    def click(self, selector):
        left, top, width, height = self.place(selector)
        x, y = left + width / 2, top + height / 2
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y, False)

    def screenshot(self, path):
        shot = self.call("Page.captureScreenshot", {"format": "webp", "quality": 85})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.requests)
        os.close(self.answers)

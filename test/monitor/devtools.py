"""A headless Chromium that a test controls through the DevTools protocol, over a pipe."""
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
    """Returns the path of Chromium, or None if it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def end_with_parent():
    """Lets the kernel kill a child process when this process ends; call it between fork and exec."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Browser:
    """A Chromium process with one page. Chromium stores its files in the folder `profile`."""

    def __init__(self, profile, width=1400, height=1500):
        # The browser reads requests from its descriptor 3 and answers on 4.
        browser_input, self.requests = os.pipe()
        self.answers, browser_output = os.pipe()

        def set_up_pipes():
            end_with_parent()
            os.dup2(os.dup(browser_input), 100)
            os.dup2(os.dup(browser_output), 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
             "--user-data-dir=" + profile, "--window-size={},{}".format(width, height),
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=set_up_pipes, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(browser_input)
        os.close(browser_output)
        self.unparsed = b""
        self.request_id = 0
        self.session = None
        self.logged = []  # the page's warnings and errors
        try:
            self.attach()
        except BaseException:
            self.close()
            raise

    def attach(self):
        """Attaches to the page, so that later calls apply to it."""
        page = next(target for target in self.call("Target.getTargets")["targetInfos"]
                    if target["type"] == "page")
        self.session = self.call("Target.attachToTarget",
                                 {"targetId": page["targetId"], "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def receive(self, timeout):
        """Returns the next message of the browser. `timeout` is in seconds."""
        deadline = time.time() + timeout
        while b"\0" not in self.unparsed:
            if not select.select([self.answers], [], [], max(0, deadline - time.time()))[0]:
                raise TimeoutError("the browser does not answer")
            received = os.read(self.answers, 1 << 16)
            if not received:
                raise EOFError("the browser has ended")
            self.unparsed += received
        message, self.unparsed = self.unparsed.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, parameters=None, timeout=60):
        """Calls a DevTools method and returns its result.

        Until the result arrives, collects the messages that the page logs and accepts its dialogs."""
        self.request_id += 1
        request = {"id": self.request_id, "method": method, "params": parameters or {}}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.requests, json.dumps(request).encode() + b"\0")
        while True:
            message = self.receive(timeout)
            if message.get("id") == self.request_id:
                assert "error" not in message, (method, message["error"])
                return message["result"]
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.logged.append(message["params"])
            if message.get("method") == "Page.javascriptDialogOpening":
                self.request_id += 1
                os.write(self.requests, json.dumps(
                    {"id": self.request_id, "sessionId": self.session,
                     "method": "Page.handleJavaScriptDialog",
                     "params": {"accept": True}}).encode() + b"\0")
                self.request_id -= 1

    def open(self, url):
        failure = self.call("Page.navigate", {"url": url}).get("errorText")
        assert not failure, (url, failure)
        self.wait("document.readyState == 'complete' && location.protocol == '{}:'".format(url.split(":")[0]))

    def resize(self, width, height, dark=False):
        """Sets the size of the window in pixels, and whether the user prefers dark pages."""
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.call("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def value(self, expression):
        """Returns the value of a JavaScript expression in the page, None if it is undefined."""
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
        deadline = time.time() + seconds
        while True:
            value = self.value(expression)
            if value:
                return value
            assert time.time() < deadline, ("never came true", expression, self.said())
            time.sleep(.05)

    def mouse(self, kind, x, y, pressed=True):
        """Sends a mouse event at a point of the window; `kind` is "mousePressed", "mouseMoved" or
        "mouseReleased", `pressed` the state of the left button after it."""
        self.call("Input.dispatchMouseEvent",
                  {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1,
                   "buttons": 1 if pressed else 0})

    def place(self, selector):
        """Scrolls to an element; returns its left, top, width and height in the window."""
        return json.loads(self.value(
            "(() => {{ const element = document.querySelector('{}');"
            "element.scrollIntoView({{block: 'center'}}); const b = element.getBoundingClientRect();"
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

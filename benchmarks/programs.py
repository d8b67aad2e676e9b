"""The programs that compute each workload, and their measurement: Brew and its peers."""

import json
import subprocess
from typing import NamedTuple

import workloads
from peers import caffe
from process import MeasureError, NotAvailable, run
from stopwatch import MIN_STEPS

PEERS = workloads.HERE / "peers"
# Kinds of times. Only times of the same kind are compared.
STEP, LOOP, NO_UPDATE = "step", "loop", "no update"
TORCH_TITLES = {"eager": "eager", "channels_last": "eager, channels-last",
                "bf16_weights": "eager, weights in bf16",
                "compile": "torch.compile"}
# Modules that each peer needs. The first one is the peer itself.
MODULES = {"torch": ("torch",), "onnxruntime": ("onnxruntime", "numpy"),
           "openvino": ("openvino", "numpy"), "opencv": ("cv2", "numpy")}
EXPORT_MODULES = ("torch", "onnx", "onnxscript")
# Step counts for programs that take the number of steps as an argument. More steps do not
# make times of microseconds more precise.
TRIAL_STEPS, MAX_STEPS = 20, 5000
# Combinations that the peer does not support in any installation.
UNSUPPORTED = {
    ("onnxruntime", "bf16"): "its CPU provider computes in f32 only",
    ("opencv", "bf16"): "it computes in f32 only on CPUs",
    ("caffe", "bf16"): "it computes in f32 only"}


class Program(NamedTuple):
    """A program that computes a workload. `peer` is a key of MODULES, "brew" or "caffe";
    `variant` selects one of several implementations of the peer."""
    peer: str
    precision: str
    variant: str = ""
    measure: str = STEP

    @property
    def key(self):
        return " ".join(filter(None, (self.peer, self.variant, self.precision,
                                      self.measure)))

    @property
    def title(self):
        names = {"brew": "Brew", "onnxruntime": "ONNX Runtime",
                 "openvino": "OpenVINO", "opencv": "OpenCV DNN",
                 "caffe": "BVLC Caffe", "torch": "PyTorch"}
        if self.measure == LOOP:
            return names[self.peer] + ": `{} train`, reading LMDB".format(
                {"brew": "brew-run"}.get(self.peer, self.peer))
        if self.measure == NO_UPDATE:
            return names[self.peer] + ": `caffe time`, no update"
        if self.variant:
            return "{}: {}".format(names[self.peer], TORCH_TITLES[self.variant])
        return names[self.peer]


def torch_variants(workload, precision, compiled, quick):
    """Returns PyTorch's variants; with `quick`, only the one that is usually the fastest."""
    variants = ["eager"] + ["channels_last"] * workload.images
    if quick:
        variants = variants[-1:]
    elif precision == "bf16" and workload.mode == "infer":
        # Autocast rounds weights in every step.
        variants.append("bf16_weights")
    return variants + ["compile"] * compiled


def programs_of(workload, precisions=("f32", "bf16"), compiled=True, quick=False):
    """Returns all programs of a workload, in the order of measurement."""
    programs = []
    for precision in precisions:
        programs.append(Program("brew", precision))
        programs += [Program("torch", precision, variant) for variant in
                     torch_variants(workload, precision, compiled, quick)]
        if workload.mode == "infer":
            programs += [Program(peer, precision) for peer in
                         ("onnxruntime", "openvino", "opencv", "caffe")]
        else:
            programs.append(Program("caffe", precision, "", NO_UPDATE))
    if workload.has_loop and "f32" in precisions:
        programs += [Program(peer, "f32", "", LOOP) for peer in ("brew", "caffe")]
    return programs


class Measurer:
    """Measures one program at a time, each in its own process."""

    def __init__(self, brew, python, caffe_program, seconds):
        self.brew, self.python, self.caffe = brew, python, caffe_program
        self.seconds = seconds
        # Number of steps of brew-run and caffe that take about `seconds`.
        self.steps = {}
        self.missing = {}
        self.failed_exports = {}

    def __call__(self, workload, program):
        """Returns a result: median, least, steps, peak_bytes and optionally version.
        Raises MeasureError."""
        reason = UNSUPPORTED.get((program.peer, program.precision))
        if reason:
            raise NotAvailable(reason)
        if program.peer == "brew":
            if program.measure == LOOP:
                return self.brew.loop(workload, program.precision)
            return self.measure_steps(workload, program, lambda steps: self.brew.step(
                workload, program.precision, steps))
        if program.peer == "caffe":
            return self.measure_caffe(workload, program)
        self.require(MODULES[program.peer])
        if program.peer == "torch":
            return self.torch(workload, program)
        return self.runtime(workload, program)

    def measure_steps(self, workload, program, measure):
        """Measures the number of steps that takes about `seconds`. Short runs before the
        first measurement determine that number."""
        key = (workload, program)
        if key not in self.steps:
            steps = self.steps_of(measure(1))
            # The first step is slow, which distorts the estimate for short steps.
            self.steps[key] = (self.steps_of(measure(TRIAL_STEPS))
                               if steps > TRIAL_STEPS else steps)
        return measure(self.steps[key])

    def steps_of(self, result):
        return min(MAX_STEPS, max(MIN_STEPS,
                                  round(self.seconds / result["least"])))

    def measure_caffe(self, workload, program):
        if not self.caffe:
            raise NotAvailable("no --caffe was given")
        common = (self.caffe, self.brew.work, self.brew.threads, workload)
        if program.measure == LOOP:
            return caffe.loop(*common)
        return self.measure_steps(workload, program,
                                  lambda steps: caffe.step(*common, steps))

    def require(self, modules):
        for module in modules:
            if module not in self.missing:
                self.missing[module] = module_problem(self.python, module)
            if self.missing[module]:
                raise NotAvailable(self.missing[module])

    def script(self, *arguments):
        completed = run([self.python, *arguments], self.brew.threads, self.brew.work)
        result = json.loads(completed.stdout.splitlines()[-1])
        result["peak_bytes"] = result.get("peak_bytes") or completed.peak_bytes
        return result

    def torch(self, workload, program):
        arguments = [PEERS.parent / "gpu" / "torch_step.py", self.net(workload),
                     "--device=cpu", "--mode=" + workload.mode, "--foreach",
                     "--precision=" + program.precision,
                     "--variant=" + program.variant, "--seconds", self.seconds]
        return self.script(*arguments, *inputs(workload))

    def runtime(self, workload, program):
        """Measures an ONNX runtime on the exported net."""
        return self.script(PEERS / "run_{}.py".format(program.peer),
                           self.export(workload), "--precision="
                           + program.precision, "--threads", self.brew.threads,
                           "--seconds", self.seconds, *inputs(workload))

    def net(self, workload):
        return workloads.write_net(workload, self.brew.work)

    def export(self, workload):
        """Returns the net's ONNX file. The file is reused until the net changes."""
        if workload in self.failed_exports:
            raise MeasureError(self.failed_exports[workload])
        net, output = self.net(workload), workload.key + ".onnx"
        text = (self.brew.work / net).read_text()
        exported_text = self.brew.work / (output + ".prototxt")
        if not exported_text.exists() or exported_text.read_text() != text:
            self.require(EXPORT_MODULES)
            try:
                run([self.python, PEERS / "export_onnx.py", net, "-o", output],
                    self.brew.threads, self.brew.work)
            except MeasureError as error:
                self.failed_exports[workload] = "no ONNX file: {}".format(error)
                raise MeasureError(self.failed_exports[workload])
            exported_text.write_text(text)
        return output


def inputs(workload):
    return [word for text in workloads.timed_nets.shapes_text(workload.shapes)
            for word in ("--input", text)]


def module_problem(python, module):
    """Returns the reason why an interpreter cannot import a module, or None."""
    try:
        completed = subprocess.run([str(python), "-c", "import " + module],
                                   capture_output=True, text=True)
    except OSError as error:
        return str(error)
    if completed.returncode == 0:
        return None
    lines = completed.stderr.strip().splitlines()
    return lines[-1].replace("ModuleNotFoundError: ", "") if lines else (
        "cannot import " + module)

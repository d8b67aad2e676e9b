#!/usr/bin/env python3
"""Times steps of a net in PyTorch and prints JSON.

Every variant runs in its own process, so that the memory and settings of one variant do not
affect the next. With --serve, a process that has loaded PyTorch forks a child for every line of
arguments (JSON) on standard input. Steps on a GPU are timed by CUDA events, on the CPU by the
clock.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import stopwatch  # noqa: E402
from deploy import is_label  # noqa: E402
from timed_nets import VARIANTS  # noqa: E402
from prototxt import parse  # noqa: E402
from torch_net import CaffeNet  # noqa: E402

# Modes of torch.compile; the last two use CUDA graphs.
MODES = {"compile": "default", "compile_graph": "reduce-overhead",
         "compile_autotune": "max-autotune"}
# A variant for inference that rounds weights to bf16 once; timed_nets.VARIANTS contains the others.
BF16_WEIGHTS = "bf16_weights"


def configure(precision):
    """Enables TF32 only for the precision tf32."""
    tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = True


def freeze_weights():
    """Lets torch.compile fold normalisation into constant weights."""
    try:
        from torch._inductor import config
    except ImportError:
        return  # an older PyTorch
    config.freezing = True


def step_marker(variant, device):
    """Returns a function that marks the last step's results as unused for CUDA graphs."""
    mark = getattr(getattr(torch, "compiler", None),
                   "cudagraph_mark_step_begin", None)
    uses_graphs = device.type == "cuda" and MODES.get(variant, "default") != "default"
    return mark if mark and uses_graphs else lambda: None


def make_optimiser(net, foreach, device):
    """Returns SGD with as few kernels as this PyTorch version supports."""
    choices = [{}]
    if foreach or device.type == "cuda":
        choices.insert(0, {"foreach": True})
    if device.type == "cuda" and not foreach:
        choices.insert(0, {"fused": True})
    for options in choices:
        try:
            return torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9,
                                   weight_decay=5e-4, **options)
        except (TypeError, RuntimeError):  # an older PyTorch
            if not options:
                raise


def make_step(net, inputs, training, precision, variant, foreach, device):
    """Returns a function that runs one step of training or inference."""
    if variant == BF16_WEIGHTS:
        # Rounds weights once; autocast would round them in every step.
        net = net.to(torch.bfloat16)
        inputs = {name: value.to(torch.bfloat16)
                  for name, value in inputs.items()}
    if variant != "eager":
        net = net.to(memory_format=torch.channels_last)
        inputs = {name: value.contiguous(memory_format=torch.channels_last)
                  if value.dim() == 4 else value
                  for name, value in inputs.items()}
    run = net if training else net.eval()
    if variant.startswith("compile"):
        if not hasattr(torch, "compile"):
            raise SystemExit("this PyTorch has no torch.compile")
        if not training:
            freeze_weights()
        run = torch.compile(net, mode=MODES[variant])

    def forward():
        with torch.autocast(device.type, torch.bfloat16,
                            enabled=precision == "bf16"
                            and variant != BF16_WEIGHTS):
            return run(inputs)

    mark_step = step_marker(variant, device)
    if not training:
        def infer():
            mark_step()
            with torch.inference_mode():
                forward()
        return infer

    optimiser = make_optimiser(net, foreach, device)

    def step():
        mark_step()
        optimiser.zero_grad(set_to_none=True)
        forward().backward()
        optimiser.step()
    return step


def time_steps(step, count, device):
    """Returns the seconds of each of `count` steps."""
    if device.type != "cuda":
        return stopwatch.time_steps(step, count)
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) / 1e3 for a, b in zip(events, events[1:])]


def serve():
    """Responds to every line of standard input with a line that has the result or the error."""
    for line in sys.stdin:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.dup2(2, 1)  # output of libraries must not mix with responses
            try:
                response = measure(json.loads(line))
            except BaseException as error:  # fails this measurement, not the server
                response = {"failed": "{}: {}".format(
                    type(error).__name__, str(error).strip()[-600:])}
            os.write(writer, json.dumps(response).encode() + b"\n")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            text = pipe.readline().strip()  # not read(): workers may keep the pipe open
        _, status = os.waitpid(child, 0)
        print(text or json.dumps({"failed": "the process ended with status %d" % status}),
              flush=True)


def main():
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        print(json.dumps(measure(sys.argv[1:])))


def measure(command_line):
    """Times the steps that a list of arguments describes. Returns the result as a dict."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", type=pathlib.Path)
    parser.add_argument("--input", action="append", required=True,
                        metavar="BLOB=d,d,...")
    parser.add_argument("--mode", choices=("train", "infer"), default="train")
    parser.add_argument("--precision", choices=("f32", "tf32", "bf16"),
                        default="f32")
    parser.add_argument("--variant", choices=VARIANTS + (BF16_WEIGHTS,),
                        default="eager")
    parser.add_argument("--foreach", action="store_true",
                        help="SGD over lists of parameters")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--warm-up", type=int, default=15)
    parser.add_argument("--seconds", type=float,
                        help="on the CPU: approximate duration of the measurement")
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args(command_line)

    device = torch.device(arguments.device)
    torch.manual_seed(1)
    configure(arguments.precision)
    shapes = {}
    for text in arguments.input:
        name, dims = text.split("=")
        shapes[name] = tuple(int(dim) for dim in dims.split(","))
    training = arguments.mode == "train"
    net = CaffeNet(parse(arguments.net.read_text()),
                   "TRAIN" if training else "TEST", shapes).to(device)
    inputs = {name: torch.randint(0, 2, shape, device=device)
              if is_label(name) else torch.rand(shape, device=device)
              for name, shape in shapes.items()}
    step = make_step(net, inputs, training, arguments.precision,
                     arguments.variant, arguments.foreach, device)
    if arguments.seconds and device.type != "cuda":
        return stopwatch.summary(torch.__version__,
                                 stopwatch.time_for(step, arguments.seconds))
    for _ in range(arguments.warm_up):
        step()
    if device.type == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    seconds = time_steps(step, arguments.steps, device)
    return {"torch": torch.__version__,
            "median": statistics.median(seconds), "least": min(seconds),
            "steps": len(seconds),
            "peak_bytes": torch.cuda.max_memory_reserved()
            if device.type == "cuda" else None}


if __name__ == "__main__":
    main()

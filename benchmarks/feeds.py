"""Creates the files that data.py reads, and parses the logs of its programs."""

import json
import re
from pathlib import Path

from process import MeasureError, run

HERE = Path(__file__).resolve().parent
CASES = {"raw": "LMDB, raw 3x256x256, crop 227, mirror",
         "jpeg": "LMDB, JPEG 256x256, crop 227, mirror",
         "list": "ImageData, JPEG 320x240 to 256x256, crop 227, mirror"}
# Variants of the DataLoader.
FORMS = {"float": "float batches from workers",
         "byte": "byte batches, converted to float in the main process"}

TRANSFORM = """transform_param { crop_size: 227 mirror: true
    mean_value: 104 mean_value: 117 mean_value: 123 }"""
SOURCES = {
    "raw": 'type: "Data" data_param { source: "raw_lmdb" backend: LMDB batch_size: %d }',
    "jpeg": 'type: "Data" data_param { source: "jpeg_lmdb" backend: LMDB batch_size: %d }',
    "list": 'type: "ImageData" image_data_param { source: "list.txt" root_folder: "large/" '
            'new_height: 256 new_width: 256 shuffle: true batch_size: %d }'}

BATCH_TIME = re.compile(r"Average batch: (\S+) ms\.")
PASS_TIME = re.compile(r"Average Forward pass: (\S+) ms\.")


def seconds(pattern, log):
    """Returns the time that `pattern` finds in a log, converted from ms."""
    match = pattern.search(log)
    if not match:
        raise MeasureError("it printed no time")
    return float(match.group(1)) / 1e3


def batch_seconds(log):
    """Returns the seconds of a batch from the log of `brew-run time --feed`."""
    return seconds(BATCH_TIME, log)


def pass_seconds(log):
    """Returns the seconds of a forward pass from the log of `caffe time`."""
    return seconds(PASS_TIME, log)


def make(options):
    """Writes the nets. Creates the images, their list and the databases too, unless the work
    folder has them with the same number of images."""
    work = options.work_dir.resolve()
    settings = {"images": options.images}
    stamp = work / "made.json"
    if not stamp.exists() or json.loads(stamp.read_text()) != settings:
        run([options.python, HERE / "peers/pictures.py", options.images], 1, work)
        data = options.bin.resolve() / "brew-data"
        for name, flags in (("raw_lmdb", []), ("jpeg_lmdb", ["--encoded"])):
            run([data, "imageset", "small/", "list.txt", name, "--overwrite",
                 *flags], options.threads, work)
        stamp.write_text(json.dumps(settings))
    for case, source in SOURCES.items():
        (work / (case + ".prototxt")).write_text(
            'layer { name: "data" top: "data" top: "label"\n  %s\n  %s }\n'
            % (source % options.batch, TRANSFORM))

"""Tests names of pycaffe's modules that public scripts use beside nets and solvers: module-level names, graphs
for notebooks, additions of LRCN's branch, and selective search."""
import importlib
import os
import sys
import unittest
from unittest import mock

import caffe
import numpy as np
from caffe import draw, layers as L, net_spec
from caffe.proto import caffe_pb2
from google.protobuf import text_format

from common import DEPLOY, TRAIN, Case, fill, random_array

# Names of BVLC's modules, without modules that they import and names of packages that may be missing.
NAMES = {
    "caffe": """Net SGDSolver NesterovSolver AdaGradSolver RMSPropSolver AdaDeltaSolver AdamSolver NCCL Timer init_log log
        set_mode_cpu set_mode_gpu set_device Layer get_solver layer_type_list set_random_seed solver_count
        set_solver_count solver_rank set_solver_rank set_multiprocess has_nccl __version__ TRAIN TEST Classifier
        Detector io layers params NetSpec to_proto pycaffe net_spec proto""",
    "caffe._caffe": """__version__ init_log log has_nccl set_mode_cpu set_mode_gpu set_random_seed set_device solver_count
        set_solver_count solver_rank set_solver_rank set_multiprocess layer_type_list Net Blob Layer SolverParameter
        LayerParameter Solver SGDSolver NesterovSolver AdaGradSolver RMSPropSolver AdaDeltaSolver AdamSolver get_solver
        BlobVec RawBlobVec LayerVec StringVec IntVec DtypeVec NetVec BoolVec NCCL Timer""",
    "caffe.pycaffe": """Net SGDSolver NesterovSolver AdaGradSolver RMSPropSolver AdaDeltaSolver AdamSolver NCCL Timer
        OrderedDict np""",
    "caffe.io": """blobproto_to_array array_to_blobproto arraylist_to_blobprotovector_str blobprotovector_str_to_arraylist
        array_to_datum datum_to_array Transformer load_image resize_image oversample np caffe_pb2""",
    "caffe.net_spec": """OrderedDict Counter caffe_pb2 param_name_dict to_proto assign_proto Top Function NetSpec Layers
        Parameters _param_names layers params""",
    "caffe.draw": """caffe_pb2 LAYER_STYLE_DEFAULT NEURON_LAYER_STYLE BLOB_STYLE get_pooling_types_dict get_edge_label
        get_layer_lr_mult get_layer_label choose_color_by_layertype get_pydot_graph draw_net draw_net_to_file""",
    "caffe.coord_map": """np L PASS_THROUGH_LAYERS conv_params crop_params UndefinedMapException coord_map
        AxisMismatchException compose inverse coord_map_from_to crop""",
}


class Names(Case):
    def test_modules_have_the_names_of_pycaffe(self):
        for module, names in NAMES.items():
            loaded = importlib.import_module(module)
            self.assertEqual([name for name in names.split() if not hasattr(loaded, name)], [], module)

    def test_names_that_pycaffe_takes_from_its_extension(self):
        from caffe.pycaffe import SGDSolver, Timer
        self.assertIs(SGDSolver, caffe.SGDSolver)
        self.assertIs(Timer, caffe._caffe.Timer)
        self.assertEqual(caffe._caffe.__version__, caffe.__version__)
        with self.assertRaises(AttributeError):
            caffe.pycaffe.NoSuchName  # noqa: B018
        with self.assertRaises(AttributeError):
            caffe.io.NoSuchName  # noqa: B018

    def test_types_of_lists(self):
        net = caffe.Net(self.write(TRAIN), caffe.TEST)
        self.assertIsInstance(net.layers, caffe._caffe.LayerVec)
        self.assertIsInstance(net._layer_names, caffe._caffe.StringVec)
        self.assertEqual(net._layer_names[0], "data")
        for numbers in (net._inputs, net._outputs, net._top_ids(0), net._bottom_ids(1)):
            self.assertIsInstance(numbers, caffe._caffe.IntVec)
        self.assertIsInstance(net._blob_loss_weights, caffe._caffe.DtypeVec)
        self.assertEqual(sum(net._blob_loss_weights), 1)
        solver = caffe.get_solver(self.write("net: '%s' test_iter: 1 test_interval: 1 base_lr: 1 lr_policy: 'fixed' "
                                             "snapshot_prefix: 'x'" % self.path("net.prototxt"), "solver"))
        self.assertIsInstance(solver.test_nets, caffe._caffe.NetVec)
        self.assertIsInstance(solver.param, caffe._caffe.SolverParameter)

    def test_packages_that_io_imports(self):
        """caffe.io.skimage, resize and zoom are scikit-image's and SciPy's, loaded at their first use."""
        packages = {}
        for name in ("skimage", "skimage.io", "skimage.transform", "scipy", "scipy.ndimage"):
            packages[name] = mock.MagicMock()
        with mock.patch.dict(sys.modules, packages):
            self.assertIs(caffe.io.skimage, packages["skimage"])
            self.assertIs(caffe.io.resize, packages["skimage.transform"].resize)
            self.assertIs(caffe.io.zoom, packages["scipy.ndimage"].zoom)

    def test_their_functions_without_the_packages(self):
        missing = dict.fromkeys(("skimage", "skimage.io", "skimage.transform", "scipy", "scipy.ndimage"))
        with mock.patch.dict(sys.modules, missing):
            skimage, resize, zoom = caffe.io.skimage, caffe.io.resize, caffe.io.zoom
        self.close(skimage.img_as_float(np.uint8([0, 51, 255])), [0, 0.2, 1])
        self.close(skimage.img_as_float(np.uint16([65535])), [1])
        self.close(skimage.img_as_float(np.int8([-128, 127])), [-1, 1])
        self.assertEqual(skimage.img_as_float(np.array([True, False])).tolist(), [1, 0])
        self.assertEqual(skimage.img_as_ubyte(np.float32([-0.5, 0, 0.2, 1])).tolist(), [0, 0, 51, 255])
        with self.assertRaises(ValueError):
            skimage.img_as_ubyte(np.float32([2]))
        image = np.random.RandomState(0).randint(0, 256, (6, 8, 3)).astype(np.uint8)
        image[0, 0], image[0, 1] = 0, 255  # so that resize_image() does not stretch the values
        for shape in ((6, 8), (12, 16, 3), (3, 4)):
            self.close(resize(image, shape), caffe.io.resize_image(image / 255, shape[:2]))
        self.assertIs(skimage.transform.resize, resize)
        line = np.float64([0, 1, 4, 2])
        self.close(zoom(line, 7 / 4, order=1), [0, 0.5, 1, 2.5, 4, 3, 2])
        self.close(zoom(line, 7 / 4), [0, 0.125, 1, 2.875, 4, 3, 2])
        self.assertEqual(zoom(np.eye(2), (2, 1), order=0).shape, (4, 2))

    def test_files_of_images(self):
        """A module in place of Pillow's records what it is asked to open and save."""
        missing = {"skimage": None, "skimage.io": None}
        with mock.patch.dict(sys.modules, missing), mock.patch("caffe._images.Image") as image:
            caffe.io.skimage.io.imsave("a.png", np.float32([[0, 1]]))
            np.testing.assert_array_equal(image.fromarray.call_args[0][0], np.uint8([[0, 255]]))
            image.fromarray.return_value.save.assert_called_once_with("a.png")
            image.open.return_value.__enter__.return_value = np.uint8([[3, 4]]).view(ModeArray)
            np.testing.assert_array_equal(caffe.io.skimage.io.imread("b.png"), [[3, 4]])
        with mock.patch.dict(sys.modules, missing), mock.patch("caffe._images.Image", None):
            with self.assertRaisesRegex(RuntimeError, "caffe.io.skimage.io.imread needs the package Pillow"):
                caffe.io.skimage.io.imread("b.png")


class ModeArray(np.ndarray):
    """An array with an image's mode."""

    mode = "L"


class Specs(Case):
    def test_functions_make_messages(self):
        data = L.Input(shape=dict(dim=[1, 2]))
        conv = L.InnerProduct(data, num_output=3)
        loss = L.Silence(conv, ntop=0)
        layers, names, autonames = net_spec.OrderedDict(), {conv: "fc"}, net_spec.Counter()
        loss._to_proto(layers, names, autonames)
        self.assertEqual([(layer.name, layer.type, list(layer.bottom)) for layer in layers.values()],
                         [("Input1", "Input", []), ("fc", "InnerProduct", ["Input1"]), ("Silence1", "Silence", ["fc"])])
        self.assertEqual(conv.fn._get_name(names, autonames), "fc")
        self.assertEqual(data.fn._get_top_name(data, names, autonames), "Input1")
        self.assertEqual(conv.fn._get_name({}, autonames), "InnerProduct1")
        conv._to_proto(layers, names, autonames)
        self.assertEqual(len(layers), 3)


class Graphs(Case):
    def net(self):
        return text_format.Parse(DEPLOY, caffe_pb2.NetParameter())

    def test_graph_of_a_notebook(self):
        graph = draw.get_pydot_graph(self.net(), "LR")
        text = graph.to_string()
        self.assertEqual(text, graph.create_dot().decode())
        self.assertEqual(text.count("->"), 11)
        self.assertIn('label="4"', text)
        self.assertIn('fillcolor="#FF5050"', text)  # Convolution
        self.assertIn('fillcolor="#90EE90"', text)  # ReLU in place
        self.assertNotIn("label=\"4\"", draw.get_pydot_graph(self.net(), "LR", label_edges=False).to_string())
        graph.write_dot(self.path("net.dot"))
        with open(self.path("net.dot")) as file:
            self.assertEqual(file.read(), text)
        with mock.patch("shutil.which", lambda name: None), self.assertRaisesRegex(RuntimeError, "Graphviz"):
            graph.create_png()
        with self.assertRaisesRegex(AttributeError, "add_node"):
            graph.add_node  # noqa: B018

    def test_pictures_come_from_dot(self):
        """A program in place of Graphviz's dot prints its argument and copies the graph."""
        dot = self.write("#!/bin/sh\necho $1\ncat\n", "dot")
        import os
        os.chmod(dot, 0o755)
        with mock.patch("shutil.which", lambda name: dot):
            graph = draw.get_pydot_graph(self.net(), "TB", phase=caffe.TEST)
            self.assertEqual(graph.create_png().decode(), "-Tpng\n" + graph.to_string())
            self.assertEqual(graph.create(format="svg").decode(), "-Tsvg\n" + graph.to_string())
            draw.draw_net_to_file(self.net(), self.path("net.pdf"), "TB", caffe.TEST)
        with open(self.path("net.pdf")) as file:
            self.assertEqual(file.read(), "-Tpdf\n" + graph.to_string())

    def test_labels(self):
        net = text_format.Parse("""
            layer { name: 'd' type: 'Data' top: 'd' data_param { batch_size: 7 } }
            layer { name: 'c' type: 'Convolution' bottom: 'd' top: 'c' param { lr_mult: 2 }
              convolution_param { num_output: 5 kernel_size: 3 pad: 1 } }
            layer { name: 'p' type: 'Pooling' bottom: 'c' top: 'p' pooling_param { pool: AVE kernel_size: 2 stride: 2 } }
            """, caffe_pb2.NetParameter())
        data, conv, pool = net.layer
        self.assertEqual([draw.get_edge_label(layer) for layer in net.layer], ["Batch 7", "5", '""'])
        self.assertEqual(draw.get_layer_lr_mult(conv), (2, 1))
        with self.assertRaises(ValueError):
            draw.get_layer_lr_mult(pool)
        self.assertEqual(draw.get_layer_label(conv, "TB", display_lrm=True),
                         '"c (Convolution) kernel size: 3 stride: 1 pad: 1 lr mult: 2.0, 1.0"')
        self.assertEqual(draw.get_layer_label(pool, "LR"),
                         '"p\\n(Pooling AVE)\\nkernel size: 2\\nstride: 2\\npad: 0"')
        self.assertEqual(draw.choose_color_by_layertype("Pooling"), "#FF9900")


class Flow(Case):
    """Additions of LRCN's branch for optical flow."""

    def test_flip_image(self):
        image = random_array(1, 3, 4, 2)
        original = image.copy()
        np.testing.assert_array_equal(caffe.io.flip_image(image), image[:, ::-1])
        flipped = caffe.io.flip_image(image, 1, True)
        self.close(flipped[:, :, 0], 1 - image[:, ::-1, 0])
        np.testing.assert_array_equal(flipped[:, :, 1], image[:, ::-1, 1])
        np.testing.assert_array_equal(image, original)

    def test_oversample(self):
        image = np.abs(random_array(1, 6, 7, 3))
        plain, flow = caffe.io.oversample([image], (4, 5)), caffe.io.oversample([image], (4, 5), flow=True)
        np.testing.assert_array_equal(flow[:5], plain[:5])
        self.close(flow[5:, :, :, 0], 1 - plain[5:, :, :, 0])
        np.testing.assert_array_equal(flow[5:, :, :, 1:], plain[5:, :, :, 1:])

    def test_set_is_flow(self):
        transformer = caffe.io.Transformer({"data": (1, 3, 4, 5)})
        image = np.abs(random_array(1, 4, 5, 3))
        before = transformer.preprocess("data", image)
        transformer.set_is_flow("data", True)
        self.assertEqual(transformer.is_flow, {"data": True})
        np.testing.assert_array_equal(transformer.preprocess("data", image), before)
        with self.assertRaises(Exception):
            transformer.set_is_flow("other", True)


class SelectiveSearch(Case):
    def test_windows_come_from_the_module_of_the_user(self):
        net = caffe.Net(self.write(DEPLOY), caffe.TEST)
        fill(net)
        net.save(self.path("w.caffemodel"))
        detector = caffe.Detector(self.path("net.prototxt"), self.path("w.caffemodel"))
        image = np.abs(random_array(1, 20, 24, 3))
        search = mock.MagicMock()
        windows = [np.float64([[0, 0, 8, 8], [3, 2, 17, 20]]), np.uint16([[1, 2, 12, 13]])]
        search.get_windows.return_value = windows
        with mock.patch.dict(sys.modules, {"selective_search_ijcv_with_python": search}), \
                mock.patch.object(caffe.io, "load_image", lambda name: image * (2 if name == "b" else 1)):
            found = detector.detect_selective_search(iter(["a", "b"]))
            expected = detector.detect_windows([("a", [[0, 0, 8, 8], [3, 2, 17, 20]]), ("b", [[1, 2, 12, 13]])])
        search.get_windows.assert_called_once_with(["a", "b"], cmd="selective_search_rcnn")
        self.assertEqual([d["filename"] for d in found], ["a", "a", "b"])
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one["prediction"], other["prediction"])
        detector.blobs["data"].data[0] = image[:8, :8].transpose(2, 0, 1)
        self.close(found[0]["prediction"], detector.forward()["prob"][0])

    def test_missing_module(self):
        net = caffe.Net(self.write(DEPLOY), caffe.TEST)
        net.save(self.path("w.caffemodel"))
        detector = caffe.Detector(self.path("net.prototxt"), self.path("w.caffemodel"))
        with self.assertRaisesRegex(ImportError, "selective_search_ijcv_with_python"):
            detector.detect_selective_search(["a"])


if __name__ == "__main__":
    unittest.main()

"""layer_type_list and Timer of the module caffe."""
import time


# Caffe's layer types. The compiler also supports types of Caffe's forks.
_CAFFE = """AbsVal Accuracy ArgMax BNLL BatchNorm BatchReindex Bias Clip Concat ContrastiveLoss Convolution Crop Data
Deconvolution Dropout DummyData ELU Eltwise Embed EuclideanLoss Exp Filter Flatten HDF5Data HDF5Output HingeLoss
Im2col ImageData InfogainLoss InnerProduct Input LRN LSTM LSTMUnit Log MVN MemoryData MultinomialLogisticLoss PReLU
Parameter Pooling Power Python RNN ReLU Reduction Reshape SPP Scale Sigmoid SigmoidCrossEntropyLoss Silence Slice
Softmax SoftmaxWithLoss Split Swish TanH Threshold Tile WindowData""".split()


def layer_type_list():
    """Returns the layer types of Caffe 1.0."""
    return sorted(_CAFFE)


class Timer:
    """Measures the milliseconds between start() and stop()."""

    def __init__(self):
        self._begin = self._end = None

    def start(self):
        self._begin, self._end = time.perf_counter(), None

    def stop(self):
        self._end = time.perf_counter()

    @property
    def ms(self):
        if self._begin is None:
            return 0.0
        return ((self._end or time.perf_counter()) - self._begin) * 1e3

//===- Update.cpp - Update rules for pycaffe ------------------------------===//
//
// Caffe's update rules in one pass over each parameter: they replace the
// gradient by the update, as Caffe does, and subtract it from the parameter.
// Compiled without contraction of a * b + c, so that all machines agree.
//
//===----------------------------------------------------------------------===//
#include "ExitGuard.h"
#include "Module.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Floats = nb::ndarray<float, nb::c_contig, nb::device::cpu>;

/// Computes the gradient for all rules: the mean over iter_size passes, with
/// weight decay.
struct Gradient {
  float scale, l2, l1;

  float operator()(float diff, float data) const {
    diff *= scale;
    if (l2 != 0)
      diff += l2 * data;
    if (l1 != 0)
      diff += l1 * static_cast<float>((data > 0) - (data < 0));
    return diff;
  }
};

/// Applies a rule to each element: replaces `diff` by the update and subtracts
/// the update from `data`. `rule(gradient, history1, history2)` returns the
/// update and modifies the histories. `history2` may be null.
template <typename Rule>
void updateElements(std::size_t count, float *__restrict data,
                    float *__restrict diff, float *__restrict history1,
                    float *__restrict history2, Gradient gradient, Rule rule) {
  float unused = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float change = rule(gradient(diff[i], data[i]), history1[i],
                              history2 ? history2[i] : unused);
    diff[i] = change;
    data[i] -= change;
  }
}

/// Updates a parameter by the rule of a kind of solver. `rate`: learning rate
/// times the parameter's multiplier and, for Adam, the bias correction.
/// `momentum`: rms_decay for RMSProp. `second`: momentum2 of Adam.
void applyUpdate(const std::string &kind, Floats data, Floats diff,
                 std::vector<Floats> history, float scale, float l2, float l1,
                 float rate, float momentum, float second, float delta) {
  const std::size_t count = data.size();
  const std::size_t slots = kind == "AdaDelta" || kind == "Adam" ? 2 : 1;
  bool sizesMatch = diff.size() == count && history.size() == slots;
  for (const Floats &array : history)
    sizesMatch = sizesMatch && array.size() == count;
  if (!sizesMatch)
    throw std::invalid_argument(
        "a parameter, its gradient and its history have different sizes");
  float *x = data.data(), *d = diff.data(), *h = history[0].data();
  float *g = slots == 2 ? history[1].data() : nullptr;
  const Gradient gradient{scale, l2, l1};
  const brew::python::GilRelease released;
  if (kind == "SGD")
    updateElements(count, x, d, h, g, gradient, [=](float d, float &h, float) {
      h = momentum * h + rate * d;
      return h;
    });
  else if (kind == "Nesterov")
    updateElements(count, x, d, h, g, gradient, [=](float d, float &h, float) {
      const float before = momentum * h;
      h = before + rate * d;
      return (1 + momentum) * h - before;
    });
  else if (kind == "AdaGrad")
    updateElements(count, x, d, h, g, gradient, [=](float d, float &h, float) {
      h += d * d;
      return d * (rate / (std::sqrt(h) + delta));
    });
  else if (kind == "RMSProp")
    updateElements(count, x, d, h, g, gradient, [=](float d, float &h, float) {
      h = h * momentum + (1 - momentum) * d * d;
      return d * (rate / (std::sqrt(h) + delta));
    });
  else if (kind == "AdaDelta")
    updateElements(
        count, x, d, h, g, gradient, [=](float d, float &h, float &u) {
          h = h * momentum + (1 - momentum) * d * d;
          const float change = d * std::sqrt((delta + u) / (delta + h));
          u = u * momentum + (1 - momentum) * change * change;
          return change * rate;
        });
  else if (kind == "Adam")
    updateElements(count, x, d, h, g, gradient,
                   [=](float d, float &m, float &s) {
                     m = m * momentum + (1 - momentum) * d;
                     s = s * second + (1 - second) * d * d;
                     return rate * m / (std::sqrt(s) + delta);
                   });
  else
    throw std::invalid_argument("there is no solver " + kind);
}

} // namespace

void brew::python::bindUpdate(nb::module_ &module) {
  module.def("update", &applyUpdate, "kind"_a, "data"_a.noconvert(),
             "diff"_a.noconvert(), "history"_a.noconvert(), "scale"_a, "l2"_a,
             "l1"_a, "rate"_a, "momentum"_a, "second"_a, "delta"_a);
}

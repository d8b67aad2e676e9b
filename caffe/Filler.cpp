//===- Filler.cpp - Initial values of parameters and dummy data -----------===//

#include "caffe/Filler.h"

#include "support/Error.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cmath>

namespace brew::caffe {
namespace {

/// Replaces each of `count` values by offset + factor * value.
void scale(double *values, std::int64_t count, double offset, double factor) {
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = offset + factor * values[i];
}

} // namespace

Filler::Filler(const caffe::FillerParameter &parameter,
               std::vector<std::int64_t> blobShape, RandomStream randomStream,
               const std::string &subject)
    : shape(std::move(blobShape)), stream(randomStream) {
  for (std::int64_t dim : shape)
    elements *= dim;

  const std::string &type = parameter.type();
  auto refuse = [&](const std::string &problem) {
    throw badInput(subject + ": filler '" + type + "' " + problem);
  };
  const bool needsRows = type == "xavier" || type == "msra" ||
                         type == "positive_unitball" ||
                         (type == "gaussian" && parameter.sparse() >= 0);
  if (needsRows && (shape.empty() || shape[0] == 0))
    refuse("needs a blob with at least one dimension");
  if (type != "gaussian" && parameter.sparse() != -1)
    refuse("does not support 'sparse'; only 'gaussian' does");

  if (type == "constant") {
    first = parameter.value();
  } else if (type == "uniform") {
    kind = Kind::Uniform;
    first = parameter.min();
    second = parameter.max();
    if (!(first <= second))
      refuse("has min above max");
  } else if (type == "gaussian") {
    kind = Kind::Gaussian;
    first = parameter.mean();
    second = parameter.std();
    if (parameter.sparse() < -1)
      refuse("has a negative 'sparse'");
    if (parameter.sparse() >= 0)
      keepProbability = double(parameter.sparse()) / double(shape[0]);
    if (keepProbability > 1)
      refuse("has 'sparse' above the number of outputs, " +
             std::to_string(shape[0]));
  } else if (type == "positive_unitball") {
    kind = Kind::UnitBall;
  } else if (type == "xavier") {
    kind = Kind::Uniform;
    second = std::sqrt(3.0 / fan(parameter));
    first = -second;
  } else if (type == "msra") {
    kind = Kind::Gaussian;
    second = std::sqrt(2.0 / fan(parameter));
  } else if (type == "bilinear") {
    kind = Kind::Bilinear;
    if (shape.size() != 4)
      refuse("needs a blob with four dimensions");
    if (shape[2] != shape[3])
      refuse("needs a square kernel");
  } else if (type == "diagonal") {
    kind = Kind::Diagonal;
    first = parameter.value();
    diagonal.assign(parameter.diagonal().begin(), parameter.diagonal().end());
    const std::size_t rank = shape.size();
    if (rank < 2 || shape[rank - 1] != shape[rank - 2] ||
        (diagonal.size() != 1 &&
         diagonal.size() != static_cast<std::size_t>(shape[rank - 1])))
      refuse("needs a square matrix, and one number for its diagonal or one "
             "for each element of it");
  } else {
    const std::vector<std::string> knownTypes = {
        "constant", "uniform", "gaussian", "positive_unitball",
        "xavier",   "msra",    "bilinear"};
    throw badInput(subject + ": unknown filler type '" + type + "'" +
                   didYouMean(type, knownTypes));
  }
  begin(0);
}

double Filler::fan(const caffe::FillerParameter &parameter) const {
  const double fanIn = double(elements / shape[0]);
  const double fanOut = shape.size() > 1 && shape[1]
                            ? double(elements / shape[1])
                            : double(elements);
  switch (parameter.variance_norm()) {
  case caffe::FillerParameter::FAN_OUT:
    return fanOut;
  case caffe::FillerParameter::AVERAGE:
    return (fanIn + fanOut) / 2;
  default:
    return fanIn;
  }
}

void Filler::begin(std::uint64_t counter) {
  drawBase = counter * static_cast<std::uint64_t>(elements);
  if (kind != Kind::UnitBall)
    return;
  const std::int64_t rowSize = elements / shape[0];
  rowSums.assign(static_cast<std::size_t>(shape[0]), 0.0);
  double chunk[kChunk];
  for (std::int64_t from = 0; from < elements; from += kChunk) {
    const std::int64_t count = std::min(kChunk, elements - from);
    stream.fillUniform(streamPosition(from), static_cast<std::size_t>(count),
                       chunk);
    for (std::int64_t i = 0; i < count; ++i)
      rowSums[(from + i) / rowSize] += chunk[i];
  }
}

void Filler::fillChunk(std::int64_t from, std::int64_t count,
                       double *out) const {
  const std::uint64_t position = streamPosition(from);
  const auto size = static_cast<std::size_t>(count);
  switch (kind) {
  case Kind::Constant:
    std::fill_n(out, size, first);
    break;
  case Kind::Uniform:
    stream.fillUniform(position, size, out);
    scale(out, count, first, second - first);
    break;
  case Kind::Gaussian:
    stream.fillGaussian(position, size, out);
    scale(out, count, first, second);
    if (keepProbability < 1)
      applyMask(from, count, out);
    break;
  case Kind::UnitBall: {
    stream.fillUniform(position, size, out);
    const std::int64_t rowSize = elements / shape[0];
    for (std::int64_t i = 0; i < count; ++i)
      out[i] /= rowSums[(from + i) / rowSize];
    break;
  }
  case Kind::Diagonal: {
    const std::int64_t size = shape.back();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = (from + i) / size % size;
      const bool isDiagonal = (from + i) % size == row;
      out[i] = isDiagonal ? diagonal[diagonal.size() > 1 ? row : 0] : first;
    }
    break;
  }
  case Kind::Bilinear:
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = bilinear(from + i);
    break;
  }
}

void Filler::applyMask(std::int64_t from, std::int64_t count,
                       double *out) const {
  // The mask of the element at position p is drawn at ~p, after all values, so
  // that it is independent of the value that it selects. Masks are therefore
  // in reverse order.
  double masks[kChunk];
  const std::int64_t last = count - 1;
  stream.fillUniform(~streamPosition(from + last),
                     static_cast<std::size_t>(count), masks);
  for (std::int64_t i = 0; i < count; ++i)
    if (!(masks[last - i] < keepProbability))
      out[i] = 0;
}

double Filler::bilinear(std::int64_t index) const {
  const std::int64_t width = shape[3];
  const double factor = std::ceil(width / 2.0);
  const double center = (width - 1) / (2.0 * factor);
  auto weight = [&](std::int64_t i) {
    return 1 - std::fabs(double(i) / factor - center);
  };
  return weight(index % width) * weight(index / width % shape[2]);
}

} // namespace brew::caffe

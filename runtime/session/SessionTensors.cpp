//===- SessionTensors.cpp - Access to tensors by name ---------------------===//

#include "runtime/session/Session.h"

#include "caffe/weights/BufferLayout.h"
#include "plan/Contract.h"
#include "runtime/executor/ItemCounts.h"
#include "support/Error.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace brew::runtime {
namespace {

/// Returns whether `named` is a parameter's gradient, LAYER/INDEX. Comparing
/// buffers is not sufficient: a blob's gradient may use the same buffer (for a
/// bias as large as its bottom).
bool isParameterGradient(const plan::Manifest &manifest,
                         const plan::NamedBuffer &named) {
  for (const plan::Parameter &parameter : manifest.parameters())
    if (parameter.has_gradient_buffer_index() &&
        parameter.gradient_buffer_index() == named.buffer_index() &&
        parameter.layer() + "/" + std::to_string(parameter.index()) ==
            named.name())
      return true;
  return false;
}

std::string nameText(const TensorName &name) {
  return "'" + name.name + "'" +
         (name.kind == TensorKind::Parameter ||
                  name.kind == TensorKind::ParameterGradient ||
                  name.kind == TensorKind::SolverState
              ? ", blob " + std::to_string(name.index)
              : "");
}

const caffe::LayerBlob &findBlob(const Parameters &parameters,
                                 const TensorName &name) {
  std::vector<std::string> known;
  for (const caffe::LayerBlobs &layer : parameters.layers()) {
    if (layer.name != name.name) {
      known.push_back(layer.name);
      continue;
    }
    if (name.index < 0 || name.index >= static_cast<int>(layer.blobs.size()) ||
        !layer.blobs[static_cast<std::size_t>(name.index)].parameter)
      throw usageError("layer '" + name.name + "' has no parameter " +
                       std::to_string(name.index));
    return layer.blobs[static_cast<std::size_t>(name.index)];
  }
  throw usageError("the plan has no layer '" + name.name + "' with parameters" +
                   didYouMean(name.name, known));
}

/// Truncates and clamps to the range of 32-bit integers. Returns 0 for NaN.
std::int32_t toInteger(double value) {
  if (std::isnan(value))
    return 0;
  constexpr double minimum = std::numeric_limits<std::int32_t>::min();
  constexpr double maximum = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(
      std::clamp(std::trunc(value), minimum, maximum));
}

void checkCount(const TensorName &name, const std::vector<std::int64_t> &dims,
                std::int64_t count) {
  if (count != caffe::product(dims))
    throw usageError(nameText(name) + " has " +
                     std::to_string(caffe::product(dims)) + " values (" +
                     caffe::shapeText(dims) + "), not " +
                     std::to_string(count));
}

} // namespace

std::vector<TensorName> Session::names(TensorKind kind, int program) const {
  std::vector<TensorName> result;
  auto addAll = [&](const auto &list) {
    for (const plan::NamedBuffer &named : list)
      if (kind != TensorKind::BlobGradient ||
          !isParameterGradient(manifest(), named))
        result.push_back({kind, named.name(), program, 0, 0});
  };
  if (kind == TensorKind::Blob)
    addAll(requireProgram(program).blobs());
  else if (kind == TensorKind::BlobGradient)
    addAll(requireProgram(program).blob_gradients());
  else if (kind == TensorKind::OutputGradient)
    addAll(requireProgram(program).output_gradients());
  else if (kind == TensorKind::PersistentState)
    addAll(manifest().persistent());
  else
    for (const caffe::LayerBlobs &layer : params.layers())
      for (std::size_t i = 0; i < layer.blobs.size(); ++i) {
        const plan::Parameter *parameter = layer.blobs[i].parameter;
        if (!parameter)
          continue;
        TensorName name{kind, layer.name, 0, static_cast<int>(i), 0};
        if (kind == TensorKind::Parameter ||
            (kind == TensorKind::ParameterGradient &&
             parameter->has_gradient_buffer_index()))
          result.push_back(name);
        for (; kind == TensorKind::SolverState &&
               name.slot < parameter->state_buffer_indices_size();
             ++name.slot)
          result.push_back(name);
      }
  return result;
}

Tensor Session::makeTensor(std::uint32_t index,
                           std::vector<std::int64_t> shape) const {
  const plan::Buffer &buffer = manifest().buffers(static_cast<int>(index));
  Tensor tensor;
  tensor.buffer = index;
  tensor.type = buffer.type();
  tensor.shape = std::move(shape);
  tensor.dims = caffe::toVector(buffer.dims());
  tensor.strides = caffe::toVector(buffer.strides());
  tensor.data = exec.hostData(index);
  tensor.onDevice = !tensor.data;
  if (tensor.onDevice) {
    exec.synchronize();
    tensor.data = exec.deviceData(index);
  }
  return tensor;
}

Tensor Session::find(const TensorName &name) const {
  auto findIn = [&](const auto &list) -> const plan::NamedBuffer * {
    for (const plan::NamedBuffer &named : list)
      if (named.name() == name.name)
        return &named;
    return nullptr;
  };
  switch (name.kind) {
  case TensorKind::Blob:
  case TensorKind::BlobGradient: {
    const plan::Program &program = requireProgram(name.program);
    const bool gradient = name.kind == TensorKind::BlobGradient;
    const plan::NamedBuffer *named =
        gradient ? findIn(program.blob_gradients()) : findIn(program.blobs());
    if (!named) {
      std::vector<std::string> known;
      for (const TensorName &candidate : names(name.kind, name.program))
        known.push_back(candidate.name);
      throw usageError("the program '" + program.name() + "' has no readable " +
                       (gradient ? "gradient of a" : "") +
                       std::string("blob '") + name.name + "'" +
                       didYouMean(name.name, known) +
                       (gradient ? "; compile the net with brewc --gradients"
                                 : "; pin it with brewc --keep"));
    }
    const auto &inputs = programInputs[static_cast<std::size_t>(name.program)];
    if (inputs && !gradient)
      if (auto shape = inputs->data().shapeOfImage(named->buffer_index()))
        return makeTensor(named->buffer_index(), *shape);
    return makeTensor(named->buffer_index(),
                      dimsAfterRun(manifest(), program, exec, name.name,
                                   named->buffer_index()));
  }
  case TensorKind::OutputGradient: {
    const plan::Program &program = requireProgram(name.program);
    const plan::NamedBuffer *named = findIn(program.output_gradients());
    if (!named)
      throw usageError("the program '" + program.name() +
                       "' takes no gradient of blob '" + name.name +
                       "'; compile the net with brewc --output-gradient " +
                       name.name);
    const plan::Buffer &buffer =
        manifest().buffers(static_cast<int>(named->buffer_index()));
    return makeTensor(named->buffer_index(), caffe::toVector(buffer.dims()));
  }
  case TensorKind::PersistentState: {
    const plan::NamedBuffer *named = findIn(manifest().persistent());
    if (!named)
      throw usageError("the plan has no persistent state '" + name.name + "'");
    return makeTensor(
        named->buffer_index(),
        caffe::toVector(manifest()
                            .buffers(static_cast<int>(named->buffer_index()))
                            .dims()));
  }
  case TensorKind::Parameter: {
    const caffe::LayerBlob &blob = findBlob(params, name);
    return makeTensor(blob.parameter->buffer_index(), blob.dims);
  }
  case TensorKind::ParameterGradient: {
    const caffe::LayerBlob &blob = findBlob(params, name);
    if (!blob.parameter->has_gradient_buffer_index())
      throw usageError("parameter " + nameText(name) +
                       ", is not trained: it has no gradient");
    return makeTensor(blob.parameter->gradient_buffer_index(), blob.dims);
  }
  case TensorKind::SolverState: {
    const caffe::LayerBlob &blob = findBlob(params, name);
    if (name.slot < 0 ||
        name.slot >= blob.parameter->state_buffer_indices_size())
      throw usageError(
          "the solver keeps " +
          std::to_string(blob.parameter->state_buffer_indices_size()) +
          " states of parameter " + nameText(name));
    return makeTensor(blob.parameter->state_buffer_indices(name.slot),
                      blob.dims);
  }
  }
  throw Error(ExitStatus::Bug, "a tensor of unknown kind was requested");
}

template <typename Value>
void Session::readValues(const TensorName &name, Value *values,
                         std::int64_t count) const {
  const Tensor tensor = find(name);
  checkCount(name, tensor.shape, count);
  const plan::Buffer &buffer =
      manifest().buffers(static_cast<int>(tensor.buffer));
  // The valid values of a blob of dynamic shape come first.
  const bool isComplete = plan::elementCount(buffer) == count;
  exec.read(tensor.buffer, [&](const std::byte *bytes) {
    using Loaded = std::conditional_t<std::is_integral_v<Value>, double, Value>;
    if constexpr (std::is_same_v<Loaded, Value>)
      if (isComplete)
        return caffe::load(buffer, bytes, values);
    if constexpr (std::is_same_v<Value, float>)
      if (caffe::isDenseRowMajor(buffer, plan::F32)) {
        std::copy_n(reinterpret_cast<const float *>(bytes), count, values);
        return;
      }
    std::vector<Loaded> bufferValues(
        static_cast<std::size_t>(plan::elementCount(buffer)));
    caffe::load(buffer, bytes, bufferValues.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const Loaded value = bufferValues[static_cast<std::size_t>(i)];
      if constexpr (std::is_integral_v<Value>)
        values[i] = toInteger(value);
      else
        values[i] = value;
    }
  });
}

template <typename Value>
void Session::writeValues(const TensorName &name, const Value *values,
                          std::int64_t count) {
  const Tensor tensor = find(name);
  const plan::Buffer &buffer =
      manifest().buffers(static_cast<int>(tensor.buffer));
  checkCount(name, tensor.dims, count);
  if (name.kind == TensorKind::Parameter)
    providedWeights.add(tensor.buffer);
  exec.overwrite(tensor.buffer, [&](std::byte *bytes) {
    if constexpr (std::is_integral_v<Value>) {
      const std::vector<double> exact(values, values + count);
      caffe::store(buffer, exact.data(), bytes);
    } else {
      caffe::store(buffer, values, bytes);
    }
  });
}

void Session::bindMemory(const std::vector<Binding> &bindings) {
  MemoryBindings buffers;
  for (const auto &[name, memory, size] : bindings) {
    const Tensor tensor = find(name);
    const plan::Buffer &buffer =
        manifest().buffers(static_cast<int>(tensor.buffer));
    if (memory && size != buffer.size())
      throw usageError(nameText(name) + " has " +
                       std::to_string(buffer.size()) +
                       " bytes, but the memory has " + std::to_string(size));
    if (reinterpret_cast<std::uintptr_t>(memory) % plan::kAlignment != 0)
      throw usageError("memory for " + nameText(name) + " must be aligned to " +
                       std::to_string(plan::kAlignment) + " bytes");
    const auto [entry, isNew] =
        buffers.emplace(tensor.buffer, static_cast<std::byte *>(memory));
    if (!isNew && entry->second != memory)
      throw usageError(nameText(name) +
                       " is another name of a tensor, and cannot be in other "
                       "memory");
  }
  exec.bindMemory(buffers);
}

void Session::read(const TensorName &name, float *values,
                   std::int64_t count) const {
  readValues(name, values, count);
}
void Session::read(const TensorName &name, double *values,
                   std::int64_t count) const {
  readValues(name, values, count);
}
void Session::read(const TensorName &name, std::int32_t *values,
                   std::int64_t count) const {
  readValues(name, values, count);
}
void Session::write(const TensorName &name, const float *values,
                    std::int64_t count) {
  writeValues(name, values, count);
}
void Session::write(const TensorName &name, const double *values,
                    std::int64_t count) {
  writeValues(name, values, count);
}
void Session::write(const TensorName &name, const std::int32_t *values,
                    std::int64_t count) {
  writeValues(name, values, count);
}

} // namespace brew::runtime

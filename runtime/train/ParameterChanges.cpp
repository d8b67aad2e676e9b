//===- ParameterChanges.cpp - Changes of parameters by hooks --------------===//

#include "runtime/train/ParameterChanges.h"

#include "caffe/FillerText.h"
#include "caffe/weights/BufferLayout.h"
#include "runtime/session/TensorPattern.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

/// Calls `use` with the vector of the blob's values, of float or double.
template <typename Use> void withValues(formats::Blob &blob, Use &&use) {
  if (blob.isDouble())
    use(blob.doubles);
  else
    use(blob.floats);
}

/// Changes the values of one tensor.
void changeBlob(formats::Blob &blob, const ParameterChange &change) {
  withValues(blob, [&](auto &values) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    if (change.kind == ParameterChange::ClipToRange) {
      // NaN stays NaN.
      for (Value &value : values)
        value = std::clamp(value, static_cast<Value>(change.low),
                           static_cast<Value>(change.high));
      return;
    }
    double factor = change.high;
    if (change.kind == ParameterChange::ClipToNorm) {
      double squares = 0;
      for (Value value : values)
        squares += double(value) * double(value);
      if (!(std::sqrt(squares) > change.high))
        return;
      factor = change.high / std::sqrt(squares);
    }
    for (Value &value : values)
      value = static_cast<Value>(value * factor);
  });
}

} // namespace

std::string ParameterChange::actionText() const {
  std::string quoted = "\"" + target + "\"";
  for (std::size_t comma = 0; (comma = quoted.find(',', comma)) != quoted.npos;
       comma += 4)
    quoted.replace(comma, 1, "\", \"");
  switch (kind) {
  case ClipToRange:
    return "clip " + quoted + " to " + shortestText(low) + " " +
           shortestText(high);
  case ClipToNorm:
    return "clip " + quoted + " to norm " + shortestText(high);
  case Scale:
    return "scale " + quoted + " by " + shortestText(high);
  case Freeze:
    return "freeze " + quoted;
  case Unfreeze:
    return "unfreeze " + quoted;
  case Reinitialise:
    return "reinitialise " + quoted +
           (filler.empty() ? "" : " with \"" + filler + "\"");
  case Load:
    break;
  }
  return "load " + quoted;
}

std::string SharedChanges::pack() const {
  nlohmann::json fields = {restore};
  for (const ParameterChange &change : changes)
    fields.push_back({int(change.kind), change.target, change.low, change.high,
                      change.filler, change.seed});
  std::string bytes;
  nlohmann::json::to_msgpack(fields, bytes);
  return bytes;
}

SharedChanges SharedChanges::unpack(const std::string &packed) {
  try {
    const nlohmann::json fields = nlohmann::json::from_msgpack(packed);
    SharedChanges result;
    fields.at(0).get_to(result.restore);
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const nlohmann::json &entry = fields[i];
      ParameterChange change;
      change.kind = static_cast<ParameterChange::Kind>(entry.at(0).get<int>());
      entry.at(1).get_to(change.target);
      entry.at(2).get_to(change.low);
      entry.at(3).get_to(change.high);
      entry.at(4).get_to(change.filler);
      entry.at(5).get_to(change.seed);
      result.changes.push_back(std::move(change));
    }
    return result;
  } catch (const nlohmann::json::exception &error) {
    throw Error(ExitStatus::Bug,
                std::string("changes of parameters cannot be read: ") +
                    error.what());
  }
}

void ParameterChanges::apply(const ParameterChange &change) {
  if (change.kind == ParameterChange::Load) {
    session.loadWeights({change.target}, {}, /*training=*/true);
  } else {
    for (const TensorName &name :
         parametersMatching(session.manifest(), change.target))
      applyTo(parameterOf(session.manifest(), name), change);
  }
  session.prepare();
  added.push_back(change);
}

void ParameterChanges::applyTo(const plan::Parameter &parameter,
                               const ParameterChange &change) {
  switch (change.kind) {
  case ParameterChange::Freeze:
    freeze(parameter);
    return;
  case ParameterChange::Unfreeze:
    unfreeze(parameter);
    return;
  case ParameterChange::Reinitialise:
    reinitialise(parameter, change);
    break;
  case ParameterChange::ClipToRange:
  case ParameterChange::ClipToNorm:
  case ParameterChange::Scale:
    changeValues(parameter, change);
    break;
  case ParameterChange::Load:
    break;
  }
}

std::vector<ParameterChange> ParameterChanges::take() {
  return std::exchange(added, {});
}

void ParameterChanges::reset() {
  frozen.clear();
  added.clear();
}

void ParameterChanges::changeValues(const plan::Parameter &parameter,
                                    const ParameterChange &change) {
  formats::Blob blob = session.parameters().read(
      parameter.buffer_index(), caffe::toVector(parameter.file_dims()));
  changeBlob(blob, change);
  session.parameters().write(parameter.buffer_index(), blob);
}

void ParameterChanges::reinitialise(const plan::Parameter &parameter,
                                    const ParameterChange &change) {
  if (change.filler.empty()) {
    session.parameters().fill(parameter, change.seed);
  } else {
    const caffe::FillerParameter filler = caffe::parseFiller(change.filler);
    session.parameters().fill(parameter, change.seed, &filler);
  }
  for (std::uint32_t buffer : parameter.state_buffer_indices()) {
    formats::Blob blob = session.parameters().read(
        buffer, caffe::toVector(parameter.file_dims()));
    withValues(
        blob, [](auto &values) { std::fill(values.begin(), values.end(), 0); });
    session.parameters().write(buffer, blob);
  }
}

void ParameterChanges::freeze(const plan::Parameter &parameter) {
  unfreeze(parameter);
  frozen.push_back({&parameter, {}});
}

void ParameterChanges::unfreeze(const plan::Parameter &parameter) {
  frozen.erase(std::remove_if(frozen.begin(), frozen.end(),
                              [&](const Frozen &entry) {
                                return entry.parameter == &parameter;
                              }),
               frozen.end());
}

void ParameterChanges::rememberFrozen() {
  for (Frozen &entry : frozen) {
    const std::vector<std::int64_t> dims =
        caffe::toVector(entry.parameter->file_dims());
    entry.values.clear();
    auto remember = [&](std::uint32_t buffer) {
      entry.values.emplace_back(buffer,
                                session.parameters().read(buffer, dims));
    };
    remember(entry.parameter->buffer_index());
    for (std::uint32_t buffer : entry.parameter->state_buffer_indices())
      remember(buffer);
  }
}

void ParameterChanges::restoreFrozen() {
  for (Frozen &entry : frozen) {
    for (const auto &[buffer, values] : entry.values)
      session.parameters().write(buffer, values);
    entry.values.clear();
  }
}

} // namespace brew::runtime

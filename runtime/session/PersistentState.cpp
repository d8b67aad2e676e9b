//===- PersistentState.cpp - State that a run leaves for the next one -----===//
#include "runtime/session/PersistentState.h"

#include "caffe/weights/BufferLayout.h"
#include "formats/Blob.h"
#include "formats/SolverStateFile.h"
#include "plan/Contract.h"
#include "support/Error.h"

namespace brew::runtime {
namespace {

namespace loss_scale = plan::loss_scale;

} // namespace

const plan::NamedBuffer *PersistentState::find(const std::string &name) const {
  for (const plan::NamedBuffer &persistent : executor.manifest().persistent())
    if (persistent.name() == name)
      return &persistent;
  return nullptr;
}

void PersistentState::write(const plan::NamedBuffer &persistent,
                            const std::vector<double> &values) {
  const plan::Buffer &buffer =
      executor.manifest().buffers(static_cast<int>(persistent.buffer_index()));
  executor.overwrite(persistent.buffer_index(), [&](std::byte *memory) {
    caffe::store(buffer, values.data(), memory);
  });
}

void PersistentState::save(caffe::SolverState &state) const {
  for (const plan::NamedBuffer &persistent : executor.manifest().persistent()) {
    const plan::Buffer &buffer = executor.manifest().buffers(
        static_cast<int>(persistent.buffer_index()));
    const auto count = static_cast<std::size_t>(plan::elementCount(buffer));
    formats::Blob blob;
    blob.dims = caffe::toVector(buffer.dims());
    executor.read(persistent.buffer_index(), [&](const std::byte *bytes) {
      if (buffer.type() == plan::F64) {
        blob.doubles.resize(count);
        caffe::load(buffer, bytes, blob.doubles.data());
      } else {
        blob.floats.resize(count);
        caffe::load(buffer, bytes, blob.floats.data());
      }
    });
    caffe::PersistentState &added = *state.add_brew_persistent();
    added.set_name(persistent.name());
    formats::fillBlobProto(blob, *added.mutable_values());
  }
  for (const auto &[name, values] : executor.hostLayers().states())
    formats::setNamedValues(state, name, values);
}

void PersistentState::restore(const caffe::SolverState &state,
                              const std::string &path) {
  HostLayers::States hostStates;
  for (const caffe::PersistentState &saved : state.brew_persistent())
    if (executor.hostLayers().hasState(saved.name()))
      hostStates.emplace(saved.name(),
                         formats::namedValues(state, saved.name(), path));
  executor.hostLayers().restore(hostStates);
  for (const caffe::PersistentState &saved : state.brew_persistent()) {
    const plan::NamedBuffer *persistent = find(saved.name());
    if (!persistent)
      continue;
    const std::string where = path + ": state '" + saved.name() + "'";
    caffe::BlobProto proto = saved.values();
    const formats::Blob blob = formats::takeBlob(proto, where);
    const plan::Buffer &buffer = executor.manifest().buffers(
        static_cast<int>(persistent->buffer_index()));
    if (blob.dims != caffe::toVector(buffer.dims())) {
      info(events, log::site::brew,
           "State '" + saved.name() + "' is not restored: it is " +
               caffe::shapeText(blob.dims) + " in " + path + " and " +
               caffe::shapeText(buffer.dims()) + " in the plan");
      continue;
    }
    const std::vector<double> values = blob.toDoubles();
    // A scale of 0 stands for the plan's scale, until the first update.
    if (saved.name() == loss_scale::kValue && values[0] != 0 &&
        !loss_scale::isValid(values[0]))
      throw badInput(where +
                     " is not a valid loss scale: " + log::number(values[0]));
    write(*persistent, values);
  }
}

bool PersistentState::hasLossScale() const {
  return find(loss_scale::kValue) && find(loss_scale::kGoodIterations);
}

void PersistentState::setLossScale(double scale) {
  if (!loss_scale::isValid(scale))
    throw Error(ExitStatus::Usage,
                "--loss-scale must be a power of two from 1 to 16777216");
  write(*find(loss_scale::kValue), {scale});
  write(*find(loss_scale::kGoodIterations), {0});
}

} // namespace brew::runtime

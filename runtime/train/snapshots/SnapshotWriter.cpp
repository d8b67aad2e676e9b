//===- SnapshotWriter.cpp - Background writer of snapshots ----------------===//

#include "runtime/train/snapshots/SnapshotWriter.h"

#include "formats/SnapshotChecksum.h"
#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/ThreadWithoutSignals.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>
#include <unistd.h>
#include <utility>

namespace brew::runtime {

SnapshotWriter::~SnapshotWriter() { finish(); }

void SnapshotWriter::leaveToParent() {
  if (forks == forkCount())
    return;
  if (thread.joinable()) // leak it: it does not exist in this process
    new std::thread(std::move(thread));
  done = true;
  failure = nullptr;
  forks = forkCount();
}

void SnapshotWriter::start(Job newJob) {
  wait();
  auto job = std::make_shared<Job>(std::move(newJob));
  auto body = [this, job] {
    try {
      write(*job);
    } catch (...) {
      failure = std::current_exception();
    }
    done = true;
  };
  done = false;
  try {
    thread = startThreadWithoutSignals(body);
  } catch (const Error &) {
    body();
  }
}

namespace {

bool areFinite(const formats::Blob &blob) {
  const auto isFinite = [](double value) { return std::isfinite(value); };
  return std::all_of(blob.floats.begin(), blob.floats.end(), isFinite) &&
         std::all_of(blob.doubles.begin(), blob.doubles.end(), isFinite);
}

/// Returns the first layer with a weight that is NaN or infinite; null if there
/// is none.
const formats::WeightLayer *nonFiniteLayer(const formats::Weights &weights) {
  for (const formats::WeightLayer &layer : weights.layers)
    if (!std::all_of(layer.blobs.begin(), layer.blobs.end(), areFinite))
      return &layer;
  return nullptr;
}

} // namespace

void SnapshotWriter::write(Job &job) {
  if (const formats::WeightLayer *layer = nonFiniteLayer(job.weights))
    events.post(event::LogLine{
        log::Severity::Warning, log::site::brew,
        "Weights of layer '" + layer->name + "' in " + job.files.weights +
            " are NaN or infinite: training has diverged (--check-nan finds "
            "the first one)"});
  formats::writeWeights(job.files.weights, job.weights, job.format);
  job.weights = {}; // the state may need as much memory
  caffe::SolverState &state = job.state.state;
  formats::addWeightChecksum(state, job.files.weights);
  const int iteration = state.iter();
  // Write the state after the weights, since it must never name incomplete
  // weights.
  formats::writeSolverState(job.files.state, std::move(job.state), job.format);
  events.post(
      event::SnapshotDone{iteration, job.files.weights, job.files.state});
  for (const SnapshotPair &files : job.outdated)
    removeOutdated(files);
}

void SnapshotWriter::removeOutdated(const SnapshotPair &files) {
  // Delete the state first, for the same reason as in write().
  for (const std::string &file : {files.state, files.weights})
    if (unlink(file.c_str()) != 0 && errno != ENOENT) {
      events.post(event::LogLine{log::Severity::Warning, log::site::brew,
                                 "cannot delete the outdated snapshot '" +
                                     file + "': " + errnoText(errno)});
      return;
    }
}

void SnapshotWriter::check() {
  if (!isWriting())
    wait();
}

void SnapshotWriter::wait() {
  if (std::exception_ptr error = finish())
    std::rethrow_exception(error);
}

std::exception_ptr SnapshotWriter::finish() {
  leaveToParent();
  if (thread.joinable())
    thread.join();
  return std::exchange(failure, nullptr);
}

} // namespace brew::runtime

//===- SnapshotWriter.cpp - Background writer of snapshots ----------------===//

#include "runtime/train/snapshots/SnapshotWriter.h"

#include "formats/SnapshotChecksum.h"
#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/ThreadWithoutSignals.h"

#include <cerrno>
#include <memory>
#include <unistd.h>
#include <utility>

namespace brew::runtime {

SnapshotWriter::~SnapshotWriter() { finish(); }

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

void SnapshotWriter::write(Job &job) {
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
  if (done)
    wait();
}

void SnapshotWriter::wait() {
  if (std::exception_ptr error = finish())
    std::rethrow_exception(error);
}

std::exception_ptr SnapshotWriter::finish() {
  if (thread.joinable())
    thread.join();
  return std::exchange(failure, nullptr);
}

} // namespace brew::runtime

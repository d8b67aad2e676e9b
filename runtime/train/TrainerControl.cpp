//===- TrainerControl.cpp - Requests to a trainer -------------------------===//

#include "runtime/train/TrainerControl.h"

#include "runtime/train/SolverFields.h"

#include "support/Error.h"

#include <chrono>
#include <utility>

namespace brew::runtime {

TrainerControl::TrainerControl(caffe::SolverParameter current, Check checker)
    : solver(std::move(current)), check(std::move(checker)) {}

void TrainerControl::pause() {
  std::lock_guard<std::mutex> lock(mutex);
  paused = true;
}

void TrainerControl::resume() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    paused = false;
  }
  changed.notify_all();
}

bool TrainerControl::isPaused() const {
  std::lock_guard<std::mutex> lock(mutex);
  return paused;
}

void TrainerControl::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
    paused = false;
  }
  changed.notify_all();
}

void TrainerControl::snapshot() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    snapshotWanted = true;
  }
  changed.notify_all();
}

void TrainerControl::reset() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    resetting = true;
  }
  changed.notify_all();
}

void TrainerControl::requestStepTimes() {
  std::lock_guard<std::mutex> lock(mutex);
  timing = true;
}

void TrainerControl::set(const std::string &name, const std::string &value) {
  std::lock_guard<std::mutex> lock(mutex);
  const SolverField *field = findSolverField(name);
  if (field && !field->whileTraining)
    throw Error(ExitStatus::Usage, "the solver's field '" + name +
                                       "' can only be set before training");
  const caffe::SolverParameter before = withChanges();
  caffe::SolverParameter candidate = before;
  setSolverField(candidate, name, value);
  check(candidate, before);
  changes.push_back({name, value});
}

void TrainerControl::replace(caffe::SolverParameter candidate) {
  std::lock_guard<std::mutex> lock(mutex);
  check(candidate, solver);
  solver = std::move(candidate);
}

std::string TrainerControl::get(const std::string &field) const {
  std::lock_guard<std::mutex> lock(mutex);
  return solverFieldText(changes.empty() ? solver : withChanges(), field);
}

TrainerControl::Requests TrainerControl::takeRequests() {
  std::lock_guard<std::mutex> lock(mutex);
  return {std::exchange(snapshotWanted, false), std::exchange(stopping, false)};
}

bool TrainerControl::isStopRequested() const {
  std::lock_guard<std::mutex> lock(mutex);
  return stopping;
}

bool TrainerControl::takeStop() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(stopping, false);
}

bool TrainerControl::isResetRequested() const {
  std::lock_guard<std::mutex> lock(mutex);
  return resetting;
}

bool TrainerControl::takeReset() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(resetting, false);
}

bool TrainerControl::takeStepTimes() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(timing, false);
}

void TrainerControl::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait_for(lock, std::chrono::milliseconds(100), [this] {
    return !paused || stopping || snapshotWanted || resetting;
  });
}

caffe::SolverParameter TrainerControl::withChanges() const {
  caffe::SolverParameter result = solver;
  for (const FieldChange &change : changes)
    setSolverField(result, change.field, change.value);
  return result;
}

bool TrainerControl::announceChanges() {
  std::lock_guard<std::mutex> lock(mutex);
  announced = changes.size();
  return announced != 0;
}

std::vector<TrainerControl::FieldChange>
TrainerControl::announcedChanges() const {
  std::lock_guard<std::mutex> lock(mutex);
  return {changes.begin(),
          changes.begin() + static_cast<std::ptrdiff_t>(announced)};
}

void TrainerControl::applyChanges(const std::vector<FieldChange> &merged) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const FieldChange &change : merged)
    setSolverField(solver, change.field, change.value);
  changes.erase(changes.begin(),
                changes.begin() + static_cast<std::ptrdiff_t>(announced));
  announced = 0;
}

caffe::SolverParameter TrainerControl::pendingSolver() const {
  std::lock_guard<std::mutex> lock(mutex);
  return withChanges();
}

} // namespace brew::runtime

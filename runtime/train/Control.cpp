//===- Control.cpp - Requests to a trainer from other threads -------------===//

#include "runtime/train/Control.h"

#include "runtime/train/SolverFields.h"

#include "support/Error.h"

#include <chrono>

namespace brew::runtime {

Control::Control(caffe::SolverParameter current, Check checker)
    : solver(std::move(current)), check(std::move(checker)) {}

void Control::pause() {
  std::lock_guard<std::mutex> lock(mutex);
  paused = true;
}

void Control::resume() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    paused = false;
  }
  changed.notify_all();
}

bool Control::isPaused() const {
  std::lock_guard<std::mutex> lock(mutex);
  return paused;
}

void Control::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
    paused = false;
  }
  changed.notify_all();
}

void Control::snapshot() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    snapshotWanted = true;
  }
  changed.notify_all();
}

void Control::reset() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    resetting = true;
  }
  changed.notify_all();
}

void Control::timeSteps() {
  std::lock_guard<std::mutex> lock(mutex);
  timing = true;
}

void Control::set(const std::string &name, const std::string &value) {
  std::lock_guard<std::mutex> lock(mutex);
  const SolverField *field = findSolverField(name);
  if (field && !field->whileTraining)
    throw Error(ExitStatus::Usage, "the solver's field '" + name +
                                       "' can only be set before training");
  caffe::SolverParameter candidate = solver;
  setSolverField(candidate, name, value);
  check(candidate, solver);
  solver = std::move(candidate);
  changes.push_back({name, value});
}

std::string Control::get(const std::string &field) const {
  std::lock_guard<std::mutex> lock(mutex);
  return solverFieldText(solver, field);
}

Control::Wanted Control::take() {
  std::lock_guard<std::mutex> lock(mutex);
  return {std::exchange(snapshotWanted, false), std::exchange(stopping, false)};
}

bool Control::stopWanted() const {
  std::lock_guard<std::mutex> lock(mutex);
  return stopping;
}

bool Control::takeStop() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(stopping, false);
}

bool Control::resetWanted() const {
  std::lock_guard<std::mutex> lock(mutex);
  return resetting;
}

bool Control::takeReset() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(resetting, false);
}

bool Control::takeTimeSteps() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(timing, false);
}

void Control::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait_for(lock, std::chrono::milliseconds(100), [this] {
    return !paused || stopping || snapshotWanted || resetting;
  });
}

std::vector<Control::Change> Control::takeChanges() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(changes, {});
}

void Control::adopt(const std::vector<Change> &made) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Change &change : made)
    setSolverField(solver, change.field, change.value);
}

caffe::SolverParameter Control::next() const {
  std::lock_guard<std::mutex> lock(mutex);
  return solver;
}

} // namespace brew::runtime

//===- ChromeTrace.h - Chrome trace of timed steps --------------*- C++ -*-===//
#pragma once

#include "Session.h"
#include "support/AtomicFile.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace brew::run {

/// Writes timed iterations in Chrome's trace format, for chrome://tracing and
/// Perfetto.
class ChromeTrace {
public:
  /// Creates the file for `iterations` iterations of a program of `session`'s
  /// plan. Throws brew::Error (3) if the file cannot be written, as write()
  /// does, and Error (2) if it would be too large.
  ChromeTrace(const std::string &path, const Session &session, int program,
              int iterations, int threads);

  /// Adds an iteration that began `begin` seconds after the first one and took
  /// `wall` seconds; `steps` has the seconds of each step. Ignores iterations
  /// beyond the announced number.
  void add(double begin, double wall, const std::vector<double> &steps);

  void write();

private:
  /// A step of the plan.
  struct Step {
    std::string layers;
    nlohmann::ordered_json arguments;
    bool backward = false;
    std::uint64_t liveBytes = 0; ///< of the arena
    std::uint64_t threads = 1;
  };

  void readSteps(const Session &session, int program, int threads);
  void addEvent(nlohmann::ordered_json fields);
  void addSpan(const std::string &name, const char *category,
               std::int64_t begin, std::int64_t duration,
               nlohmann::ordered_json arguments);
  void addCounters(std::int64_t time, std::uint64_t bytes,
                   std::uint64_t threads);

  AtomicFile file;
  std::string programName;
  std::vector<Step> steps;
  std::string events; ///< JSON, separated by commas
  int remaining;      ///< iterations that may still be added
  int added = 0;
  std::int64_t end = 0; ///< of the last iteration, in nanoseconds
};

} // namespace brew::run

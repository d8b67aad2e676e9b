//===- MetricsLog.cpp - Training metrics as JSON lines --------------------===//

#include "runtime/train/watch/MetricsLog.h"

#include "runtime/train/metrics/EpisodeMetrics.h"
#include "support/AtomicFile.h"
#include "support/BoundedLine.h"
#include "support/Error.h"
#include "support/WriteAll.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

namespace brew::runtime {
namespace {

using Json = nlohmann::ordered_json;

/// Larger than a row with millions of outputs.
constexpr std::size_t kMaxRowBytes = 64 << 20;

/// Returns the seconds since 1970.
double wallTime() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Returns the outputs by blob; those of several elements are arrays. NaN and
/// Inf become null, since JSON lacks them.
Json outputsJson(const std::vector<OutputValue> &outputs) {
  std::vector<std::pair<std::string, std::vector<double>>> blobs;
  for (const OutputValue &output : outputs) {
    if (blobs.empty() || blobs.back().first != output.blob)
      blobs.push_back({output.blob, {}});
    blobs.back().second.push_back(output.value);
  }
  Json result = Json::object();
  for (const auto &[blob, values] : blobs)
    result[blob] = values.size() == 1 ? Json(values[0]) : Json(values);
  return result;
}

std::string lineOf(const Json &row) {
  return row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Returns the iteration of a row; nullopt if the line is not a row.
std::optional<int> iterationOf(const std::string &line) {
  const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!row.is_object() || !row.contains("iteration") ||
      !row["iteration"].is_number_integer())
    return {};
  return row["iteration"].get<int>();
}

int openToAppend(const std::string &path) {
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0)
    throw unavailable("cannot write '" + path + "': " + errnoText(errno));
  return fd;
}

void writeAll(int fd, const std::string &path, const std::string &bytes) {
  if (const int error = brew::writeAll(fd, bytes))
    throw unavailable("cannot write '" + path + "': " + errnoText(error));
}

} // namespace

MetricsLog::MetricsLog(const std::string &folder, int iteration)
    : path(folder + "/metrics.jsonl"),
      replacedPath(folder + "/metrics.replaced.jsonl") {
  moveReplacedRows(iteration);
  fd = openToAppend(path);
}

MetricsLog::~MetricsLog() {
  if (fd >= 0)
    ::close(fd);
}

void MetricsLog::moveReplacedRows(int iteration) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (::access(path.c_str(), F_OK) == 0)
      throw unavailable("cannot read '" + path + "'");
    return;
  }
  std::string keptRows, replacedRows;
  int number = 0;
  for (BoundedLine line; readBoundedLine(file, kMaxRowBytes, line);) {
    ++number;
    if (line.isTooLong)
      throw badInput(path + ":" + std::to_string(number) +
                     ": is longer than a row of a log: the file is damaged; "
                     "move it away, or choose another folder");
    const std::optional<int> rowIteration =
        line.isComplete ? iterationOf(line.text) : std::nullopt;
    (rowIteration && *rowIteration < iteration ? keptRows : replacedRows) +=
        line.text + "\n";
  }
  if (file.bad())
    throw unavailable("cannot read '" + path + "'");
  if (replacedRows.empty())
    return;
  // Append the rows to their new file first, so that a crash cannot lose them.
  const int target = openToAppend(replacedPath);
  try {
    writeAll(target, replacedPath, replacedRows);
    ::fsync(target);
  } catch (...) {
    ::close(target);
    throw;
  }
  ::close(target);
  writeFileAtomically(path, keptRows);
}

void MetricsLog::append(const std::string &line) { writeAll(fd, path, line); }

void MetricsLog::add(const TrainRow &row) {
  Json json = {{"type", "train"},
               {"iteration", row.display.iteration},
               {"time", row.seconds},
               {"wall_time", wallTime()},
               {"loss", row.display.smoothedLoss},
               {"lr", row.learningRate},
               {"outputs", outputsJson(row.display.outputs)}};
  if (row.speed) {
    json["iterations_per_second"] = row.display.iterationsPerSecond;
    if (row.speed->itemsPerSecond > 0)
      json["images_per_second"] = row.speed->itemsPerSecond;
    json["seconds_left"] = row.speed->secondsLeft;
    json["waits_for_data"] = row.speed->waits;
    json["seconds_waiting_for_data"] = row.speed->secondsWaiting;
  }
  append(lineOf(json));
}

void MetricsLog::add(const TestRow &row) {
  Json json = {
      {"type", "test"},          {"iteration", row.test.iteration},
      {"net", row.test.net},     {"time", row.seconds},
      {"wall_time", wallTime()}, {"outputs", outputsJson(row.test.outputs)}};
  if (row.test.loss)
    json["loss"] = *row.test.loss;
  append(lineOf(json));
}

void MetricsLog::add(const EpisodeRow &row) {
  append(lineOf({{"type", "episode"},
                 {"iteration", row.episode.iteration},
                 {"time", row.seconds},
                 {"wall_time", wallTime()},
                 {"outputs", outputsJson(episodeMetrics(row.episode))}}));
}

void MetricsLog::addStop(int iteration, const std::string &reason) {
  append(lineOf({{"type", "stop"},
                 {"iteration", iteration},
                 {"wall_time", wallTime()},
                 {"reason", reason}}));
}

} // namespace brew::runtime

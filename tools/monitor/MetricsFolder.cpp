//===- MetricsFolder.cpp - Comparison page of runs ------------------------===//

#include "tools/monitor/MetricsFolder.h"

#include "support/BoundedLine.h"

#include <brew/brew.hpp>

#include <algorithm>
#include <fstream>
#include <utility>

namespace brew::monitor {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kMaxRuns = 64;
constexpr int kMaxFolderDepth = 4;
constexpr std::size_t kMaxRowBytes = 1 << 20;
/// Maximum nesting depth: a row, its outputs and the values of an output.
constexpr int kMaxRowDepth = 4;
/// Bytes at the read position that are compared to detect rewritten files.
constexpr std::size_t kComparedBytes = BoundedLine::kTailBytes;
/// A run is active if its log was written at most this long ago.
constexpr std::chrono::seconds kRecent(60);

void addNumber(Curves &curves, const std::string &name, double iteration,
               const Json &value) {
  if (value.is_number())
    curves.add(name, iteration, value.get<double>());
}

} // namespace

MetricsFolder::MetricsFolder(const std::string &name) : folder(name) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw api::Error(BREW_UNAVAILABLE,
                     "'" + name + "' is not a readable folder");
  scan();
}

void MetricsFolder::scan() {
  std::error_code error;
  std::map<std::string, Run> scannedRuns;
  fs::recursive_directory_iterator entry(
      folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry.depth() >= kMaxFolderDepth)
      entry.disable_recursion_pending();
    std::error_code ignored;
    if (entry->path().filename() != "metrics.jsonl" ||
        !entry->is_regular_file(ignored) || scannedRuns.size() == kMaxRuns)
      continue;
    const std::string name =
        entry->path().parent_path().lexically_relative(folder).string();
    const auto known = runs.find(name);
    Run run = known == runs.end() ? Run() : std::move(known->second);
    run.file = entry->path();
    readAppendedRows(run);
    scannedRuns.emplace(name, std::move(run));
  }
  runs = std::move(scannedRuns);
}

/// Reads the rows appended to a log. Rereads the log if its content changed, as
/// when a resumed run has replaced rows; size and time cannot distinguish that.
void MetricsFolder::readAppendedRows(Run &run) {
  std::error_code error;
  run.written = fs::last_write_time(run.file, error);
  if (error)
    return;
  std::ifstream file(run.file, std::ios::binary);
  if (!file)
    return;
  file.seekg(static_cast<std::streamoff>(run.read - run.tail.size()));
  std::string currentTail(run.tail.size(), '\0');
  file.read(currentTail.data(),
            static_cast<std::streamsize>(currentTail.size()));
  if (!file || currentTail != run.tail) {
    Run fresh;
    fresh.file = run.file;
    fresh.written = run.written;
    fresh.version = ++versions;
    run = std::move(fresh);
    file.clear();
    file.seekg(0);
  }
  for (BoundedLine row; readBoundedLine(file, kMaxRowBytes, row);) {
    if (!row.isComplete && !row.isTooLong)
      break;
    const std::string &line = row.text;
    run.read += row.bytes;
    run.version = ++versions;
    run.tail = line.substr(line.size() - std::min(line.size(), kComparedBytes));
    if (row.isComplete)
      run.tail += '\n';
    if (row.isTooLong)
      continue;
    // Reject deeply nested rows, which could not be copied.
    const auto isShallow = [](int depth, Json::parse_event_t, Json &) {
      return depth <= kMaxRowDepth;
    };
    const Json json = Json::parse(line, isShallow, false);
    if (!json.is_object() || !json.contains("iteration") ||
        !json["iteration"].is_number_integer())
      continue;
    const int iteration = json["iteration"].get<int>();
    run.iteration = std::max(run.iteration, iteration);
    const std::string type = json.value("type", Json()).is_string()
                                 ? json["type"].get<std::string>()
                                 : "";
    const bool isTest = type == "test";
    if (type == "stop" && json.value("reason", Json()).is_string())
      run.stopped = json["reason"].get<std::string>();
    if (type != "train" && type != "episode" && !isTest)
      continue;
    std::string prefix = type + ".";
    if (isTest) {
      const Json net = json.value("net", Json(0));
      if (!net.is_number_integer())
        continue;
      prefix = net == 0 ? "test." : "test" + net.dump() + ".";
    }
    addNumber(run.curves, prefix + "loss", iteration,
              json.value("loss", Json()));
    addNumber(run.curves, "learning rate", iteration, json.value("lr", Json()));
    addNumber(run.curves, "images/s", iteration,
              json.value("images_per_second", Json()));
    const Json outputs = json.value("outputs", Json());
    if (outputs.is_object())
      for (const auto &[name, value] : outputs.items())
        if (name != "loss" || !json.contains("loss"))
          addNumber(run.curves, prefix + name, iteration, value);
  }
}

Json MetricsFolder::get(const std::string &name, const Query &query) {
  std::lock_guard<std::mutex> lock(mutex);
  if (name == "state") {
    scan();
    Json list = Json::array();
    const auto now = fs::file_time_type::clock::now();
    for (const auto &[runName, run] : runs)
      list.push_back(
          {{"name", runName},
           {"iteration", run.iteration},
           {"version", run.version},
           {"running", run.stopped.empty() && now - run.written < kRecent},
           {"stopped", run.stopped}});
    return {{"kind", "runs"}, {"folder", folder.string()}, {"runs", list}};
  }
  if (name == "run") {
    const auto wanted = query.find("name");
    const auto run =
        wanted == query.end() ? runs.end() : runs.find(wanted->second);
    if (run == runs.end())
      throw HttpError(404, "there is no such run");
    return {{"curves", run->second.curves.json()}};
  }
  throw HttpError(404, "there is no '" + name + "'");
}

Json MetricsFolder::post(const std::string &name, const Json &) {
  throw HttpError(404, "there is nothing to change here: '" + name + "'");
}

} // namespace brew::monitor

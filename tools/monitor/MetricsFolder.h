//===- MetricsFolder.h - Comparison page of runs ----------------*- C++ -*-===//
#pragma once

#include "tools/monitor/Curves.h"
#include "tools/monitor/Server.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace brew::monitor {

/// The page of all runs, active or finished, whose metrics.jsonl files
/// (brew-run train --log-dir) are in a folder or its subfolders.
class MetricsFolder : public RequestHandler {
public:
  /// Throws Error (3) if the folder does not exist.
  explicit MetricsFolder(const std::string &folder);

  /// Returns, for `state`, {kind: "runs", folder, runs: [{name, iteration,
  /// version, running, stopped}, ...]} and, for `run?name=NAME`, {curves}.
  nlohmann::json get(const std::string &name, const Query &query) override;
  /// Always fails: the page has no controls.
  nlohmann::json post(const std::string &name,
                      const nlohmann::json &body) override;

private:
  struct Run {
    std::filesystem::path file;
    std::filesystem::file_time_type written;
    std::uintmax_t read = 0;   ///< bytes of complete lines
    std::string tail;          ///< last of these bytes, to detect rewrites
    std::uint64_t version = 0; ///< changes when the curves change
    Curves curves;
    int iteration = 0;
    std::string stopped; ///< the logged reason for stopping; "": no stop logged
  };
  void scan();
  void readAppendedRows(Run &run);

  const std::filesystem::path folder;
  std::mutex mutex;
  std::map<std::string, Run> runs; ///< by path relative to `folder`
  std::uint64_t versions = 0;      ///< last assigned version
};

} // namespace brew::monitor

//===- MetricsFolder.h - Runs side by side, from their logs -----*- C++ -*-===//
#pragma once

#include "tools/monitor/Curves.h"
#include "tools/monitor/Server.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace brew::monitor {

/// The runs whose metrics.jsonl (brew-run train --log-dir) lie in a folder and
/// in those below it, whether they have ended or not.
class MetricsFolder : public RequestHandler {
public:
  /// Throws Error (3) if there is no such folder.
  explicit MetricsFolder(const std::string &folder);

  nlohmann::json get(const std::string &name, const Query &query) override;
  nlohmann::json post(const std::string &name,
                      const nlohmann::json &body) override;

private:
  struct Run {
    std::filesystem::path file;
    std::filesystem::file_time_type written;
    std::uintmax_t read = 0;   ///< bytes: whole lines
    std::string last;          ///< the last bytes of these
    std::uint64_t version = 0; ///< differs when the curves do
    Curves curves;
    int iteration = 0;
    std::string stopped; ///< why, if the log says so
  };
  void scan();
  void readFurther(Run &run);

  const std::filesystem::path folder;
  std::mutex mutex;
  std::map<std::string, Run> runs; ///< by their folders' names in `folder`
  std::uint64_t versions = 0;      ///< given so far
};

} // namespace brew::monitor

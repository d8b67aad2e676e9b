//===- SnapshotFolder.cpp - Snapshots under one prefix --------------------===//

#include "runtime/train/snapshots/SnapshotFolder.h"

#include "formats/PathLookup.h"
#include "formats/SnapshotChecksum.h"
#include "formats/WeightFile.h"
#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/TemporaryName.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace brew::runtime {
namespace {

namespace fs = std::filesystem;

constexpr char kSnapshotList[] = "/snapshots"; // pairs: iteration, HDF5 or not
const std::string kWeightsSuffix = ".caffemodel", kStateSuffix = ".solverstate";
const std::string kHdf5Suffix = ".h5";

/// Returns the rest of the names of all files that start with the prefix.
std::vector<std::string> fileSuffixes(const std::string &prefix) {
  const std::string folder = formats::folderOfFile(prefix);
  const std::string stem = fs::path(prefix).filename().string();
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() > stem.size() && name.compare(0, stem.size(), stem) == 0)
      names.push_back(name.substr(stem.size()));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throw unavailable("cannot read the folder of snapshot prefix '" + prefix +
                      "': " + error.message());
  return names;
}

/// Splits "_iter_N.solverstate" into N and ".solverstate". Returns false for
/// other names.
bool splitName(const std::string &name, int &iteration, std::string &end) {
  const std::string begin = "_iter_";
  if (name.compare(0, begin.size(), begin) != 0)
    return false;
  std::size_t at = begin.size();
  while (at < name.size() && name[at] >= '0' && name[at] <= '9')
    ++at;
  if (at == begin.size() || at > begin.size() + 9)
    return false;
  iteration = std::atoi(name.c_str() + begin.size());
  end = name.substr(at);
  return true;
}

/// Throws Error if a snapshot is damaged.
void checkSnapshot(const std::string &path,
                   const std::vector<std::string> &folders) {
  const formats::SolverSnapshot state = formats::readSolverState(path);
  if (!state.state.has_learned_net())
    throw badInput(path + ": names no weights");
  const std::string weights = weightsOfState(state.state, path, folders);
  formats::verifyWeightChecksum(state.state, path, weights);
  formats::readWeights(weights);
}

} // namespace

SnapshotPair snapshotFiles(const std::string &prefix, int iteration,
                           bool hdf5) {
  const std::string base = prefix + "_iter_" + std::to_string(iteration);
  const std::string end = hdf5 ? kHdf5Suffix : "";
  return {base + kWeightsSuffix + end, base + kStateSuffix + end};
}

std::string weightsOfState(const caffe::SolverState &state,
                           const std::string &path,
                           const std::vector<std::string> &folders) {
  std::vector<std::string> searchFolders = folders;
  searchFolders.insert(searchFolders.begin(), formats::folderOfFile(path));
  if (const auto found = formats::findPath(state.learned_net(), searchFolders))
    return *found;
  const fs::path besideState =
      fs::path(path).parent_path() / fs::path(state.learned_net()).filename();
  std::error_code error;
  if (fs::exists(besideState, error))
    return besideState.string();
  return formats::requirePath(state.learned_net(), searchFolders,
                              "weight file that '" + path + "' names");
}

std::optional<std::string> newestIntactSnapshot(
    const std::string &prefix, const std::vector<std::string> &folders,
    const std::function<void(const std::string &)> &skipped,
    const std::function<bool(const std::string &)> &isEligible) {
  struct Candidate {
    std::vector<std::string> states;
    std::string weights;
  };
  std::map<int, Candidate, std::greater<int>> candidates;
  for (const std::string &name : fileSuffixes(prefix)) {
    int iteration = 0;
    std::string end;
    if (!splitName(name, iteration, end) || !isEligible(prefix + name))
      continue;
    if (end == kStateSuffix || end == kStateSuffix + kHdf5Suffix)
      candidates[iteration].states.push_back(prefix + name);
    else if (end == kWeightsSuffix || end == kWeightsSuffix + kHdf5Suffix)
      candidates[iteration].weights = prefix + name;
  }
  for (auto &[iteration, snapshot] : candidates) {
    if (snapshot.states.empty())
      skipped(snapshot.weights + ": has no solver state beside it");
    std::sort(snapshot.states.begin(), snapshot.states.end());
    for (const std::string &state : snapshot.states)
      try {
        checkSnapshot(state, folders);
        return state;
      } catch (const Error &error) {
        skipped(error.what());
      }
  }
  return {};
}

std::int64_t writtenAt(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 ? status.st_mtime : 0;
}

std::string versionOfFile(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return path;
  return fs::path(path).filename().string() + " " +
         std::to_string(status.st_ino) + " " + std::to_string(status.st_size) +
         " " + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

void writeSnapshotList(const std::string &listFile, const std::string &prefix) {
  std::string text;
  for (const std::string &name : fileSuffixes(prefix)) {
    int iteration = 0;
    std::string end;
    if (splitName(name, iteration, end))
      text += versionOfFile(prefix + name) + "\n";
  }
  writeFileAtomically(listFile, text);
}

std::set<std::string> readSnapshotList(const std::string &listFile) {
  std::ifstream file(listFile);
  std::set<std::string> versions;
  for (std::string line; std::getline(file, line);)
    versions.insert(line);
  if (!file.eof())
    throw unavailable("cannot read the list of snapshots '" + listFile + "'");
  return versions;
}

std::size_t removeUnfinishedSnapshots(const std::string &prefix) {
  std::size_t removed = 0;
  for (const std::string &name : fileSuffixes(prefix)) {
    int iteration = 0;
    std::string end;
    const bool isBest = name.compare(0, 6, "_best_") == 0;
    if (!isBest && !splitName(name, iteration, end))
      continue;
    if (isAbandoned(prefix + name) && unlink((prefix + name).c_str()) == 0)
      ++removed;
  }
  return removed;
}

void KeptSnapshots::add(int iteration, bool hdf5) {
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [&](const Entry &entry) {
                                 return entry.iteration == iteration &&
                                        entry.hdf5 == hdf5;
                               }),
                entries.end());
  entries.push_back({iteration, hdf5});
}

std::vector<SnapshotPair> KeptSnapshots::takeOutdated(const std::string &prefix,
                                                      std::size_t count) {
  std::vector<SnapshotPair> outdated;
  while (entries.size() > count) {
    outdated.push_back(
        snapshotFiles(prefix, entries[0].iteration, entries[0].hdf5));
    entries.erase(entries.begin());
  }
  return outdated;
}

void KeptSnapshots::save(caffe::SolverState &state) const {
  std::vector<double> values;
  for (const Entry &entry : entries) {
    values.push_back(entry.iteration);
    values.push_back(entry.hdf5);
  }
  if (!values.empty())
    formats::setNamedValues(state, kSnapshotList, values);
}

void KeptSnapshots::restore(const caffe::SolverState &state,
                            const std::string &path,
                            const std::string &prefix) {
  entries.clear();
  std::error_code error;
  const auto isState = [&](bool hdf5) {
    return fs::equivalent(path, snapshotFiles(prefix, state.iter(), hdf5).state,
                          error);
  };
  if (!isState(false) && !isState(true))
    return; // snapshots of another run
  const std::vector<double> values =
      formats::namedValues(state, kSnapshotList, path);
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    const bool isValid = values[i] >= 0 && values[i] <= state.iter();
    if (isValid)
      add(static_cast<int>(values[i]), values[i + 1] != 0);
  }
}

} // namespace brew::runtime

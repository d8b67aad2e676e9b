//===- PlanKey.cpp - What a compiled plan depends on ----------------------===//
//
// A prototxt names files in quotes: nets, means, lists, databases. Which of its
// strings are files is found out by looking, so no field is forgotten.
//
//===----------------------------------------------------------------------===//
#include "tools/caffe/PlanKey.h"

#include <brew/types.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace fs = std::filesystem;

namespace brew::caffecmd {
namespace {

/// Prototxts and lists; what is larger counts by its size and time.
constexpr std::uintmax_t kLargestText = 8 << 20;
constexpr int kDeepest = 4;

class Dependences {
public:
  /// Notes a file, and what it names.
  void addFile(const fs::path &path, int depth = 0) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    if (error || notes.count(whole))
      return;
    const auto size = fs::file_size(whole, error);
    if (error)
      return;
    const auto time = fs::last_write_time(whole, error);
    notes[whole] = std::to_string(size) + " " +
                   std::to_string(time.time_since_epoch().count());
    if (size > kLargestText || depth == kDeepest)
      return;
    std::ostringstream text;
    text << std::ifstream(whole, std::ios::binary).rdbuf();
    const std::string content = text.str();
    if (content.find('\0') != content.npos)
      return;
    folder = whole.parent_path();
    const fs::path here = folder;
    for (const std::string &name : namesIn(content)) {
      folder = here;
      addName(name, depth + 1);
    }
  }

  std::string text() const {
    std::string result;
    for (const auto &[path, note] : notes)
      result += path.string() + " " + note + "\n";
    return result;
  }

private:
  /// What stands in quotes; in a file without any, the first word of each line.
  static std::vector<std::string> namesIn(const std::string &content) {
    std::vector<std::string> names;
    for (size_t at = content.find_first_of("\"'"); at != content.npos;) {
      const size_t end =
          content.find_first_of(std::string("\n") + content[at], at + 1);
      if (end == content.npos)
        break;
      if (content[end] != '\n' && end > at + 1)
        names.push_back(content.substr(at + 1, end - at - 1));
      at = content.find_first_of("\"'", end + 1);
    }
    if (!names.empty())
      return names;
    std::istringstream lines(content);
    for (std::string line; std::getline(lines, line);)
      names.push_back(line.substr(0, line.find_first_of(" \t\r")));
    return names;
  }

  void addName(const std::string &name, int depth) {
    if (name.empty() || name.size() > 4096)
      return;
    // As data layers look for them: here, then beside the prototxt.
    for (const fs::path &path : {fs::path(name), folder / name}) {
      std::error_code error;
      if (fs::is_regular_file(path, error))
        addFile(path, depth);
      else if (fs::is_directory(path, error))
        addDatabase(path);
    }
  }

  /// LMDB's one file; LevelDB's current one and its tables.
  void addDatabase(const fs::path &path) {
    std::error_code error;
    if (fs::exists(path / "data.mdb", error))
      return addFile(path / "data.mdb", kDeepest);
    if (!fs::exists(path / "CURRENT", error))
      return;
    for (const auto &entry : fs::directory_iterator(path, error))
      if (const auto kind = entry.path().extension();
          kind == ".ldb" || kind == ".sst" || kind == ".log")
        addFile(entry.path(), kDeepest);
  }

  std::map<fs::path, std::string> notes;
  fs::path folder; ///< of the file that is looked at
};

/// The lines that say what code may be made for.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string model, flags;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 10, "model name") == 0)
      model = line;
    if (line.compare(0, 5, "flags") == 0)
      flags = line;
    if (!model.empty() && !flags.empty())
      break;
  }
  return model + "\n" + flags + "\n";
}

} // namespace

std::string planKey(const std::string &prototxt,
                    const std::vector<std::string> &flags) {
  std::string key = std::string("brew ") + brew_version() + "\n";
  for (const std::string &flag : flags)
    key += flag + "\n";
  std::error_code ignored;
  key += fs::current_path(ignored).string() + "\n" + processor();
  Dependences dependences;
  dependences.addFile(prototxt);
  return key + dependences.text();
}

} // namespace brew::caffecmd

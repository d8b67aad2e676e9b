//===- TemporaryName.cpp - Names of unfinished files ----------------------===//
#include "support/TemporaryName.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace brew {
namespace {

constexpr char kMark[] = ".tmp-";
constexpr char kBootId[] = "/proc/sys/kernel/random/boot_id";
constexpr std::size_t kMaxHostBytes = 24;
constexpr std::time_t kDay = 24 * 60 * 60;

/// The processes whose numbers differ.
struct Place {
  std::string host;
  std::string processNamespace;

  bool operator==(const Place &other) const {
    return host == other.host && processNamespace == other.processNamespace;
  }
};

struct Writer {
  Place place;
  pid_t pid = 0;
  std::string start; ///< of the process, in ticks since the machine's start
};

Place thisPlace() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  Place place{name, "0"};
  std::replace_if(
      place.host.begin(), place.host.end(),
      [](unsigned char c) { return !std::isalnum(c) && c != '.'; }, '_');
  // Names of files have at most 255 bytes. Hosts of a cluster differ at the
  // end.
  if (place.host.size() > kMaxHostBytes)
    place.host.erase(0, place.host.size() - kMaxHostBytes);
  // Namespaces have the same numbers on all machines, and hosts may have equal
  // names.
  std::string bootId;
  std::getline(std::ifstream(kBootId), bootId);
  struct stat info;
  if (stat("/proc/self/ns/pid", &info) == 0)
    bootId += " " + std::to_string(info.st_ino);
  place.processNamespace = std::to_string(std::hash<std::string>()(bootId));
  return place;
}

/// Returns the start of a process; "0" if it is unknown.
std::string startOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  // The second field is the program's name, which may contain spaces.
  std::istringstream fields(
      text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string field;
  for (int number = 3; number <= 22; ++number)
    fields >> field;
  return fields ? field : "0";
}

bool isNumber(const std::string &text) {
  return !text.empty() && text.size() <= 20 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isdigit(c); });
}

/// Returns the writer that a file name ends with; nullopt if it does not.
std::optional<Writer> writerOf(const std::string &path) {
  // Folders may contain the mark too.
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::size_t mark = name.rfind(kMark);
  if (mark == name.npos)
    return std::nullopt;
  std::istringstream text(name.substr(mark + sizeof kMark - 1));
  Writer writer;
  std::string pid, number, rest;
  const bool isComplete =
      std::getline(text, writer.place.host, '-') &&
      std::getline(text, writer.place.processNamespace, '-') &&
      std::getline(text, pid, '-') && std::getline(text, writer.start, '-') &&
      std::getline(text, number) && isNumber(writer.place.processNamespace) &&
      isNumber(pid) && isNumber(writer.start) && isNumber(number);
  if (!isComplete)
    return std::nullopt;
  writer.pid = static_cast<pid_t>(std::atoll(pid.c_str()));
  return writer;
}

bool runs(const Writer &writer) {
  if (kill(writer.pid, 0) != 0 && errno == ESRCH)
    return false;
  const std::string start = startOf(writer.pid);
  return start == "0" || writer.start == "0" || start == writer.start;
}

} // namespace

std::string temporaryName(const std::string &path) {
  static const Place place = thisPlace();
  static std::atomic<unsigned> counter{0};
  const pid_t pid = getpid(); // a child process has another one
  return path + kMark + place.host + "-" + place.processNamespace + "-" +
         std::to_string(pid) + "-" + startOf(pid) + "-" +
         std::to_string(counter++);
}

bool isAbandoned(const std::string &path) {
  const std::optional<Writer> writer = writerOf(path);
  if (!writer)
    return false;
  if (writer->place == thisPlace())
    return !runs(*writer);
  struct stat info;
  return stat(path.c_str(), &info) == 0 &&
         std::time(nullptr) - info.st_mtime > kDay;
}

} // namespace brew

//===- LogFiles.cpp - Log files of glog -----------------------------------===//
#include "runtime/log/LogFiles.h"

#include "support/Caller.h"

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace brew::log {
namespace {

constexpr const char *kNames[] = {"INFO", "WARNING", "ERROR", "FATAL"};

std::string programName() {
  const std::string caller = callerName();
  return caller.empty() ? program_invocation_short_name : caller;
}

std::string hostName() {
  struct utsname info;
  return ::uname(&info) == 0 && info.nodename[0] ? info.nodename : "(unknown)";
}

std::string userName() {
  if (const char *user = std::getenv("USER"))
    return *user ? user : "invalid-user";
  struct passwd entry, *found = nullptr;
  char buffer[4096];
  const uid_t id = ::geteuid();
  if (::getpwuid_r(id, &entry, buffer, sizeof buffer, &found) == 0 && found)
    return entry.pw_name;
  return "uid" + std::to_string(id);
}

/// Returns the folders to try. Without log_dir, glog always writes files to the
/// folder of temporary files; Brew does so only if standard error does not show
/// all lines.
std::vector<std::string> foldersOf(const GlogSettings &settings) {
  if (settings.onlyStderr)
    return {};
  if (!settings.folder.empty())
    return {settings.folder};
  if (settings.isOnStderr(Severity::Info))
    return {};
  std::vector<std::string> folders;
  for (const char *variable : {"TMPDIR", "TMP"})
    if (const char *folder = std::getenv(variable); folder && *folder)
      folders.push_back(folder);
  folders.insert(folders.end(), {"/tmp", "."});
  return folders;
}

std::string durationText(std::time_t seconds) {
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60,
                     seconds % 60);
}

/// Returns 0 or the error of the first failed write.
int writeAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return written < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

} // namespace

LogFiles::LogFiles(const GlogSettings &settings)
    : settings(settings), folders(foldersOf(settings)) {}

LogFiles::~LogFiles() {
  for (const File &file : files)
    if (file.descriptor >= 0)
      ::close(file.descriptor);
}

void LogFiles::write(Severity severity, std::string_view line) {
  if (folders.empty())
    return;
  for (int i = static_cast<int>(severity); i >= 0; --i)
    append(files[static_cast<std::size_t>(i)], i, line);
}

void LogFiles::append(File &file, int severity, std::string_view line) {
  if (file.isAbandoned)
    return;
  if (file.descriptor >= 0 && file.bytes >= settings.maxFileBytes)
    replace(file, severity);
  if (file.descriptor < 0)
    if (const int error = create(file, severity)) {
      file.isAbandoned = true;
      return reportFailure("cannot create a log file in '" + folders.front() +
                           "': " + std::strerror(error));
    }
  // Later lines are tried again, because the disk may have space by then.
  if (const int error = writeAll(file.descriptor, line))
    reportFailure("cannot write the log file '" + file.path +
                  "': " + std::strerror(error));
  file.bytes += line.size();
}

void LogFiles::replace(File &file, int severity) {
  File next;
  if (create(next, severity))
    return;
  ::close(file.descriptor);
  file = next;
}

int LogFiles::create(File &file, int severity) {
  const std::time_t now = std::time(nullptr);
  const std::tm local = fmt::localtime(now);
  const std::string link = programName() + "." + kNames[severity];
  const std::string name =
      fmt::format("{}.{}.{}.log.{}.{:%Y%m%d-%H%M%S}.{}", programName(),
                  hostName(), userName(), kNames[severity], local, ::getpid());
  int error = 0;
  for (const std::string &folder : folders) {
    file.path = folder + "/" + name;
    file.descriptor =
        ::open(file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
               static_cast<mode_t>(settings.fileMode));
    if (file.descriptor >= 0) {
      this->link(name, folder + "/" + link);
      break;
    }
    if (!error)
      error = errno;
  }
  if (file.descriptor < 0)
    return error;
  if (!settings.linkFolder.empty())
    this->link(std::filesystem::absolute(file.path),
               settings.linkFolder + "/" + link);
  const std::string header = fmt::format(
      "Log file created at: {:%Y/%m/%d %H:%M:%S}\nRunning on machine: {}\n"
      "Running duration (h:mm:ss): {}\n"
      "Log line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg\n",
      local, hostName(), durationText(now - startTime));
  writeAll(file.descriptor, header); // the line after it reports failures
  file.bytes = header.size();
  return 0;
}

void LogFiles::link(const std::string &target, const std::string &path) const {
  // As in glog, a log without its link is not worth a message.
  ::unlink(path.c_str());
  if (::symlink(target.c_str(), path.c_str()) != 0)
    return;
}

void LogFiles::reportFailure(const std::string &text) {
  if (!failureReported)
    std::fprintf(stderr, "%s: warning: %s; the run continues without it\n",
                 programName().c_str(), text.c_str());
  failureReported = true;
}

} // namespace brew::log

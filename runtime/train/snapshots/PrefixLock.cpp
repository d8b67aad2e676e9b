//===- PrefixLock.cpp - Exclusive use of a snapshot prefix ----------------===//

#include "runtime/train/snapshots/PrefixLock.h"

#include "support/Error.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace brew::runtime {
namespace {

/// Returns the description of its process that a lock file contains.
std::string holderOf(int fd) {
  char text[300];
  const ssize_t length = pread(fd, text, sizeof text, 0);
  std::string holder(text, length > 0 ? static_cast<std::size_t>(length) : 0);
  if (const std::size_t end = holder.find('\n'); end != holder.npos)
    return holder.substr(0, end);
  return "another process";
}

std::string describeThisProcess() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return "process " + std::to_string(getpid()) + " on " + host + "\n";
}

} // namespace

/// An open and locked lock file.
class PrefixLock::File {
public:
  File(std::string lockPath, const std::string &prefix)
      : path(std::move(lockPath)), owner(getpid()) {
    // A process that ends removes the file. Whoever has locked the removed file
    // meanwhile tries again.
    while (lock(prefix) && !isCurrent()) {
      close(fd);
      fd = -1;
    }
    if (fd < 0)
      return;
    const std::string text = describeThisProcess();
    if (ftruncate(fd, 0) == 0)
      (void)!pwrite(fd, text.data(), text.size(), 0);
  }
  ~File() {
    if (fd < 0)
      return;
    if (owner == getpid()) // not a child process with a copy of this object
      unlink(path.c_str());
    close(fd);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;

private:
  /// Returns whether the file is open and locked.
  bool lock(const std::string &prefix) {
    fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
      return false;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
      return true;
    const bool isTaken = errno == EWOULDBLOCK;
    const std::string holder = isTaken ? holderOf(fd) : "";
    close(fd);
    fd = -1;
    if (isTaken)
      throw unavailable("another run writes snapshots of prefix '" + prefix +
                        "' (" + holder +
                        "): choose another snapshot_prefix, or end that run");
    return false;
  }
  bool isCurrent() const {
    struct stat locked, named;
    return fstat(fd, &locked) == 0 && stat(path.c_str(), &named) == 0 &&
           locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
  }

  const std::string path;
  const pid_t owner;
  int fd = -1;
};

PrefixLock::PrefixLock(const std::string &prefix) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<File>> files;
  std::error_code error;
  const std::string path = prefix + ".lock";
  const std::string key =
      std::filesystem::weakly_canonical(path, error).string();
  std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<File> &known = files[error ? path : key];
  file = known.lock();
  if (!file)
    known = file = std::make_shared<File>(path, prefix);
}

} // namespace brew::runtime

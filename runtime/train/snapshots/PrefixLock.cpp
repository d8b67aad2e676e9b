//===- PrefixLock.cpp - Exclusive use of a snapshot prefix ----------------===//

#include "runtime/train/snapshots/PrefixLock.h"

#include "support/Error.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

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

/// Opens or creates a lock file. Returns -1 if that fails.
int openLockFile(const std::string &path) {
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0666);
  // A file of another user can be locked without writing to it.
  return fd < 0 && errno == EACCES ? open(path.c_str(), O_RDONLY | kFlags) : fd;
}

} // namespace

/// An open and locked lock file. All functions require the mutex of Files.
class PrefixLock::File {
public:
  File(std::string lockPath, const std::string &prefix)
      : path(std::move(lockPath)) {
    // A process that ends removes the file. Whoever has locked the removed file
    // meanwhile tries again.
    while (lock(prefix) && !isCurrent())
      abandon();
    if (fd < 0)
      return;
    const std::string text = describeThisProcess();
    if (ftruncate(fd, 0) == 0)
      (void)!pwrite(fd, text.data(), text.size(), 0);
  }
  ~File() {
    if (fd < 0)
      return;
    if (isCurrent())
      unlink(path.c_str());
    abandon();
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  bool isLocked() const { return fd >= 0; }
  /// Closes the file without removing it. In a child process, the parent keeps
  /// the lock.
  void abandon() {
    if (fd >= 0)
      close(fd);
    fd = -1;
  }

private:
  /// Returns whether the file is open and locked.
  bool lock(const std::string &prefix) {
    fd = openLockFile(path);
    if (fd < 0)
      return false;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
      return true;
    const bool isTaken = errno == EWOULDBLOCK;
    const std::string holder = isTaken ? holderOf(fd) : "";
    abandon();
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
  int fd = -1;
};

/// The lock files of this process. Never destroyed: child processes and static
/// objects use it.
struct PrefixLock::Files {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<File>> byPath;

  static Files &instance() {
    static Files *const files = [] {
      // A lock belongs to all processes with a copy of the file descriptor, so
      // a child process would keep it after the end of its parent.
      pthread_atfork([] { instance().mutex.lock(); },
                     [] { instance().mutex.unlock(); },
                     [] {
                       instance().abandon();
                       instance().mutex.unlock();
                     });
      return new Files;
    }();
    return *files;
  }

private:
  void abandon() {
    for (auto &[path, file] : byPath) {
      // Not the last reference: others are released under the mutex.
      if (const std::shared_ptr<File> open = file.lock())
        open->abandon();
      file.reset();
    }
  }
};

PrefixLock::PrefixLock(const std::string &prefix) {
  std::error_code error;
  const std::string path = prefix + ".lock";
  // weakly_canonical() leaves relative paths of files that do not exist as they
  // are.
  const std::string key = std::filesystem::weakly_canonical(
                              std::filesystem::absolute(path, error), error)
                              .string();
  Files &files = Files::instance();
  const std::lock_guard<std::mutex> guard(files.mutex);
  std::weak_ptr<File> &known = files.byPath[error ? path : key];
  file = known.lock();
  if (file)
    return;
  file = std::make_shared<File>(path, prefix);
  if (file->isLocked())
    known = file;
  else
    file.reset();
}

PrefixLock::~PrefixLock() {
  const std::lock_guard<std::mutex> guard(Files::instance().mutex);
  file.reset();
}

} // namespace brew::runtime

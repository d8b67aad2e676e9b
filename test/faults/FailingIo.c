/*===- FailingIo.c - System calls that fail on request --------------------===*
 *
 * Preloaded (LD_PRELOAD) by check_faults.py, which sets
 *   BREW_FAULT_CALL   read (with pread), write, fsync or rename
 *   BREW_FAULT_PATH   substring of the paths for which the call fails
 *   BREW_FAULT_AFTER  number of calls on such files before the first failure
 *   BREW_FAULT_ERRNO  errno of that call and of all later ones
 * Before it fails, a write writes half of its data.
 *
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;

static int shouldFail(const char *call, const char *path) {
  const char *failingCall = getenv("BREW_FAULT_CALL");
  const char *failingPath = getenv("BREW_FAULT_PATH");
  const char *after = getenv("BREW_FAULT_AFTER");
  const char *error = getenv("BREW_FAULT_ERRNO");
  if (!failingCall || !failingPath || strcmp(failingCall, call) != 0 ||
      !strstr(path, failingPath))
    return 0;
  if (atomic_fetch_add(&calls, 1) < (after ? atol(after) : 0))
    return 0;
  errno = error ? atoi(error) : EIO;
  return 1;
}

static int shouldFailOnFile(const char *call, int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const int savedErrno = errno;
  const ssize_t length = readlink(link, path, sizeof path - 1);
  errno = savedErrno;
  if (length < 0)
    return 0;
  path[length] = 0;
  return shouldFail(call, path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void *to, size_t size) {
  return shouldFailOnFile("read", fd) ? -1 : NEXT(read)(fd, to, size);
}

ssize_t pread(int fd, void *to, size_t size, off_t at) {
  return shouldFailOnFile("read", fd) ? -1 : NEXT(pread)(fd, to, size, at);
}

ssize_t pread64(int fd, void *to, size_t size, off64_t at) {
  return shouldFailOnFile("read", fd) ? -1 : NEXT(pread64)(fd, to, size, at);
}

ssize_t write(int fd, const void *from, size_t size) {
  const int savedErrno = errno;
  if (!shouldFailOnFile("write", fd))
    return NEXT(write)(fd, from, size);
  const int error = errno;
  if (size > 1 && NEXT(write)(fd, from, size / 2) < 0)
    errno = savedErrno;
  errno = error;
  return -1;
}

int fsync(int fd) {
  return shouldFailOnFile("fsync", fd) ? -1 : NEXT(fsync)(fd);
}

int rename(const char *from, const char *to) {
  return shouldFail("rename", to) ? -1 : NEXT(rename)(from, to);
}

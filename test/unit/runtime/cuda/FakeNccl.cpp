//===- FakeNccl.cpp - A fake NCCL whose all-reduces never end -------------===//
//
// A group waits until its communicator is aborted, and reports an asynchronous
// error while it waits. Atomics are relaxed, so that they do not synchronize
// the caller's threads.
//
//===----------------------------------------------------------------------===//
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum Status : int { Success = 0, RemoteError = 6 };

struct Comm {
  std::atomic<bool> waits{false}, aborted{false};
};
Comm *current = nullptr;

struct UniqueId {
  char internal[128];
};

} // namespace

EXPORT int ncclGetVersion(int *version) {
  *version = 22703;
  return Success;
}
EXPORT int ncclGetUniqueId(UniqueId *) { return Success; }
EXPORT int ncclCommInitRank(Comm **comm, int, UniqueId, int) {
  *comm = current = new Comm();
  return Success;
}
EXPORT int ncclCommDestroy(Comm *comm) {
  delete comm;
  return Success;
}
EXPORT int ncclCommAbort(Comm *comm) {
  comm->aborted.store(true, std::memory_order_relaxed);
  return Success;
}
EXPORT int ncclCommGetAsyncError(Comm *comm, int *error) {
  *error = comm->waits.load(std::memory_order_relaxed) ? RemoteError : Success;
  return Success;
}
EXPORT int ncclGroupStart() { return Success; }
EXPORT int ncclGroupEnd() {
  current->waits.store(true, std::memory_order_relaxed);
  while (!current->aborted.load(std::memory_order_relaxed))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return RemoteError;
}
EXPORT int ncclAllReduce(const void *, void *, std::size_t, int, int, Comm *,
                         void *) {
  return Success;
}
EXPORT const char *ncclGetErrorString(int) {
  return "the remote process exited";
}

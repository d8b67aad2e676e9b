//===- Nccl.cpp - All-reduces over GPUs by NCCL ---------------------------===//
#include "runtime/cuda/Nccl.h"

#include "support/Error.h"
#include "support/ThreadWithoutSignals.h"

#include <chrono>
#include <dlfcn.h>
#include <optional>

namespace brew::runtime::cuda {

/// Time between two polls for errors.
static constexpr std::chrono::milliseconds kPollInterval{50};
/// Time after which a thread that starts all-reduces is considered blocked by
/// other ranks.
static constexpr std::chrono::seconds kAbortTimeout{1};

Nccl::Nccl(const Device &owner, const std::vector<std::string> &libraries,
           Communicator *communicator)
    : device(owner), rankCommunicator(communicator), stream(device),
      ready(device), allReduced(device) {
  void *library = nullptr;
  std::string loaderErrors;
  for (const std::string &name : libraries) {
    if ((library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)))
      break;
    loaderErrors += (loaderErrors.empty() ? "" : "; ") + std::string(dlerror());
  }
  if (!library)
    throw unavailable("adding gradients up over GPUs needs NCCL, which cannot "
                      "be opened: " +
                      loaderErrors);
  std::string missing;
#define BREW_LOOK_UP(NAME, RESULT, ARGUMENTS)                                  \
  NAME = reinterpret_cast<decltype(NAME)>(dlsym(library, #NAME));              \
  if (!NAME)                                                                   \
    missing = #NAME;
  BREW_NCCL_FUNCTIONS(BREW_LOOK_UP)
#undef BREW_LOOK_UP
  if (!missing.empty())
    throw unavailable("adding gradients up over GPUs needs NCCL 2.9 or later; "
                      "the installed one lacks " +
                      missing);
  ncclUniqueId id = {};
  if (!rankCommunicator || rankCommunicator->isRoot())
    check(ncclGetUniqueId(&id), "starting NCCL");
  if (rankCommunicator)
    rankCommunicator->broadcast(&id, sizeof id);
  const int count = rankCommunicator ? rankCommunicator->ranks() : 1;
  device.makeCurrent();
  check(ncclCommInitRank(&comm, count, id,
                         rankCommunicator ? rankCommunicator->rank() : 0),
        count == 1
            ? "connecting the GPU of one rank"
            : "connecting the GPUs of " + std::to_string(count) + " ranks");
  try {
    watcher = startThreadWithoutSignals([this] { watch(); });
  } catch (...) {
    ncclCommDestroy(comm); // the destructor does not run
    throw;
  }
}

Nccl::~Nccl() {
  isClosing = true;
  if (watcher.joinable())
    watcher.join();
  if (!comm)
    return;
  if (hasFailed)
    return; // the abort has freed it
  ncclCommDestroy(comm);
}

std::string Nccl::name() const {
  int version = 0; // 22703 is 2.27.3
  ncclGetVersion(&version);
  return "NCCL " + std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

void Nccl::check(int status, const std::string &purpose) const {
  if (status != ncclSuccess && status != ncclInProgress)
    throw unavailable(purpose + ": NCCL: " + ncclGetErrorString(status));
}

void Nccl::startAllReduce(const std::vector<AllReduceBuffer> &sums,
                          const Stream &compute) {
  ready.record(compute);
  stream.wait(ready);
  // The first all-reduce connects the ranks, which wait for each other.
  std::optional<Communicator::WaitScope> waitScope;
  if (rankCommunicator)
    waitScope.emplace(*rankCommunicator);
  // The watcher may have aborted the communicator meanwhile.
  const std::lock_guard<std::timed_mutex> lock(mutex);
  throwIfFailed();
  const char *purpose = "adding gradients up over GPUs";
  check(ncclGroupStart(), purpose);
  int status = ncclSuccess;
  for (const AllReduceBuffer &sum : sums) {
    void *data = reinterpret_cast<void *>(sum.data);
    if (status == ncclSuccess || status == ncclInProgress)
      status = ncclAllReduce(data, data, sum.count,
                             sum.isDouble ? ncclFloat64 : ncclFloat32, ncclSum,
                             comm, stream.get());
  }
  // Always end the group; otherwise the next one cannot start.
  const int endStatus = ncclGroupEnd();
  check(status, purpose);
  check(endStatus, purpose);
}

void Nccl::waitForAllReduce(const Stream &compute) {
  allReduced.record(stream);
  compute.wait(allReduced);
}

void Nccl::checkForErrors() {
  // Wait for an abort in progress: the caller may destroy graphs that contain
  // all-reduces next.
  const std::lock_guard<std::timed_mutex> lock(mutex);
  throwIfFailed();
}

/// Needs no lock: `failureText` does not change once `hasFailed` is set.
void Nccl::throwIfFailed() const {
  if (hasFailed)
    throw unavailable(failureText);
}

/// Aborts all-reduces that wait for failed ranks, so that the training thread
/// reaches checkForErrors(). Called at most once, by the watcher.
void Nccl::abortAllReduces(const std::string &reason) {
  // A thread that starts all-reduces may hold the lock while it waits for the
  // failed ranks. Only the abort ends that wait, so do not insist on the lock.
  const std::unique_lock<std::timed_mutex> lock(mutex, kAbortTimeout);
  failureText = reason;
  hasFailed = true;
  ncclCommAbort(comm);
}

void Nccl::watch() {
  while (!isClosing) {
    int status = ncclSuccess;
    if (ncclCommGetAsyncError(comm, &status) == ncclSuccess &&
        status != ncclSuccess && status != ncclInProgress)
      return abortAllReduces(
          std::string("adding gradients up over GPUs: NCCL: ") +
          ncclGetErrorString(status));
    if (rankCommunicator)
      if (const std::optional<std::string> reason =
              rankCommunicator->failureText())
        return abortAllReduces(*reason);
    std::this_thread::sleep_for(kPollInterval);
  }
}

} // namespace brew::runtime::cuda

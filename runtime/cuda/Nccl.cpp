//===- Nccl.cpp - Sums over GPUs of several ranks -------------------------===//
#include "runtime/cuda/Nccl.h"

#include "support/Error.h"
#include "support/ThreadWithoutSignals.h"

#include <chrono>
#include <dlfcn.h>
#include <optional>

namespace brew::runtime::cuda {

/// Between two looks for errors.
static constexpr std::chrono::milliseconds kPollInterval{50};
/// In which a thread that starts sums goes on, or waits for other ranks.
static constexpr std::chrono::seconds kAbortTimeout{1};

Nccl::Nccl(const Device &owner, const std::vector<std::string> &libraries,
           Communicator *communicator)
    : device(owner), ranks(communicator), stream(device), ready(device),
      done(device) {
  void *library = nullptr;
  std::string tried;
  for (const std::string &name : libraries) {
    if ((library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)))
      break;
    tried += (tried.empty() ? "" : "; ") + std::string(dlerror());
  }
  if (!library)
    throw unavailable("adding gradients up over GPUs needs NCCL, which cannot "
                       "be opened: " +
                       tried);
  std::string missing;
#define BREW_LOOK_UP(NAME, RESULT, ARGUMENTS)                                  \
  NAME = reinterpret_cast<decltype(NAME)>(dlsym(library, #NAME));              \
  if (!NAME)                                                                   \
    missing = #NAME;
  BREW_NCCL_FUNCTIONS(BREW_LOOK_UP)
#undef BREW_LOOK_UP
  if (!missing.empty())
    throw unavailable("adding gradients up over GPUs needs NCCL 2.9 or later; "
                       "what is found lacks " +
                       missing);
  ncclUniqueId id = {};
  if (!ranks || ranks->isRoot())
    check(ncclGetUniqueId(&id), "starting NCCL");
  if (ranks)
    ranks->broadcast(&id, sizeof id);
  const int count = ranks ? ranks->ranks() : 1;
  device.makeCurrent();
  check(ncclCommInitRank(&opened, count, id, ranks ? ranks->rank() : 0),
        count == 1
            ? "connecting the GPU of one rank"
            : "connecting the GPUs of " + std::to_string(count) + " ranks");
  try {
    watcher = startThreadWithoutSignals([this] { watch(); });
  } catch (...) {
    ncclCommDestroy(opened); // no destructor will
    throw;
  }
}

Nccl::~Nccl() {
  closing = true;
  if (watcher.joinable())
    watcher.join();
  if (!opened)
    return;
  if (failed)
    return; // it was aborted
  ncclCommDestroy(opened);
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

void Nccl::startAllReduce(const std::vector<AllReduceBuffer> &sums, const Stream &compute) {
  ready.record(compute);
  stream.wait(ready);
  // The first sums connect the ranks, for which those wait for one another.
  std::optional<Communicator::WaitScope> waiting;
  if (ranks)
    waiting.emplace(*ranks);
  // It may be given up meanwhile.
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
                             opened, stream.get());
  }
  // Whatever failed: no other group could begin else.
  const int ended = ncclGroupEnd();
  check(status, purpose);
  check(ended, purpose);
}

void Nccl::waitForAllReduce(const Stream &compute) {
  done.record(stream);
  compute.wait(done);
}

void Nccl::checkForErrors() {
  // An abort that is under way ends first: graphs that contain sums may be
  // destroyed next.
  const std::lock_guard<std::timed_mutex> lock(mutex);
  throwIfFailed();
}

/// `failureText` does not change after `failed` is set, so no lock is needed.
void Nccl::throwIfFailed() const {
  if (failed)
    throw unavailable(failureText);
}

/// Ends what waits for ranks that will not come, so that the thread that trains
/// goes on to checkForErrors(). The watcher calls it once.
void Nccl::fail(const std::string &reason) {
  // A thread that starts sums may wait for those ranks itself, and has the
  // lock: the abort is what ends that.
  const std::unique_lock<std::timed_mutex> lock(mutex, kAbortTimeout);
  failureText = reason;
  failed = true;
  ncclCommAbort(opened);
}

void Nccl::watch() {
  while (!closing) {
    int status = ncclSuccess;
    if (ncclCommGetAsyncError(opened, &status) == ncclSuccess &&
        status != ncclSuccess && status != ncclInProgress)
      return fail(std::string("adding gradients up over GPUs: NCCL: ") +
                  ncclGetErrorString(status));
    if (ranks)
      if (const std::optional<std::string> reason = ranks->failureText())
        return fail(*reason);
    std::this_thread::sleep_for(kPollInterval);
  }
}

} // namespace brew::runtime::cuda

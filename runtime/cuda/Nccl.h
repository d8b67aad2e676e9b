//===- Nccl.h - Sums over GPUs of several ranks -----------------*- C++ -*-===//
//
// The few functions and numbers of NCCL that Brew uses, declared here and
// looked up with dlopen; see DriverApi.h. The ranks' communicator hands NCCL's
// id round and sees to failures: it stays what connects the ranks, beside
// gradients. One rank needs no such communicator.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/cuda/Device.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace brew::runtime::cuda {

using ncclComm_t = struct ncclComm *;
struct ncclUniqueId {
  char internal[128];
};

enum : int {
  ncclSuccess = 0,
  ncclInProgress = 7,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
  ncclSum = 0
};

#define BREW_NCCL_FUNCTIONS(FUNCTION)                                          \
  FUNCTION(ncclGetVersion, int, (int *))                                       \
  FUNCTION(ncclGetUniqueId, int, (ncclUniqueId *))                             \
  FUNCTION(ncclCommInitRank, int, (ncclComm_t *, int, ncclUniqueId, int))      \
  FUNCTION(ncclCommDestroy, int, (ncclComm_t))                                 \
  FUNCTION(ncclCommAbort, int, (ncclComm_t))                                   \
  FUNCTION(ncclCommGetAsyncError, int, (ncclComm_t, int *))                    \
  FUNCTION(ncclGroupStart, int, ())                                            \
  FUNCTION(ncclGroupEnd, int, ())                                              \
  FUNCTION(                                                                    \
      ncclAllReduce, int,                                                      \
      (const void *, void *, std::size_t, int, int, ncclComm_t, CUstream))     \
  FUNCTION(ncclGetErrorString, const char *, (int))

/// Numbers on the device that are added up over the ranks, in place.
struct AllReduceBuffer {
  CUdeviceptr data;
  std::size_t count;
  bool isDouble; ///< f64, else f32
};

class Nccl {
public:
  /// All ranks do it; `ranks` is null for a single one. Throws Error (3): no
  /// NCCL, or it fails.
  Nccl(const Device &device, const std::vector<std::string> &libraries,
       Communicator *ranks);
  ~Nccl();
  Nccl(const Nccl &) = delete;
  Nccl &operator=(const Nccl &) = delete;

  /// Null for a single rank.
  Communicator *communicator() const { return ranks; }
  /// Whether the steps of the current run add gradients up. A single rank
  /// always does: its sums change nothing.
  bool reducesInSteps() const {
    return !ranks || ranks->ranks() == 1 || ranks->reducesInSteps;
  }

  /// Begins to add up what is there when all of `compute` is done, on a stream
  /// of its own; may be captured. Every rank makes the same calls in the same
  /// order.
  void startAllReduce(const std::vector<AllReduceBuffer> &sums, const Stream &compute);
  /// What comes behind in `compute` waits for all sums that were started.
  void waitForAllReduce(const Stream &compute);

  /// Throws Error (3) if sums have failed, here or on another rank: then what
  /// was waited for did not end as it should.
  void checkForErrors();

  /// "NCCL 2.27.3".
  std::string name() const;

private:
  void check(int status, const std::string &purpose) const;
  void watch();
  void fail(const std::string &reason);
  void throwIfFailed() const;

#define BREW_DECLARE(NAME, RESULT, ARGUMENTS) RESULT(*NAME) ARGUMENTS = nullptr;
  BREW_NCCL_FUNCTIONS(BREW_DECLARE)
#undef BREW_DECLARE

  const Device &device;
  Communicator *ranks; ///< null for a single rank
  ncclComm_t opened = nullptr;
  Stream stream;
  Event ready, done;
  /// Held while sums are started, and while they are aborted unless a thread
  /// that starts sums holds it for too long.
  std::timed_mutex mutex;
  std::string failureText; ///< written once, before `failed` is set
  std::atomic<bool> failed{false};
  std::atomic<bool> closing{false};
  std::thread watcher; ///< asks NCCL for errors
};

} // namespace brew::runtime::cuda

//===- Nccl.h - All-reduces over GPUs by NCCL -------------------*- C++ -*-===//
//
// Declares the functions and constants of NCCL that Brew uses. They are looked
// up with dlopen; see DriverApi.h. The ranks' Communicator broadcasts NCCL's
// unique id and detects failed ranks; it remains the connection between ranks
// for everything but gradients. A single rank needs no Communicator.
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

/// Numbers in device memory that are all-reduced (summed) in place.
struct AllReduceBuffer {
  CUdeviceptr data;
  std::size_t count;
  bool isDouble; ///< f64, else f32
};

/// An NCCL communicator with a stream of its own for all-reduces, and a thread
/// that watches for errors.
class Nccl {
public:
  /// All ranks must create the object. `communicator` is null for a single
  /// rank. Throws Error (3) if NCCL is missing or fails.
  Nccl(const Device &device, const std::vector<std::string> &libraries,
       Communicator *communicator);
  ~Nccl();
  Nccl(const Nccl &) = delete;
  Nccl &operator=(const Nccl &) = delete;

  /// Returns the communicator of the constructor; null for a single rank.
  Communicator *communicator() const { return rankCommunicator; }
  /// Returns whether the steps of the current run all-reduce gradients. Always
  /// true for a single rank, whose all-reduces change nothing.
  bool reducesInSteps() const {
    return !rankCommunicator || rankCommunicator->ranks() == 1 ||
           rankCommunicator->reducesInSteps;
  }

  /// Enqueues all-reduces on NCCL's stream, after the work that is already on
  /// `compute`. May be captured. All ranks must make the same calls in the same
  /// order.
  void startAllReduce(const std::vector<AllReduceBuffer> &sums,
                      const Stream &compute);
  /// Makes later work on `compute` wait for all started all-reduces.
  void waitForAllReduce(const Stream &compute);

  /// Throws Error (3) if an all-reduce has failed on this or another rank. The
  /// results of work that waited for it are then invalid.
  void checkForErrors();

  /// Returns the name and version, such as "NCCL 2.27.3".
  std::string name() const;

private:
  void check(int status, const std::string &purpose) const;
  void watch();
  void abortAllReduces(const std::string &reason);
  void throwIfFailed() const;

#define BREW_DECLARE(NAME, RESULT, ARGUMENTS) RESULT(*NAME) ARGUMENTS = nullptr;
  BREW_NCCL_FUNCTIONS(BREW_DECLARE)
#undef BREW_DECLARE

  const Device &device;
  Communicator *rankCommunicator; ///< null for a single rank
  ncclComm_t comm = nullptr;
  Stream stream;
  Event ready, allReduced;
  /// Locked while all-reduces are started and while they are aborted. The abort
  /// proceeds without it if the starting thread blocks for too long.
  std::timed_mutex mutex;
  std::string failureText; ///< written once, before `hasFailed` is set
  std::atomic<bool> hasFailed{false};
  std::atomic<bool> isClosing{false};
  std::thread watcher; ///< polls NCCL for errors
};

} // namespace brew::runtime::cuda

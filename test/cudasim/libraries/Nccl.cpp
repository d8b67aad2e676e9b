//===- Nccl.cpp - Stand-in for NCCL ---------------------------------------===//
//
// The functions that Brew uses, by NCCL's names and numbers: sums over the
// processes that share an id, through memory that they share. Every rank's
// numbers are added in another order for each stretch of them, as NCCL's rings
// do. With NCCLSIM_FAIL_AFTER=N the sums of rank 1 fail behind the first N, as
// if its link had gone.
//
//===----------------------------------------------------------------------===//
#include "../driver/Driver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <random>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace cudasim {

namespace {

enum Status : int {
  Ok = 0,
  CudaError = 1,
  SystemError = 2,
  InvalidArgument = 4,
  RemoteError = 6
};

constexpr int kMostRanks = 16;
/// Bytes of a rank that are added up at a time.
constexpr std::size_t kStretch = std::size_t(1) << 20;
constexpr std::chrono::seconds kConnecting{60};

struct UniqueId {
  char internal[128];
};

struct Slot {
  std::size_t count;
  int type;
  alignas(64) char data[kStretch];
};

/// New shared memory is zeros.
struct Shared {
  std::atomic<int> attached, arrived, generation;
  Slot slots[kMostRanks];
};

} // namespace

struct Communicator {
  Shared *shared;
  std::string name;
  int rank, ranks;
  std::atomic<bool> aborted{false};
  std::atomic<int> error{Ok};
  unsigned long long sums = 0;
};

namespace {

/// Waits for all ranks; false if that was aborted.
bool meet(Communicator &comm) {
  Shared &shared = *comm.shared;
  const int generation = shared.generation;
  if (++shared.arrived == comm.ranks) {
    shared.arrived = 0;
    ++shared.generation;
    return true;
  }
  while (shared.generation == generation) {
    if (comm.aborted)
      return false;
    std::this_thread::yield();
  }
  return true;
}

template <typename Value>
void addUp(const Communicator &comm, std::size_t stretch, Value *target,
           std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Value sum = 0;
    for (int r = 0; r < comm.ranks; ++r) {
      const int from =
          static_cast<int>((stretch + static_cast<std::size_t>(r)) %
                           static_cast<std::size_t>(comm.ranks));
      Value value;
      std::memcpy(&value, comm.shared->slots[from].data + i * sizeof value,
                  sizeof value);
      sum += value;
    }
    target[i] = sum;
  }
}

struct Sum {
  Communicator *comm;
  char *data;
  std::size_t count;
  int type; ///< 7: f32, 8: f64

  void run() const {
    const std::size_t size = type == 8 ? 8 : 4;
    cudasim_require_range(data, count * size, "ncclAllReduce");
    static const long long failAfter = [] {
      const char *text = std::getenv("NCCLSIM_FAIL_AFTER");
      return text ? std::atoll(text) : -1;
    }();
    if (failAfter >= 0 && comm->rank == 1 &&
        comm->sums >= static_cast<unsigned long long>(failAfter))
      comm->error = RemoteError;
    ++comm->sums;
    Slot &own = comm->shared->slots[comm->rank];
    const std::size_t most = kStretch / size;
    for (std::size_t first = 0, stretch = 0; first < count;
         first += most, ++stretch) {
      const std::size_t length = std::min(most, count - first);
      if (comm->error != Ok)
        while (!comm->aborted) // as a kernel that waits for its peer
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      own.count = count;
      own.type = type;
      std::memcpy(own.data, data + first * size, length * size);
      if (comm->aborted || !meet(*comm))
        return;
      for (int r = 0; r < comm->ranks; ++r)
        if (comm->shared->slots[r].count != count ||
            comm->shared->slots[r].type != type) {
          std::fprintf(stderr,
                       "cudasim: ncclAllReduce: rank %d adds up %zu "
                       "elements, rank %d others\n",
                       comm->rank, count, r);
          std::_Exit(70);
        }
      if (type == 8)
        addUp(*comm, stretch, reinterpret_cast<double *>(data) + first, length);
      else
        addUp(*comm, stretch, reinterpret_cast<float *>(data) + first, length);
      if (!meet(*comm))
        return;
    }
  }
};

} // namespace

CUDASIM_API int ncclGetVersion(int *version) {
  *version = 22703;
  return Ok;
}

CUDASIM_API int ncclGetUniqueId(UniqueId *id) {
  std::random_device device;
  std::snprintf(id->internal, sizeof id->internal, "/ncclsim-%d-%08x",
                static_cast<int>(getpid()), device());
  return Ok;
}

CUDASIM_API int ncclCommInitRank(Communicator **comm, int ranks, UniqueId id,
                                 int rank) {
  if (ranks < 1 || ranks > kMostRanks || rank < 0 || rank >= ranks)
    return InvalidArgument;
  if (cudasim_require_no_capture() != Success)
    return CudaError; // it allocates
  const int file = shm_open(id.internal, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0)
    return SystemError;
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    return SystemError;
  auto opened = std::make_unique<Communicator>();
  opened->shared = static_cast<Shared *>(memory);
  opened->name = id.internal;
  opened->rank = rank;
  opened->ranks = ranks;
  ++opened->shared->attached;
  const auto begin = std::chrono::steady_clock::now();
  while (opened->shared->attached < ranks) {
    if (std::chrono::steady_clock::now() - begin > kConnecting)
      return SystemError;
    std::this_thread::yield();
  }
  shm_unlink(id.internal); // all have it
  *comm = opened.release();
  return Ok;
}

CUDASIM_API int ncclCommAbort(Communicator *comm) {
  comm->aborted = true; // it stays: work that is queued names it
  return Ok;
}

CUDASIM_API int ncclCommDestroy(Communicator *comm) {
  munmap(comm->shared, sizeof(Shared));
  delete comm;
  return Ok;
}

CUDASIM_API int ncclCommGetAsyncError(Communicator *comm, int *error) {
  *error = comm->error;
  return Ok;
}

CUDASIM_API int ncclGroupStart() { return Ok; }
CUDASIM_API int ncclGroupEnd() { return Ok; }

CUDASIM_API int ncclAllReduce(const void *source, void *target,
                              std::size_t count, int type, int operation,
                              Communicator *comm, Stream *stream) {
  if (source != target || (type != 7 && type != 8) || operation != 0 || !comm)
    return InvalidArgument;
  auto *sum = new Sum{comm, static_cast<char *>(target), count, type};
  return cudasim_enqueue(
             stream, [](void *state) { static_cast<Sum *>(state)->run(); },
             [](void *state) { delete static_cast<Sum *>(state); }, sum)
             ? SystemError
             : Ok;
}

CUDASIM_API const char *ncclGetErrorString(int status) {
  switch (status) {
  case Ok:
    return "no error";
  case CudaError:
    return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
  case SystemError:
    return "unhandled system error";
  case InvalidArgument:
    return "invalid argument";
  case RemoteError:
    return "remote process exited or there was a network error";
  default:
    return "unknown result code";
  }
}

} // namespace cudasim

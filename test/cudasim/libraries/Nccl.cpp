//===- Nccl.cpp - Simulated NCCL ------------------------------------------===//
//
// The functions of NCCL that Brew uses: all-reduces over the processes that
// share an id, through shared memory. The order of ranks in sums differs from
// chunk to chunk, as in NCCL's rings. With NCCLSIM_FAIL_AFTER=N the all-reduces
// of rank 1 fail after the first N, as if its link had gone down.
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

constexpr int kMaxRanks = 16;
/// Bytes per rank that are reduced at a time.
constexpr std::size_t kChunkBytes = std::size_t(1) << 20;
constexpr std::chrono::seconds kConnectTimeout{60};

struct UniqueId {
  char internal[128];
};

struct Slot {
  std::size_t count;
  int type;
  alignas(64) char data[kChunkBytes];
};

/// New shared memory is zero-initialised.
struct SharedState {
  std::atomic<int> attached, arrived, generation;
  Slot slots[kMaxRanks];
};

} // namespace

struct Communicator {
  SharedState *shared;
  std::string name;
  int rank, ranks;
  std::atomic<bool> aborted{false};
  std::atomic<int> error{Ok};
  unsigned long long allReduceCount = 0;
};

namespace {

/// Waits for all ranks. Returns false if the communicator was aborted.
bool barrier(Communicator &comm) {
  SharedState &shared = *comm.shared;
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
void reduceChunk(const Communicator &comm, std::size_t chunk, Value *target,
                 std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Value sum = 0;
    for (int r = 0; r < comm.ranks; ++r) {
      const int sourceRank =
          static_cast<int>((chunk + static_cast<std::size_t>(r)) %
                           static_cast<std::size_t>(comm.ranks));
      Value value;
      std::memcpy(&value,
                  comm.shared->slots[sourceRank].data + i * sizeof value,
                  sizeof value);
      sum += value;
    }
    target[i] = sum;
  }
}

struct AllReduce {
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
        comm->allReduceCount >= static_cast<unsigned long long>(failAfter))
      comm->error = RemoteError;
    ++comm->allReduceCount;
    Slot &own = comm->shared->slots[comm->rank];
    const std::size_t chunkElements = kChunkBytes / size;
    for (std::size_t first = 0, chunk = 0; first < count;
         first += chunkElements, ++chunk) {
      const std::size_t length = std::min(chunkElements, count - first);
      if (comm->error != Ok)
        while (!comm->aborted) // like a kernel that waits for its peer
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      own.count = count;
      own.type = type;
      std::memcpy(own.data, data + first * size, length * size);
      if (comm->aborted || !barrier(*comm))
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
        reduceChunk(*comm, chunk, reinterpret_cast<double *>(data) + first,
                    length);
      else
        reduceChunk(*comm, chunk, reinterpret_cast<float *>(data) + first,
                    length);
      if (!barrier(*comm))
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
  if (ranks < 1 || ranks > kMaxRanks || rank < 0 || rank >= ranks)
    return InvalidArgument;
  if (cudasim_require_no_capture() != Success)
    return CudaError; // the real function allocates
  const int file = shm_open(id.internal, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(SharedState)) != 0)
    return SystemError;
  void *memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE,
                      MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    return SystemError;
  auto opened = std::make_unique<Communicator>();
  opened->shared = static_cast<SharedState *>(memory);
  opened->name = id.internal;
  opened->rank = rank;
  opened->ranks = ranks;
  ++opened->shared->attached;
  const auto begin = std::chrono::steady_clock::now();
  while (opened->shared->attached < ranks) {
    if (std::chrono::steady_clock::now() - begin > kConnectTimeout)
      return SystemError;
    std::this_thread::yield();
  }
  shm_unlink(id.internal); // all ranks have opened it
  *comm = opened.release();
  return Ok;
}

CUDASIM_API int ncclCommAbort(Communicator *comm) {
  comm->aborted = true; // not deleted: enqueued work refers to it
  return Ok;
}

CUDASIM_API int ncclCommDestroy(Communicator *comm) {
  munmap(comm->shared, sizeof(SharedState));
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
  auto *allReduce =
      new AllReduce{comm, static_cast<char *>(target), count, type};
  return cudasim_enqueue(
             stream,
             [](void *state) { static_cast<AllReduce *>(state)->run(); },
             [](void *state) { delete static_cast<AllReduce *>(state); },
             allReduce)
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

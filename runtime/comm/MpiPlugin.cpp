//===- MpiPlugin.cpp - Transport plugin for MPI (libbrew_mpi.so) ----------===//

#include "runtime/comm/Plugin.h"

// Do not link the C++ bindings of old MPIs.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstring>
#include <list>
#include <string>
#include <vector>

namespace {

constexpr int kMessageTag = 1;

MPI_Comm operations = MPI_COMM_NULL, messages = MPI_COMM_NULL;
MPI_Request activeRequest = MPI_REQUEST_NULL;
std::string failure;
int rankCount = 1;
std::vector<int> receivedCounts, receivedOffsets; ///< of allToAll()

struct PendingSend {
  std::vector<char> bytes;
  MPI_Request request;
};
std::list<PendingSend>
    pendingSends; ///< messages whose transfer may not have finished

/// Returns the error message of an MPI status; null for success.
const char *errorText(int status) {
  if (status == MPI_SUCCESS)
    return nullptr;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  failure.assign(text, static_cast<std::size_t>(length));
  return failure.c_str();
}

MPI_Datatype typeOf(BrewCommType type) {
  return type == BREW_COMM_F64   ? MPI_DOUBLE
         : type == BREW_COMM_F32 ? MPI_FLOAT
                                 : MPI_BYTE;
}

const char *begin(int *rank, int *ranks, int *local, int *localRank) {
  int provided = 0;
  if (const char *error = errorText(
          MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided)))
    return error;
  // Use separate communicators, which return errors and receive no messages of
  // other code.
  for (MPI_Comm *comm : {&operations, &messages}) {
    if (const char *error = errorText(MPI_Comm_dup(MPI_COMM_WORLD, comm)))
      return error;
    MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
  }
  MPI_Comm_rank(operations, rank);
  MPI_Comm_size(operations, ranks);
  rankCount = *ranks;
  MPI_Comm node = MPI_COMM_NULL;
  if (const char *error = errorText(MPI_Comm_split_type(
          operations, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node)))
    return error;
  MPI_Comm_size(node, local);
  MPI_Comm_rank(node, localRank);
  return errorText(MPI_Comm_free(&node));
}

const char *end() { return errorText(MPI_Finalize()); }

void abortAll(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

const char *allReduce(void *data, std::size_t count, BrewCommType type) {
  return errorText(MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count),
                                  typeOf(type), MPI_SUM, operations,
                                  &activeRequest));
}

const char *allToAll(const void *data, const int *counts, const int *offsets,
                     void *to, int received, BrewCommType type) {
  receivedCounts.assign(static_cast<std::size_t>(rankCount), received);
  receivedOffsets.clear();
  for (int rank = 0; rank < rankCount; ++rank)
    receivedOffsets.push_back(rank * received);
  return errorText(MPI_Ialltoallv(data, counts, offsets, typeOf(type), to,
                                  receivedCounts.data(), receivedOffsets.data(),
                                  typeOf(type), operations, &activeRequest));
}

const char *allGather(void *data, const int *counts, const int *offsets,
                      BrewCommType type) {
  return errorText(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data,
                                   counts, offsets, typeOf(type), operations,
                                   &activeRequest));
}

const char *broadcast(void *data, std::size_t bytes) {
  return errorText(MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, 0,
                              operations, &activeRequest));
}

const char *test(int *done) {
  return errorText(MPI_Test(&activeRequest, done, MPI_STATUS_IGNORE));
}

const char *send(int to, const void *message, std::size_t bytes) {
  for (auto it = pendingSends.begin(); it != pendingSends.end();) {
    int done = 0;
    MPI_Test(&it->request, &done, MPI_STATUS_IGNORE);
    it = done ? pendingSends.erase(it) : std::next(it);
  }
  PendingSend &next = pendingSends.emplace_back();
  const char *first = static_cast<const char *>(message);
  next.bytes.assign(first, first + bytes);
  return errorText(MPI_Isend(next.bytes.data(), static_cast<int>(bytes),
                             MPI_BYTE, to, kMessageTag, messages,
                             &next.request));
}

const char *receive(int *from, void *message, std::size_t bytes) {
  int hasArrived = 0;
  MPI_Status status;
  *from = -1;
  if (const char *error = errorText(MPI_Iprobe(MPI_ANY_SOURCE, kMessageTag,
                                               messages, &hasArrived, &status)))
    return error;
  if (!hasArrived)
    return nullptr;
  *from = status.MPI_SOURCE;
  return errorText(MPI_Recv(message, static_cast<int>(bytes), MPI_BYTE, *from,
                            kMessageTag, messages, MPI_STATUS_IGNORE));
}

} // namespace

extern "C" __attribute__((visibility("default"))) const BrewCommPlugin *
brew_comm_plugin() {
  static char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(name, &length);
  name[std::strcspn(name, ",\n")] = 0;
  static const BrewCommPlugin plugin = {
      kBrewCommVersion, name,      begin,     end,  abortAll, allReduce,
      allToAll,         allGather, broadcast, test, send,     receive};
  return &plugin;
}

//===- Communicator.cpp - C API: communicators ----------------------------===//

#include "runtime/api/Handles.h"

#include "runtime/comm/Communicator.h"

using namespace brew;
using namespace brew::api;

namespace {

/// Runs `body` with the runtime's communicator.
template <typename Body>
brew_status withCommunicator(brew_communicator *communicator, Body &&body) {
  if (!communicator)
    return BREW_USAGE;
  return guarded(communicator->message, [&] {
    if (!communicator->communicator)
      throw usage("the communicator could not be opened");
    body(*communicator->communicator);
  });
}

} // namespace

int brew_communicator_is_available(void) {
  return runtime::Communicator::isAvailable();
}

int brew_communicator_is_launched(void) {
  return runtime::Communicator::isLaunched();
}

brew_status brew_communicator_open(const brew_communicator_options *options,
                                   brew_communicator **communicator) {
  return api::open(communicator, [&](brew_communicator &handle) {
    const brew_communicator_options cOptions = copyFromCaller(options);
    runtime::CommunicatorOptions runtimeOptions;
    if (!(cOptions.timeout >= 0))
      throw usage("the timeout is negative");
    if (cOptions.timeout > 0)
      runtimeOptions.timeout = cOptions.timeout;
    runtimeOptions.deterministic = cOptions.deterministic;
    handle.communicator =
        std::make_shared<runtime::Communicator>(runtimeOptions);
  });
}

const char *brew_communicator_message(const brew_communicator *communicator) {
  return communicator ? communicator->message.text() : Message::outOfMemory();
}

int brew_communicator_rank(const brew_communicator *communicator) {
  return communicator && communicator->communicator
             ? communicator->communicator->rank()
             : 0;
}

int brew_communicator_ranks(const brew_communicator *communicator) {
  return communicator && communicator->communicator
             ? communicator->communicator->ranks()
             : 1;
}

int brew_communicator_local_ranks(const brew_communicator *communicator) {
  return communicator && communicator->communicator
             ? communicator->communicator->localRanks()
             : 1;
}

int brew_communicator_local_rank(const brew_communicator *communicator) {
  return communicator && communicator->communicator
             ? communicator->communicator->localRank()
             : 0;
}

int brew_communicator_has_collective_error(
    const brew_communicator *communicator) {
  return communicator && communicator->communicator &&
         communicator->communicator->hasCollectiveError();
}

brew_status brew_communicator_broadcast(brew_communicator *communicator,
                                        void *data, size_t bytes) {
  return withCommunicator(communicator, [&](runtime::Communicator &ranks) {
    if (!data && bytes)
      throw usage("the bytes are NULL");
    ranks.broadcast(data, bytes);
  });
}

brew_status brew_communicator_start_all_reduce(
    brew_communicator *communicator, uint32_t number,
    const brew_reduction_buffer *pieces, size_t piece_count) {
  return withCommunicator(communicator, [&](runtime::Communicator &ranks) {
    if (ranks.isAllReducing(number))
      throw usage("all-reduce " + std::to_string(number) +
                  " is already in flight");
    if (!pieces && piece_count)
      throw usage("the buffers are NULL");
    std::vector<runtime::ReductionBuffer> buffers;
    for (std::size_t i = 0; i < piece_count; ++i) {
      if (!pieces[i].data && pieces[i].count)
        throw usage("the data of buffer " + std::to_string(i) + " are NULL");
      buffers.push_back({reinterpret_cast<std::byte *>(pieces[i].data),
                         pieces[i].count, /*isDouble=*/false});
    }
    ranks.startAllReduce(number, buffers);
  });
}

brew_status brew_communicator_wait_all_reduce(brew_communicator *communicator,
                                              uint32_t number) {
  return withCommunicator(communicator, [&](runtime::Communicator &ranks) {
    if (!ranks.isAllReducing(number))
      throw usage("all-reduce " + std::to_string(number) + " was not started");
    ranks.waitAllReduce(number);
  });
}

brew_status brew_communicator_check_all_equal(brew_communicator *communicator,
                                              const char *what,
                                              const char *value) {
  return withCommunicator(communicator, [&](runtime::Communicator &ranks) {
    if (!what || !value)
      throw usage("there is nothing to compare");
    ranks.checkAllEqual({{what, value}});
  });
}

brew_status brew_communicator_close(brew_communicator *communicator) {
  return withCommunicator(communicator,
                          [](runtime::Communicator &ranks) { ranks.close(); });
}

void brew_communicator_abort(brew_communicator *communicator, int status) {
  if (communicator && communicator->communicator)
    communicator->communicator->abort(status);
  std::abort();
}

void brew_communicator_destroy(brew_communicator *communicator) {
  delete communicator;
}

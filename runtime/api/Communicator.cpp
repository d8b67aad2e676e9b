//===- Communicator.cpp - The C API's ranks -------------------------------===//

#include "runtime/api/Handles.h"

#include "runtime/comm/Communicator.h"

using namespace brew;
using namespace brew::api;

int brew_communicator_is_launched(void) {
  return runtime::Communicator::isLaunched();
}

brew_status brew_communicator_open(const brew_communicator_options *options,
                                   brew_communicator **communicator) {
  return api::open(communicator, [&](brew_communicator &handle) {
    const brew_communicator_options given = take(options);
    runtime::CommunicatorOptions chosen;
    if (!(given.timeout >= 0))
      throw usage("the timeout is negative");
    if (given.timeout > 0)
      chosen.timeout = given.timeout;
    chosen.deterministic = given.deterministic;
    handle.communicator = std::make_shared<runtime::Communicator>(chosen);
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

int brew_communicator_failed_together(const brew_communicator *communicator) {
  return communicator && communicator->communicator &&
         communicator->communicator->failedTogether();
}

brew_status brew_communicator_close(brew_communicator *communicator) {
  if (!communicator)
    return BREW_USAGE;
  return guarded(communicator->message, [&] {
    if (!communicator->communicator)
      throw usage("the communicator could not be opened");
    communicator->communicator->close();
  });
}

void brew_communicator_abort(brew_communicator *communicator, int status) {
  if (communicator && communicator->communicator)
    communicator->communicator->abort(status);
  std::abort();
}

void brew_communicator_destroy(brew_communicator *communicator) {
  delete communicator;
}

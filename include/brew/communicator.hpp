//===- communicator.hpp - Training on several ranks -------------*- C++ -*-===//
//
// Part of brew.hpp, which says what holds for all of it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/communicator.h>
#include <brew/support.hpp>

namespace brew::api {

struct CommunicatorOptions {
  double timeout = 0; ///< seconds; 0: the library's default
  bool deterministic = false;
};

class Communicator {
public:
  static bool isLaunched() { return brew_communicator_is_launched(); }

  explicit Communicator(const CommunicatorOptions &options = {}) {
    auto given = makeStruct<brew_communicator_options>();
    given.timeout = options.timeout;
    given.deterministic = options.deterministic;
    brew_communicator *opened = nullptr;
    const brew_status status = brew_communicator_open(&given, &opened);
    handle.reset(opened);
    detail::check(status, brew_communicator_message(opened));
  }

  brew_communicator *get() const { return handle.get(); }
  int rank() const { return brew_communicator_rank(get()); }
  int ranks() const { return brew_communicator_ranks(get()); }
  int localRanks() const { return brew_communicator_local_ranks(get()); }
  int localRank() const { return brew_communicator_local_rank(get()); }
  bool failedTogether() const {
    return brew_communicator_failed_together(get());
  }
  void close() {
    detail::check(brew_communicator_close(get()),
                  brew_communicator_message(get()));
  }
  void abort(int status) { brew_communicator_abort(get(), status); }

private:
  detail::Owner<brew_communicator, brew_communicator_destroy> handle;
};

} // namespace brew::api

//===- communicator.hpp - Training on several ranks -------------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/communicator.h>
#include <brew/support.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::api {

struct CommunicatorOptions {
  double timeout = 0; ///< seconds; 0: the library's default
  bool deterministic = false;
};

class Communicator {
public:
  static bool isAvailable() { return brew_communicator_is_available(); }
  static bool isLaunched() { return brew_communicator_is_launched(); }

  explicit Communicator(const CommunicatorOptions &options = {}) {
    auto cOptions = makeStruct<brew_communicator_options>();
    cOptions.timeout = options.timeout;
    cOptions.deterministic = options.deterministic;
    brew_communicator *opened = nullptr;
    const brew_status status = brew_communicator_open(&cOptions, &opened);
    handle.reset(opened);
    detail::check(status, brew_communicator_message(opened));
  }

  brew_communicator *get() const { return handle.get(); }
  int rank() const { return brew_communicator_rank(get()); }
  int ranks() const { return brew_communicator_ranks(get()); }
  int localRanks() const { return brew_communicator_local_ranks(get()); }
  int localRank() const { return brew_communicator_local_rank(get()); }
  bool hasCollectiveError() const {
    return brew_communicator_has_collective_error(get());
  }
  void broadcast(void *data, std::size_t bytes) {
    check(brew_communicator_broadcast(get(), data, bytes));
  }
  void startAllReduce(std::uint32_t number,
                      const std::vector<brew_reduction_buffer> &pieces) {
    check(brew_communicator_start_all_reduce(get(), number, pieces.data(),
                                             pieces.size()));
  }
  void waitAllReduce(std::uint32_t number) {
    check(brew_communicator_wait_all_reduce(get(), number));
  }
  void checkAllEqual(const std::string &what, const std::string &value) {
    check(
        brew_communicator_check_all_equal(get(), what.c_str(), value.c_str()));
  }
  void close() { check(brew_communicator_close(get())); }
  void abort(int status) { brew_communicator_abort(get(), status); }

private:
  void check(brew_status status) {
    detail::check(status, brew_communicator_message(get()));
  }

  detail::UniqueHandle<brew_communicator, brew_communicator_destroy> handle;
};

} // namespace brew::api

//===- together.cpp - Ranks without a trainer -----------------------------===//
//
// mpirun -n N together: concurrent all-reduces, a broadcast from rank 0, checks
// for equality, and usage errors. Prints nothing on success.
//
//===----------------------------------------------------------------------===//
#include <brew/brew.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace brew;

namespace {

void require(bool condition, const char *failure) {
  if (condition)
    return;
  std::fprintf(stderr, "together: failed: %s\n", failure);
  std::_Exit(1);
}

/// Returns the status of the error that `body` throws, BREW_OK without one.
template <typename Body> brew_status statusOf(Body &&body) {
  try {
    body();
  } catch (const api::Error &error) {
    return error.status();
  }
  return BREW_OK;
}

} // namespace

int main() {
  require(api::Communicator::isAvailable(), "there is no transport");
  api::CommunicatorOptions options;
  options.deterministic = true;
  api::Communicator ranks(options);
  const auto rank = static_cast<float>(ranks.rank());
  const auto count = static_cast<float>(ranks.ranks());

  std::vector<float> a(100000, 1 + rank), b = {rank, 2 * rank}, none;
  ranks.startAllReduce(7, {{a.data(), a.size()}, {none.data(), 0}});
  ranks.startAllReduce(3, {{b.data(), 1}, {b.data() + 1, 1}});
  require(statusOf([&] { ranks.startAllReduce(3, {}); }) == BREW_USAGE,
          "a number is used twice");
  ranks.waitAllReduce(3);
  ranks.waitAllReduce(7);
  const float sum = count * (count - 1) / 2;
  require(b[0] == sum && b[1] == 2 * sum, "the small sum");
  require(a.front() == sum + count && a.back() == sum + count, "the large sum");
  require(statusOf([&] { ranks.waitAllReduce(7); }) == BREW_USAGE,
          "a sum is awaited twice");
  require(brew_communicator_start_all_reduce(ranks.get(), 1, nullptr, 1) ==
              BREW_USAGE,
          "the buffers are null");
  const brew_reduction_buffer empty = {nullptr, 4};
  require(brew_communicator_start_all_reduce(ranks.get(), 1, &empty, 1) ==
              BREW_USAGE,
          "the data of a buffer is null");
  require(brew_communicator_broadcast(ranks.get(), nullptr, 4) == BREW_USAGE &&
              brew_communicator_check_all_equal(ranks.get(), "plan", nullptr) ==
                  BREW_USAGE &&
              brew_communicator_broadcast(nullptr, nullptr, 0) == BREW_USAGE,
          "null pointers");

  std::string word = ranks.rank() == 0 ? "root" : "....";
  ranks.broadcast(word.data(), word.size());
  require(word == "root", "the broadcast");

  ranks.checkAllEqual("number of ranks", std::to_string(ranks.ranks()));
  try {
    ranks.checkAllEqual("number", std::to_string(ranks.rank() == 1));
    require(false, "ranks agree on different values");
  } catch (const api::Error &error) {
    require(error.status() == BREW_BAD_INPUT &&
                std::string(error.what()) ==
                    "rank 1 disagrees with rank 0: it has another number",
            error.what());
  }
  require(ranks.hasCollectiveError(), "the error is collective");
  ranks.close();
}

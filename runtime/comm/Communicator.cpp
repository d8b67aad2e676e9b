//===- Communicator.cpp - Ranks of a data-parallel run --------------------===//

#include "runtime/comm/Communicator.h"

#include "runtime/comm/CollectiveOperations.h"
#include "runtime/comm/DrainStdio.h"
#include "runtime/comm/StallDetector.h"
#include "runtime/comm/Transport.h"
#include "support/ThreadWithoutSignals.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

namespace brew::runtime {

using comm::Activity;
using comm::Clock;
using comm::CollectiveOperation;

namespace {

/// Interval at which an idle thread polls for messages of other ranks.
constexpr std::chrono::milliseconds kIdleInterval{20};
/// Pause between two tests of a running operation after the first
/// kSpinningTests tests: shorter than the latency of a message, and cheap for
/// the compute threads.
constexpr std::chrono::microseconds kTestInterval{20};
constexpr int kSpinningTests = 200;
/// Number of tests of an operation between two polls for messages.
constexpr int kTestsPerPoll = 512;
/// Seconds in which a launcher ends a process after its request to abort.
constexpr unsigned kAbortSeconds = 30;

std::uint64_t hashOf(const std::string &text) {
  std::uint64_t hash = 14695981039346656037u; // FNV-1a
  for (unsigned char c : text)
    hash = (hash ^ c) * 1099511628211u;
  return hash;
}

} // namespace

struct Communicator::State {
  explicit State(CommunicatorOptions initialOptions)
      : options(initialOptions) {}

  CommunicatorOptions options;
  const BrewCommPlugin *plugin = nullptr;
  std::string transport;
  int rank = 0, ranks = 1, localRanks = 1, localRank = 0;

  std::mutex mutex;
  std::condition_variable changed;
  struct PostedOperation {
    std::unique_ptr<CollectiveOperation> operation;
    std::uint64_t number;
  };
  std::deque<PostedOperation> queue;
  std::uint64_t lastPosted = 0, lastDone = 0; ///< numbers of operations
  Activity activity;
  std::optional<std::string> failure;
  bool hasBegun = false, isClosing = false, isClosed = false;
  std::optional<int> abortStatus; ///< set to request an abort
  bool hasCollectiveError = false;
  double unreportedWait = 0; ///< seconds, not yet sent to the other ranks
  std::vector<double> waits; ///< by rank, since takeStraggler()
  std::map<std::uint32_t, std::uint64_t> buckets; ///< running all-reduces
  std::thread thread;

  void run();
  void perform(CollectiveOperation &operation,
               comm::StallDetector &stallDetector);
  void poll(comm::StallDetector &stallDetector, const std::string &operation);
  void abortIfRequested();
  std::uint64_t post(std::unique_ptr<CollectiveOperation> operation);
  void await(std::uint64_t number);
  void failWith(const std::string &text);
};

void Communicator::State::failWith(const std::string &text) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!failure)
    failure = text;
  changed.notify_all();
}

void Communicator::State::abortIfRequested() {
  std::unique_lock<std::mutex> lock(mutex);
  if (!abortStatus)
    return;
  const int status = *abortStatus;
  lock.unlock();
  plugin->abort(status);
}

void Communicator::State::poll(comm::StallDetector &stallDetector,
                               const std::string &operation) {
  abortIfRequested();
  Activity currentActivity;
  {
    std::lock_guard<std::mutex> lock(mutex);
    currentActivity = activity;
  }
  if (const std::optional<std::string> reason =
          stallDetector.poll(currentActivity, operation))
    failWith(*reason);
}

void Communicator::State::perform(CollectiveOperation &operation,
                                  comm::StallDetector &stallDetector) {
  const std::string description = operation.describe();
  while (operation.startNext(*plugin)) {
    int isDone = 0;
    for (int tests = 0;; ++tests) {
      comm::check(*plugin, plugin->test(&isDone));
      if (isDone)
        break;
      if (tests < kSpinningTests)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(kTestInterval);
      if (tests % kTestsPerPoll == kSpinningTests)
        poll(stallDetector, description);
    }
  }
}

void Communicator::State::run() {
  try {
    plugin = &comm::openTransport();
    transport = plugin->name;
    comm::check(*plugin, plugin->begin(&rank, &ranks, &localRanks, &localRank));
  } catch (const std::exception &error) {
    return failWith(error.what());
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    activity.since = Clock::now();
    hasBegun = true;
    changed.notify_all();
  }
  comm::StallDetector stallDetector(*plugin, rank, ranks, options.timeout);
  try {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait_for(lock, kIdleInterval, [&] {
        return !queue.empty() || isClosing || abortStatus;
      });
      if (queue.empty()) {
        if (isClosing)
          break;
        lock.unlock();
        poll(stallDetector, "");
        continue;
      }
      PostedOperation next = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      perform(*next.operation, stallDetector);
      lock.lock();
      lastDone = next.number;
      changed.notify_all();
    }
    comm::check(*plugin, plugin->end());
    std::lock_guard<std::mutex> lock(mutex);
    isClosed = true;
    changed.notify_all();
  } catch (const std::exception &error) {
    failWith(error.what());
    // After a failure the transport can only abort.
    for (;;) {
      abortIfRequested();
      std::this_thread::sleep_for(kIdleInterval);
    }
  }
}

std::uint64_t
Communicator::State::post(std::unique_ptr<CollectiveOperation> operation) {
  std::lock_guard<std::mutex> lock(mutex);
  activity = {false, Clock::now()};
  queue.push_back({std::move(operation), ++lastPosted});
  changed.notify_all();
  return lastPosted;
}

void Communicator::State::await(std::uint64_t number) {
  std::unique_lock<std::mutex> lock(mutex);
  if (lastDone < number) {
    const Clock::time_point begin = Clock::now();
    activity = {true, begin};
    changed.wait(lock, [&] { return lastDone >= number || failure; });
    unreportedWait +=
        std::chrono::duration<double>(Clock::now() - begin).count();
  }
  activity = {false, Clock::now()};
  if (failure && lastDone < number)
    throw unavailable(*failure);
}

bool Communicator::isAvailable() {
  try {
    comm::openTransport();
    return true;
  } catch (const Error &) {
    return false;
  }
}

bool Communicator::isLaunched() {
  auto count = [](const char *name) {
    const char *text = std::getenv(name);
    return text ? std::atoi(text) : 0;
  };
  // Open MPI and PMI set these variables. PMIx has no such variable, but Slurm
  // does.
  return count("OMPI_COMM_WORLD_SIZE") > 1 || count("PMI_SIZE") > 1 ||
         (std::getenv("PMIX_RANK") && count("SLURM_NTASKS") > 1);
}

Communicator::Communicator(CommunicatorOptions options)
    : state(std::make_unique<State>(options)) {
  State &shared = *state;
  shared.thread = startThreadWithoutSignals([&shared] { shared.run(); });
  std::unique_lock<std::mutex> lock(shared.mutex);
  shared.changed.wait(lock, [&] { return shared.hasBegun || shared.failure; });
  if (shared.hasBegun)
    return;
  const Error error = unavailable(*shared.failure);
  lock.unlock();
  shared.thread.join();
  throw error;
}

Communicator::~Communicator() {
  if (state->isClosed || !state->hasBegun) {
    if (state->thread.joinable())
      state->thread.join();
    return;
  }
  abort(static_cast<int>(ExitStatus::Bug));
}

void Communicator::close() {
  State &shared = *state;
  std::unique_lock<std::mutex> lock(shared.mutex);
  shared.isClosing = true;
  shared.changed.notify_all();
  shared.changed.wait(lock, [&] { return shared.isClosed || shared.failure; });
  if (!shared.isClosed)
    throw unavailable(*shared.failure);
}

void Communicator::abort(int status) {
  comm::drainStdio();
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->abortStatus = status;
    state->changed.notify_all();
  }
  // The transport ends this process.
  sleep(kAbortSeconds);
  _exit(status);
}

int Communicator::rank() const { return state->rank; }
int Communicator::ranks() const { return state->ranks; }
int Communicator::localRanks() const { return state->localRanks; }
int Communicator::localRank() const { return state->localRank; }
const std::string &Communicator::transport() const { return state->transport; }
bool Communicator::isDeterministic() const {
  return state->options.deterministic;
}
bool Communicator::hasCollectiveError() const {
  return state->hasCollectiveError;
}

Communicator::WaitScope::WaitScope(Communicator &communicator)
    : ranks(communicator), begin(Clock::now()) {
  std::lock_guard<std::mutex> lock(ranks.state->mutex);
  ranks.state->activity = {true, begin};
}

Communicator::WaitScope::~WaitScope() {
  std::lock_guard<std::mutex> lock(ranks.state->mutex);
  const Clock::time_point now = Clock::now();
  ranks.state->unreportedWait +=
      std::chrono::duration<double>(now - begin).count();
  ranks.state->activity = {false, now};
}

std::optional<std::string> Communicator::failureText() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->failure;
}

void Communicator::reportProgress() {
  std::lock_guard<std::mutex> lock(state->mutex);
  state->activity = {false, Clock::now()};
}

void Communicator::startAllReduce(std::uint32_t bucket,
                                  const std::vector<ReductionBuffer> &buffers,
                                  bool asBf16) {
  std::unique_ptr<CollectiveOperation> operation;
  if (asBf16)
    operation =
        std::make_unique<comm::Bf16AllReduce>(bucket, buffers, rank(), ranks());
  else if (isDeterministic())
    operation = std::make_unique<comm::OrderedAllReduce>(bucket, buffers,
                                                         rank(), ranks());
  else
    operation = std::make_unique<comm::TransportAllReduce>(bucket, buffers);
  state->buckets[bucket] = state->post(std::move(operation));
}

bool Communicator::isAllReducing(std::uint32_t bucket) const {
  return state->buckets.count(bucket) != 0;
}

void Communicator::waitAllReduce(std::uint32_t bucket) {
  const auto found = state->buckets.find(bucket);
  if (found == state->buckets.end())
    throw Error(ExitStatus::Bug, "the sum of bucket " + std::to_string(bucket) +
                                     " is awaited, but was not started");
  const std::uint64_t number = found->second;
  state->buckets.erase(found);
  state->await(number);
}

void Communicator::broadcast(void *data, std::size_t bytes) {
  state->await(state->post(std::make_unique<comm::Broadcast>(data, bytes)));
}

/// Returns the values of all ranks, one block per rank.
std::vector<std::uint64_t>
Communicator::gather(const std::vector<std::uint64_t> &own,
                     const char *description) {
  // The operation shares the ownership, since it may outlive a failed wait.
  auto blocks = std::make_shared<std::vector<std::uint64_t>>(
      own.size() * static_cast<std::size_t>(ranks()));
  std::copy(own.begin(), own.end(),
            blocks->begin() + static_cast<std::ptrdiff_t>(own.size()) * rank());
  state->await(state->post(
      std::make_unique<comm::AllGatherBlocks>(blocks, ranks(), description)));
  return *blocks;
}

std::uint32_t Communicator::allReduceOr(std::uint32_t bits, bool countsWaits) {
  // The upper 32 bits are a time in microseconds.
  const double ownMicroseconds = countsWaits ? state->unreportedWait * 1e6 : 0;
  state->unreportedWait = 0;
  const auto sent = static_cast<std::uint64_t>(std::min(ownMicroseconds, 4e9));
  const std::vector<std::uint64_t> blocks =
      gather({sent << 32 | bits}, "the requests of all ranks");
  if (!countsWaits)
    state->unreportedWait = 0;
  state->waits.resize(blocks.size());
  std::uint64_t combined = 0;
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    state->waits[rank] += static_cast<double>(blocks[rank] >> 32) * 1e-6;
    combined |= blocks[rank];
  }
  return static_cast<std::uint32_t>(combined);
}

std::optional<comm::Straggler> Communicator::takeStraggler(double seconds) {
  std::vector<double> waits;
  waits.swap(state->waits);
  return comm::findStraggler(waits, seconds);
}

std::uint64_t Communicator::broadcastFromRoot(std::uint64_t value) {
  return gather({value}, "the values of rank 0").front();
}

std::vector<std::string> Communicator::gatherTexts(const std::string &own) {
  const char *const description = "the texts of all ranks";
  const std::vector<std::uint64_t> sizes = gather({own.size()}, description);
  const std::uint64_t maxSize = *std::max_element(sizes.begin(), sizes.end());
  std::vector<std::uint64_t> block(maxSize / sizeof(std::uint64_t) + 1);
  std::memcpy(block.data(), own.data(), own.size());
  const std::vector<std::uint64_t> blocks = gather(block, description);
  std::vector<std::string> result;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank)
    result.emplace_back(
        reinterpret_cast<const char *>(blocks.data() + rank * block.size()),
        sizes[rank]);
  return result;
}

void Communicator::allGatherSlices(std::byte *data,
                                   const std::vector<std::size_t> &offsets) {
  state->await(
      state->post(std::make_unique<comm::AllGatherSlices>(data, offsets)));
}

Error Communicator::collectiveError(Error error) {
  state->hasCollectiveError = true;
  return error;
}

void Communicator::checkAllEqual(
    const std::vector<std::pair<std::string, std::string>> &values) {
  const std::size_t count = values.size();
  std::vector<std::uint64_t> own;
  for (const auto &value : values)
    own.push_back(hashOf(value.second));
  const std::vector<std::uint64_t> blocks =
      gather(own, "the start of all ranks");
  for (std::size_t i = count; i < blocks.size(); ++i)
    if (blocks[i] != blocks[i % count]) {
      state->hasCollectiveError = true;
      throw badInput("rank " + std::to_string(i / count) +
                     " disagrees with rank 0: it has another " +
                     values[i % count].first);
    }
}

} // namespace brew::runtime

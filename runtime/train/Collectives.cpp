//===- Collectives.cpp - Collective operations of training ----------------===//

#include "runtime/train/Collectives.h"

#include "plan/Contract.h"
#include "runtime/comm/Communicator.h"
#include "runtime/session/Session.h"

namespace brew::runtime {
namespace {

/// A training run on one rank.
class SingleRank : public Collectives {
public:
  int rank() const override { return 0; }
  int count() const override { return 1; }
  std::uint32_t allReduceOr(std::uint32_t bits, bool) override { return bits; }
  std::vector<std::string> gatherTexts(const std::string &own) override {
    return {own};
  }
  void checkAllEqual(
      const std::vector<std::pair<std::string, std::string>> &) override {}
  Error collectiveError(Error error) override { return error; }
  caffe::RankSeed shareSeed(const caffe::RankSeed &own) override { return own; }
  double broadcastFromRoot(double own) override { return own; }
  void broadcastBuffer(std::uint32_t) override {}
  void setReducesInSteps(bool) override {}
  void allReduceGradients() override {}
  void reportProgress() override {}
  std::optional<comm::Straggler> takeStraggler(double) override { return {}; }
};

/// A training run on several ranks. As in Caffe's parallel.cpp, every rank
/// trains on its share of the records with the same parameters, and gradients
/// are averaged over the ranks. Rank 0 tests, logs and writes snapshots.
class SeveralRanks : public Collectives {
public:
  SeveralRanks(Executor &executor, Communicator &communicator)
      : executor(executor), ranks(communicator),
        reduceProgram(executor.findProgram(plan::programs::kReduce)) {}

  int rank() const override { return ranks.rank(); }
  int count() const override { return ranks.ranks(); }
  std::uint32_t allReduceOr(std::uint32_t bits, bool countsWaits) override {
    return ranks.allReduceOr(bits, countsWaits);
  }
  std::vector<std::string> gatherTexts(const std::string &own) override {
    return ranks.gatherTexts(own);
  }
  void checkAllEqual(
      const std::vector<std::pair<std::string, std::string>> &values) override {
    ranks.checkAllEqual(values);
  }
  Error collectiveError(Error error) override {
    return ranks.collectiveError(std::move(error));
  }
  caffe::RankSeed shareSeed(const caffe::RankSeed &own) override {
    return {ranks.broadcastFromRoot(own.common),
            static_cast<std::uint64_t>(ranks.rank())};
  }
  double broadcastFromRoot(double own) override {
    ranks.broadcast(&own, sizeof own);
    return own;
  }
  void broadcastBuffer(std::uint32_t buffer) override {
    executor.modify(buffer, [&](std::byte *bytes) {
      ranks.broadcast(
          bytes, executor.manifest().buffers(static_cast<int>(buffer)).size());
    });
  }
  void setReducesInSteps(bool inSteps) override {
    ranks.reducesInSteps = inSteps;
  }
  void allReduceGradients() override {
    if (ranks.reducesInSteps)
      return;
    ranks.reducesInSteps = true;
    executor.run(reduceProgram);
    executor.synchronize(); // finish on all ranks before one of them continues
    ranks.reducesInSteps = false;
  }
  void reportProgress() override { ranks.reportProgress(); }
  std::optional<comm::Straggler> takeStraggler(double seconds) override {
    return ranks.takeStraggler(seconds);
  }

private:
  Executor &executor;
  Communicator &ranks;
  int reduceProgram; ///< of plans for several ranks
};

} // namespace

std::unique_ptr<Collectives> Collectives::create(Session &session) {
  Communicator *ranks = session.communicator();
  if (!ranks || ranks->ranks() == 1)
    return std::make_unique<SingleRank>();
  return std::make_unique<SeveralRanks>(session.executor(), *ranks);
}

} // namespace brew::runtime

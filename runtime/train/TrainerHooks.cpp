//===- TrainerHooks.cpp - Hooks of a training run -------------------------===//

#include "runtime/train/TrainerHooks.h"

#include "runtime/train/Trainer.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::runtime {

/// The trainer as hooks see it.
class TrainerHooks::Access : public TrainerAccess {
public:
  explicit Access(Trainer &trainer) : trainer(trainer) {}
  Session &session() override { return trainer.session; }
  TrainerControl &control() override { return trainer.requests; }
  const caffe::SolverParameter &solver() const override {
    return trainer.solver;
  }
  bool hasLearner() const override { return trainer.options.hasLearner; }
  int iteration() const override { return trainer.currentIteration; }
  int trainProgram() const override { return trainer.trainProgram; }
  int testProgram(int net) const override {
    return trainer.nets[static_cast<std::size_t>(net)].program;
  }
  bool hasAllHistory() const override { return !trainer.options.shardUpdate; }
  void requireSnapshots() const override {
    trainer.probeSnapshotFolder(trainer.prefix);
  }
  bool hasEpochs() const override { return !layerWithEpochs().empty(); }
  std::uint64_t epochs() const override {
    const std::string layer = layerWithEpochs();
    for (const caffe::ReaderCursor &cursor : trainer.pipeline->cursors())
      if (cursor.layer() == layer)
        return cursor.epoch();
    return 0;
  }
  void forEachTestBatch(int net, const std::function<void()> &body) override {
    trainer.drainInFlight(0);
    trainer.session.prepare();
    const auto &testNet = trainer.nets[static_cast<std::size_t>(net)];
    for (int i = 0; i < trainer.solver.test_iter(net); ++i) {
      if (trainer.requests.isStopRequested())
        return;
      trainer.reportProgress();
      testNet.pipeline->feed();
      trainer.executor.run(testNet.program);
      body();
    }
  }

private:
  /// Returns the name of the first data layer that counts epochs, or "".
  std::string layerWithEpochs() const {
    const plan::Manifest &manifest = trainer.executor.manifest();
    for (const plan::DataInput &input :
         manifest.programs(trainer.trainProgram).data_inputs()) {
      caffe::LayerParameter layer;
      if (!layer.ParseFromString(input.layer()))
        continue;
      for (const char *type :
           {"Data", "AnnotatedData", "ImageData", "HDF5Data"})
        if (layer.type() == type)
          return layer.name();
    }
    return "";
  }

  Trainer &trainer;
};

TrainerHooks::TrainerHooks(Trainer &trainer, int testNets,
                           std::vector<std::string> folders)
    : access(std::make_unique<Access>(trainer)),
      hooks(std::make_unique<Hooks>(*access, testNets, std::move(folders))) {}
TrainerHooks::~TrainerHooks() = default;

//===----------------------------------------------------------------------===//
// Trainer
//===----------------------------------------------------------------------===//

/// Called on rank 0 only, which sends the requests of its hooks to the other
/// ranks.
void Trainer::openHooks() {
  hooks = std::make_unique<TrainerHooks>(*this, testNets(), lookupFolders());
  for (const std::string &file : options.hooks)
    hooks->get().addFile(file);
}

Hooks &Trainer::requireHooks() {
  if (!hooks)
    throw usageError("only rank 0 has hooks, and this is another rank");
  return hooks->get();
}

void Trainer::addHook(const std::string &line, HookFunction function) {
  requireHooks().add(line, std::move(function));
}

/// Returns whether any rank has hooks.
bool Trainer::hasHooks() const {
  return rankCount() > 1 ? hooksAnywhere : hooks && !hooks->get().empty();
}

/// Runs the hooks of a trigger and carries out their requests; returns whether
/// they request a snapshot, which the caller writes. All ranks must call it.
bool Trainer::runHooks(HookTrigger trigger) {
  if (!hasHooks())
    return false;
  HookRequests hookRequests;
  if (hooks)
    hookRequests = hooks->get().runDue(trigger, currentIteration);
  if (hookRequests.stop)
    watch->requestStop(*hookRequests.stop);
  for (const BestMetric *metric : hookRequests.best)
    startBestSnapshot(*metric);
  constexpr std::uint32_t kSnapshot = 1;
  // Bit net + 1 requests a test of the net. All nets from kMaxNamedTestNets on
  // share one bit.
  std::uint32_t bits = hookRequests.snapshot ? kSnapshot : 0;
  for (int net : hookRequests.tests)
    bits |= 2u << std::min(net, kMaxNamedTestNets);
  bits = allReduceOr(bits, /*countsWaits=*/false);
  if (const std::uint32_t nets = bits >> 1) {
    bool areAllSelected = true;
    // A resumed run does not repeat these tests, so it needs no earlier
    // position.
    testNetsOf(
        [&](int net) {
          const bool isSelected = nets >> std::min(net, kMaxNamedTestNets) & 1;
          areAllSelected &= isSelected;
          return isSelected;
        },
        /*repeatOnResume=*/false);
    if (areAllSelected && !stopRequested)
      lastTested = currentIteration;
  }
  return bits & kSnapshot;
}

} // namespace brew::runtime

//===- SubKernelEmitter.h - Emission of a sub-kernel as CUDA C++ ----------===//
#pragma once

#include "compiler/cuda/BodyEmitter.h"

#include <set>

namespace brew::compiler::cuda {

/// Emits the statements of a sub-kernel. Schedules with single threads, packs,
/// teams and columns have source files of their own.
class SubKernelEmitter {
public:
  SubKernelEmitter(SubKernel &subKernel, const SubKernelSchedule &schedule,
                   KernelSource &text)
      : subKernel(subKernel), schedule(schedule), text(text), lines(text.lines),
        body(subKernel, schedule, text, values) {}

  void emit();
  /// Emits the sub-kernel as the body of the loop `turns`.
  void emitTurns(const Code &condition, const Code &turns);

private:
  bool isTeam() const { return schedule.team > 1 && schedule.columns == 1; }
  /// Names the results that later nests read. Declares shared memory; variables
  /// are declared where they are assigned.
  void declareLocals();
  /// Declares index variables that unravel the flat iteration `counter` over
  /// loops `loopNumbers`. The last loop may have another extent, step and name.
  void unravel(const Code &counter, llvm::ArrayRef<unsigned> loopNumbers,
               const Nest &nest, llvm::SmallVectorImpl<Code> &indices,
               llvm::StringRef prefix, int64_t lastExtent = 0,
               int64_t lastStep = 1, const Code &lastName = {});
  /// Declares the thread's lane in its team. Returns the team's number in its
  /// block.
  Code declareLane();
  /// Declares the thread's grid point. Returns whether it opened a block for
  /// threads that have one.
  bool enterPoint();
  /// Opens a loop of one block over all points.
  void enterAllPoints();
  /// Declares the grid indices of `point`.
  void unravelPoint();
  /// Returns the loop indices of a nest at the current grid point; only grid
  /// loops have one.
  llvm::SmallVector<Code> startIndices(const Nest &nest);
  /// Emits a comment with the nest's origin, unless the last one was the same.
  void emitOriginComment(const Nest &nest);
  /// Emits a barrier of the team.
  void sync();
  /// Synchronises the team if this nest reads results of other lanes, or
  /// overwrites values that they may still read.
  void syncBefore(const Nest &nest);
  /// Records the results that nest `n` writes and the arguments that it reads.
  void recordAccesses(unsigned n);
  template <typename Function>
  static void forEachSource(const Nest &nest, const Function &function) {
    for (const std::optional<Access> &input : nest.inputs)
      if (input)
        function(input->source);
    for (const Output &output : nest.outputs)
      if (output.initial)
        function(output.initial->source);
    for (const auto &entry : nest.extracts)
      function(entry.second.source);
  }
  void emitNest(unsigned n);
  /// Stores results whose buffers were read until now.
  void copyOut();

  // SubKernelPacks.cpp
  /// The packs that collect results of a nest: [result][buffer].
  using ResultPacks = llvm::SmallVector<llvm::SmallVector<Code>>;
  /// Emits a sub-kernel with `pack` neighbouring points per thread, whose
  /// accesses have 16 bytes.
  void emitPack();
  /// Returns the number of packs along the packed grid loop.
  int64_t packsPerRow() const {
    return subKernel.nests.front().loops[subKernel.grid - 1].extent /
           schedule.pack;
  }
  /// Returns whether a thread has the same position in the packed grid loop in
  /// every turn, and reads packs that depend on nothing else.
  bool sharePacks() const;
  /// Declares that position and loads these packs, as registers allow.
  void hoistPacks();
  /// Emits nests [begin, end), each of which is one iteration per point.
  void emitPackedRun(unsigned begin, unsigned end,
                     std::vector<ResultPacks> &results);
  void emitPackedReduction(unsigned n, ResultPacks &results);
  /// Chooses the results that need an array for later loops over the
  /// neighbours.
  void chooseArrays();
  /// Opens a loop over the neighbours in a pack. `indices` must contain the
  /// loop indices of the first neighbour. The call replaces them with the
  /// indices of the loop's current neighbour.
  void openNeighbours(const NestSchedule &inner,
                      llvm::SmallVectorImpl<Code> &indices);
  /// Declares accumulators for each neighbour: elements `k` of arrays.
  llvm::SmallVector<Code> declarePackedAccumulators(unsigned n);
  void startPackedAccumulators(unsigned n, llvm::SmallVector<Code> indices,
                               llvm::ArrayRef<Code> names);
  /// Emits one iteration of all neighbours; `names` are their accumulators, or
  /// the accumulators that they share.
  void iteratePack(unsigned n, llvm::SmallVector<Code> indices,
                   llvm::ArrayRef<Code> names);
  ResultPacks declareResultPacks(unsigned n);
  void storePacks(unsigned n, llvm::ArrayRef<Code> indices,
                  const ResultPacks &packs);
  /// Emits one lane's neighbouring values of a nest.
  void emitPackedValues(unsigned n, llvm::SmallVector<Code> indices);

  // SubKernelColumns.cpp
  /// Emits a sub-kernel in columns: threads share the reduction of each point,
  /// and one of them runs the remaining nests.
  void emitColumns();
  /// Declares the block's first column. Returns its index.
  Code enterColumns();
  /// Declares column `begin` + `number`, the first of `width` columns of the
  /// thread, clamped to the last columns. Adds to `isValid`, if not null, the
  /// condition that the column exists.
  Code columnOf(const Code &begin, const Code &number, unsigned width,
                Code *isValid);
  /// Combines the accumulators of a warp's lanes with equal columns, and stores
  /// each warp's results in shared memory.
  llvm::SmallVector<Code> combineWarps(llvm::ArrayRef<Code> names);
  /// Returns the unroll pragma, which sets the number of outstanding loads per
  /// thread. The number is high because 16-bit elements provide few bytes per
  /// load, and because only half of the possible threads are resident. Kernels
  /// with stages have more threads with fewer registers, and need fewer loads.
  std::string unrollPragma(const NestSchedule &inner) const;
  /// Opens the reduction loops with a share for each thread of a column.
  unsigned openShares(llvm::SmallVectorImpl<Code> &indices);

  // SubKernelThread.cpp
  /// Returns the results' initial values; empty if the body does not read them.
  llvm::SmallVector<Code> initials(const Nest &nest,
                                   llvm::ArrayRef<Code> indices);
  void openLoop(const Code &name, const std::string &type, const Code &begin,
                const Code &end, int64_t step = 1);
  /// Opens loops `loopNumbers`, nested.
  unsigned openLoops(llvm::ArrayRef<unsigned> loopNumbers, const Nest &nest,
                     llvm::SmallVectorImpl<Code> &indices,
                     llvm::StringRef prefix);
  void closeLoops(unsigned count);
  /// Declares accumulators with their initial values.
  llvm::SmallVector<Code> declareAccumulators(const Nest &nest,
                                              llvm::ArrayRef<Code> start);
  void assign(llvm::ArrayRef<Code> names, llvm::ArrayRef<Code> results);
  /// Emits all reductions of one value, in order. Returns the accumulators.
  llvm::SmallVector<Code> reduceInOrder(const Nest &nest,
                                        llvm::ArrayRef<unsigned> reductions,
                                        llvm::SmallVectorImpl<Code> &indices);
  /// Stores results of one iteration of a nest into variables, arrays, buffers,
  /// or `packs`.
  void store(unsigned n, llvm::ArrayRef<Code> indices,
             llvm::SmallVector<Code> results,
             const ResultPacks *packs = nullptr);
  /// Emits a nest that one thread runs alone for its grid point.
  void emitThreadNest(unsigned n);

  // SubKernelTeam.cpp
  /// Returns a neutral element for combining partial results.
  Code neutralElement(const Output &output, Combine combine,
                      const Code &initial);
  /// Returns the combination of two partial results.
  Code combined(const Output &output, Combine combine, const Code &a,
                const Code &b);
  /// Combines `name` over groups of `lanes` lanes; every lane receives the
  /// result.
  void combineLanes(const Output &output, Combine combine, const Code &name,
                    unsigned lanes, bool repeats);
  void emitTeamNest(unsigned n);
  /// Stores values that every lane has: variables in all lanes, other values in
  /// lane 0.
  void storeOnce(unsigned n, llvm::ArrayRef<Code> indices,
                 llvm::SmallVector<Code> results);
  /// Emits a reduction in which each group of lanes shares the reduction of one
  /// value.
  void emitSharedReduction(unsigned n);
  /// Adds the initial value to a combined result.
  void addInitial(const Output &output, Combine combine, const Code &initial,
                  const Code &name);
  static bool isZero(const Source &source);

  SubKernel &subKernel;
  const SubKernelSchedule &schedule;
  KernelSource &text;
  Statements &lines;
  EmittedValues values;
  BodyEmitter body;
  llvm::SmallVector<Code> gridIndices;
  Code packBegin;
  std::string lastOrigin;
  /// Results written and arguments read since the team last synchronised.
  std::set<std::pair<unsigned, unsigned>> writtenResults;
  std::set<unsigned> readArguments;
};

} // namespace brew::compiler::cuda

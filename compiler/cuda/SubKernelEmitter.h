//===- SubKernelEmitter.h - The statements of one subKernel, in the making ---*- C++ -*-===//
#pragma once

#include "compiler/cuda/BodyEmitter.h"

#include <set>

namespace brew::compiler::cuda {

/// Writes a subKernel's statements. What a thread does alone, what packs do and what
/// teams do have files of their own.
class SubKernelEmitter {
public:
  SubKernelEmitter(SubKernel &subKernel, const SubKernelSchedule &schedule, KernelSource &text)
      : subKernel(subKernel), schedule(schedule), text(text), lines(text.lines),
        body(subKernel, schedule, text, values) {}

  void emit();

private:
  bool isTeam() const { return schedule.team > 1 && schedule.columns == 1; }
  /// Names values that stay after their nest; shared memory is declared at
  /// once, variables where they get their value.
  void declareLocals();
  /// Declares variables for the iteration `counter` of the loops `which`
  /// together; the last one may have another extent and step, and be called
  /// otherwise.
  void unravel(const Code &counter, llvm::ArrayRef<unsigned> which,
               const Nest &nest, llvm::SmallVectorImpl<Code> &at,
               llvm::StringRef prefix, int64_t lastExtent = 0,
               int64_t lastStep = 1, const Code &lastName = {});
  /// Declares which thread of its team this is. Returns the number of the team
  /// in its block.
  Code declareLane();
  /// Finds the thread's grid point. Returns whether a block was opened for
  /// threads that have one.
  bool enterPoint();
  /// Opens a loop over all points, which one block does.
  void enterAllPoints();
  /// Declares the indices of `point`.
  void unravelPoint();
  llvm::SmallVector<Code> startOf(const Nest &nest);
  void commentOn(const Nest &nest);
  void sync();
  /// Waits for the team where this nest reads what other lanes have written, or
  /// overwrites what they may still have to read.
  void syncBefore(const Nest &nest);
  void noteAccesses(unsigned n);
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
  /// Results that share a buffer with what was read until now.
  void copyOut();

  // SubKernelPacks.cpp
  /// The variables that results of a nest are gathered in, [result][buffer].
  using ResultPacks = llvm::SmallVector<llvm::SmallVector<Code>>;
  /// `pack` neighbouring points: what they read and write moves 16 bytes at a
  /// time.
  void emitPack();
  /// Nests from `begin` up to `end` that each are one iteration of a point.
  void emitPackedRun(unsigned begin, unsigned end,
                     std::vector<ResultPacks> &results);
  void emitPackedReduction(unsigned n, ResultPacks &results);
  /// Which results later loops over the neighbours need.
  void chooseArrays();
  /// A loop over the neighbours; `at` has the first one's index of the packed
  /// loop, and then that of each.
  void openNeighbours(const NestSchedule &inner,
                      llvm::SmallVectorImpl<Code> &at);
  /// Accumulators for each neighbour; elements `k` of arrays.
  llvm::SmallVector<Code> declarePackedAccumulators(unsigned n);
  void startPackedAccumulators(unsigned n, llvm::SmallVector<Code> at,
                               llvm::ArrayRef<Code> names);
  /// One iteration of all neighbours; `names` has their accumulators, or the
  /// one that they share.
  void iteratePack(unsigned n, llvm::SmallVector<Code> at,
                   llvm::ArrayRef<Code> names);
  ResultPacks declareResultPacks(unsigned n);
  void storePacks(unsigned n, llvm::ArrayRef<Code> at,
                  const ResultPacks &packs);
  /// One lane's neighbouring values of a nest.
  void emitPackedValues(unsigned n, llvm::SmallVector<Code> at);

  // SubKernelColumns.cpp
  /// A block's neighbouring points: threads share the reduction of each, one of
  /// them does the rest.
  void emitColumns();
  /// Finds where the columns of the block begin; returns that.
  Code enterColumns();
  /// Declares column `number` of those from `begin`, the first of `width` that
  /// the thread has; where there are no more, another. Adds to `isValid`, if it
  /// is not null, that there is one.
  Code columnOf(const Code &begin, const Code &number,
                    unsigned width, Code *isValid);
  /// Adds up the accumulators of a warp's lanes that have the same columns,
  /// and leaves those of each warp in shared memory.
  llvm::SmallVector<Code> combineWarps(llvm::ArrayRef<Code> names);
  /// Loads that each thread has on their way, of an argument: elements of 16
  /// bits are few, and only half of the threads that could be resident are
  /// there; or with stages, more of them, with fewer registers.
  std::string unrolled(const NestSchedule &inner) const;
  /// The loops of the reduction, a share of it for each thread of a column.
  unsigned openShares(llvm::SmallVectorImpl<Code> &at);

  // SubKernelThread.cpp
  /// What the results hold before the first iteration; empty where the body
  /// does not read them.
  llvm::SmallVector<Code> initials(const Nest &nest,
                                       llvm::ArrayRef<Code> at);
  void openLoop(const Code &name, const std::string &type,
                const Code &begin, const Code &end, int64_t step = 1);
  /// Loops `which`, one inside the other.
  unsigned openLoops(llvm::ArrayRef<unsigned> which, const Nest &nest,
                     llvm::SmallVectorImpl<Code> &at,
                     llvm::StringRef prefix);
  void closeLoops(unsigned count);
  /// Declares accumulators with what they start from.
  llvm::SmallVector<Code>
  declareAccumulators(const Nest &nest, llvm::ArrayRef<Code> start);
  void assign(llvm::ArrayRef<Code> names, llvm::ArrayRef<Code> results);
  /// All reductions of one value, in order. Returns the accumulators.
  llvm::SmallVector<Code>
  reduceInOrder(const Nest &nest, llvm::ArrayRef<unsigned> reductions,
                llvm::SmallVectorImpl<Code> &at);
  /// Results of one place of a nest: into variables, arrays, buffers or packs
  /// of what goes there.
  void store(unsigned n, llvm::ArrayRef<Code> at,
             llvm::SmallVector<Code> results,
             const ResultPacks *packs = nullptr);
  /// One thread does the whole nest of its grid point.
  void emitThreadNest(unsigned n);

  // SubKernelTeam.cpp
  /// A value that changes nothing where partial results are combined.
  Code neutralElement(const Output &output, Combine combine,
                   const Code &initial);
  Code combined(const Output &output, Combine combine, const Code &a,
                    const Code &b);
  /// Combines `name` over groups of `lanes` lanes; every lane gets the result.
  void combineLanes(const Output &output, Combine combine, const Code &name,
                    unsigned lanes, bool repeats);
  void emitTeamNest(unsigned n);
  /// Values that every lane has: variables for all, the rest by lane 0.
  void storeOnce(unsigned n, llvm::ArrayRef<Code> at,
                 llvm::SmallVector<Code> results);
  /// Groups of lanes share the reduction of a value each.
  void emitSharedReduction(unsigned n);
  /// Adds to a combined result what it begins with.
  void addInitial(const Output &output, Combine combine,
                  const Code &initial, const Code &name);
  static bool isZero(const Source &source);

  SubKernel &subKernel;
  const SubKernelSchedule &schedule;
  KernelSource &text;
  Statements &lines;
  EmittedValues values;
  BodyEmitter body;
  llvm::SmallVector<Code> gridAt;
  Code packBegin;
  std::string lastOrigin;
  /// Since the team last waited: results written, arguments read.
  std::set<std::pair<unsigned, unsigned>> written;
  std::set<unsigned> readArguments;
};

} // namespace brew::compiler::cuda

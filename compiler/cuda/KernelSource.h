//===- KernelSource.h - Source of one kernel under construction -*- C++ -*-===//
#pragma once

#include "compiler/cuda/KernelSchedule.h"
#include "compiler/cuda/ScalarOps.h"
#include "compiler/cuda/SourceTree.h"
#include "compiler/cuda/UniqueNames.h"

#include <deque>

namespace brew::compiler::cuda {

/// An argument of a kernel function.
struct KernelArgument {
  Code name;
  mlir::Type element;
  int64_t count = 0; ///< units of the buffer (bufferType)
  bool read = false, written = false;
  /// The buffer may share memory with another argument.
  bool aliased = false;

  /// Returns whether eight elements share a byte.
  bool isBits() const { return element.isInteger(1); }
};

/// An array in shared memory.
struct SharedArray {
  Code name;
  mlir::Type element;
  int64_t count = 0;
  unsigned stage = 0; ///< stage that uses it
};

/// Collects the source of one kernel.
struct KernelSource {
  KernelSource() : scalars(prelude) {}
  KernelSource(const KernelSource &) = delete;

  Prelude prelude;
  ScalarOps scalars;
  Statements lines;
  std::vector<KernelArgument> arguments;
  std::vector<SharedArray> shared;
  /// Declarations of device variables that persist between launches.
  std::vector<Code> counters;
  unsigned threads = 1; ///< of a block
  /// The current block's number within its stage.
  Code block = Code::word("blockIdx.x");
  unsigned stage = 0;
  Code stages; ///< argument with the mask of stages to run; empty if there
               ///< is one stage
  PackedAccesses packs;

  /// Returns a new identifier, similar to `preferred` in readable text and to
  /// `canonical` in canonical text.
  Code unique(llvm::StringRef preferred, llvm::StringRef canonical) {
    symbols.push_back(
        {names.unique(preferred), canonicalNames.unique(canonical)});
    return Code::name(symbols.back());
  }
  /// Returns an identifier similar to the argument's name with `suffix`.
  Code derived(const Code &argument, const char *suffix) {
    const Identifier &identifier = *argument.identifier();
    return unique(identifier.name + suffix, identifier.canonical + suffix);
  }
  /// Declares an array in shared memory for the current stage.
  Code share(llvm::StringRef preferred, llvm::StringRef canonical,
             mlir::Type element, int64_t count) {
    shared.push_back({unique(preferred, canonical), element, count, stage});
    return shared.back().name;
  }
  /// Returns `prefix` and a number, for values without a name.
  Code numbered(llvm::StringRef prefix) {
    std::string name = names.numbered(prefix);
    symbols.push_back({name, name});
    return Code::name(symbols.back());
  }

  /// Return the C++ types of indices.
  std::string index() const { return prelude.wide ? "long long" : "int"; }
  std::string counter() const {
    return prelude.wide ? "unsigned long long" : "unsigned";
  }
  /// Returns a number of the counter type.
  Code count(int64_t value) const {
    return Code::word(std::to_string(value) + (prelude.wide ? "ull" : "u"));
  }

private:
  UniqueNames names, canonicalNames;
  std::deque<Identifier> symbols; ///< stable addresses
};

/// Appends the statements of `subKernel` to `text`.
void emitSubKernel(const Kernel &kernel, SubKernel &subKernel,
                   const SubKernelSchedule &schedule, KernelSource &text);

/// Appends a barrier if a turn has declared shared memory after the first
/// `sharedCount` arrays: the next turn overwrites values that slower threads
/// may still read.
void finishTurn(KernelSource &text, size_t sharedCount);

/// Appends the statements of a sub-kernel that is a stage of its own: if
/// `condition`, the loop `turns` over its blocks. Packs that are the same in
/// every turn are loaded before the loop.
void emitTurns(SubKernel &subKernel, const SubKernelSchedule &schedule,
               KernelSource &text, const Code &condition, const Code &turns);

} // namespace brew::compiler::cuda

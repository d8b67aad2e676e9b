//===- KernelSource.h - The code of one kernel, in the making -------*- C++ -*-===//
#pragma once

#include "compiler/cuda/UniqueNames.h"
#include "compiler/cuda/ScalarOps.h"
#include "compiler/cuda/KernelSchedule.h"
#include "compiler/cuda/SourceTree.h"

#include <deque>

namespace brew::compiler::cuda {

/// An argument of a kernel function.
struct KernelArgument {
  Code name;
  mlir::Type element;
  int64_t count = 0; ///< of what the buffer is made of
  bool read = false, written = false;
  /// It may share memory with another argument.
  bool aliased = false;

  /// Eight elements share a byte.
  bool isBits() const { return element.isInteger(1); }
};

/// An array in a block's shared memory.
struct SharedArray {
  Code name;
  mlir::Type element;
  int64_t count = 0;
  unsigned stage = 0; ///< that has it
};

/// What the subKernels of a kernel write into.
struct KernelSource {
  KernelSource() : scalars(prelude) {}
  KernelSource(const KernelSource &) = delete;

  Prelude prelude;
  ScalarOps scalars;
  Statements lines;
  std::vector<KernelArgument> arguments;
  std::vector<SharedArray> shared;
  /// Declarations of device memory that stays between launches.
  std::vector<Code> counters;
  unsigned threads = 1; ///< of a block
  /// The number of the running block among those of its stage.
  Code block = Code::word("blockIdx.x");
  unsigned stage = 0;
  Code stages; ///< the argument that says which ones run; "" if all do
  PackedAccesses packs;

  /// An identifier like `wanted`, in plain text like `plain`, that was not
  /// given before.
  Code unique(llvm::StringRef wanted, llvm::StringRef canonical) {
    symbols.push_back({names.unique(wanted), canonicalNames.unique(canonical)});
    return Code::name(symbols.back());
  }
  /// The name of `argument` with `suffix`, or one like it.
  Code derived(const Code &argument, const char *suffix) {
    const Identifier &identifier = *argument.identifier();
    return unique(identifier.name + suffix, identifier.canonical + suffix);
  }
  /// A new array of shared memory, of the stage at hand.
  Code share(llvm::StringRef wanted, llvm::StringRef canonical,
                 mlir::Type element, int64_t count) {
    shared.push_back({unique(wanted, canonical), element, count, stage});
    return shared.back().name;
  }
  /// `prefix` and a number, for values that have no name of their own.
  Code numbered(llvm::StringRef prefix) {
    std::string name = names.numbered(prefix);
    symbols.push_back({name, name});
    return Code::name(symbols.back());
  }

  /// C++ types of indices.
  std::string index() const { return prelude.wide ? "long long" : "int"; }
  std::string counter() const {
    return prelude.wide ? "unsigned long long" : "unsigned";
  }
  /// A number as a `counter`.
  Code count(int64_t value) const {
    return Code::word(std::to_string(value) + (prelude.wide ? "ull" : "u"));
  }

private:
  UniqueNames names, canonicalNames;
  std::deque<Identifier> symbols; ///< where they stay
};

/// Appends the statements of `subKernel` to `text`.
void emitSubKernel(const Kernel &kernel, SubKernel &subKernel,
                  const SubKernelSchedule &schedule, KernelSource &text);

} // namespace brew::compiler::cuda

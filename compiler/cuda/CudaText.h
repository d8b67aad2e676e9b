//===- CudaText.h - The code of one kernel, in the making -------*- C++ -*-===//
#pragma once

#include "compiler/cuda/CudaNames.h"
#include "compiler/cuda/CudaScalars.h"
#include "compiler/cuda/CudaSchedule.h"
#include "compiler/cuda/CudaTree.h"

#include <deque>

namespace brew::compiler::cuda {

/// An argument of a kernel function.
struct CudaArgument {
  CudaCode name;
  mlir::Type element;
  int64_t count = 0; ///< of what the buffer is made of
  bool read = false, written = false;
  /// It may share memory with another argument.
  bool aliased = false;

  /// Eight elements share a byte.
  bool isBits() const { return element.isInteger(1); }
};

/// An array in a block's shared memory.
struct CudaShared {
  CudaCode name;
  mlir::Type element;
  int64_t count = 0;
  unsigned stage = 0; ///< that has it
};

/// What the subKernels of a kernel write into.
struct CudaText {
  CudaText() : scalars(prelude) {}
  CudaText(const CudaText &) = delete;

  CudaPrelude prelude;
  CudaScalars scalars;
  CudaStatements lines;
  std::vector<CudaArgument> arguments;
  std::vector<CudaShared> shared;
  /// Declarations of device memory that stays between launches.
  std::vector<CudaCode> counters;
  unsigned threads = 1; ///< of a block
  /// The number of the running block among those of its stage.
  CudaCode block = CudaCode::word("blockIdx.x");
  unsigned stage = 0;
  CudaCode stages; ///< the argument that says which ones run; "" if all do
  CudaPacks packs;

  /// An identifier like `wanted`, in plain text like `plain`, that was not
  /// given before.
  CudaCode unique(llvm::StringRef wanted, llvm::StringRef plain) {
    symbols.push_back({names.unique(wanted), plainNames.unique(plain)});
    return CudaCode::name(symbols.back());
  }
  /// The name of `argument` with `suffix`, or one like it.
  CudaCode derived(const CudaCode &argument, const char *suffix) {
    const CudaSymbol &symbol = *argument.symbol();
    return unique(symbol.name + suffix, symbol.plain + suffix);
  }
  /// A new array of shared memory, of the stage at hand.
  CudaCode share(llvm::StringRef wanted, llvm::StringRef plain,
                 mlir::Type element, int64_t count) {
    shared.push_back({unique(wanted, plain), element, count, stage});
    return shared.back().name;
  }
  /// `prefix` and a number, for values that have no name of their own.
  CudaCode numbered(llvm::StringRef prefix) {
    std::string name = names.numbered(prefix);
    symbols.push_back({name, name});
    return CudaCode::name(symbols.back());
  }

  /// C++ types of indices.
  std::string index() const { return prelude.wide ? "long long" : "int"; }
  std::string counter() const {
    return prelude.wide ? "unsigned long long" : "unsigned";
  }
  /// A number as a `counter`.
  CudaCode count(int64_t value) const {
    return CudaCode::word(std::to_string(value) + (prelude.wide ? "ull" : "u"));
  }

private:
  CudaNames names, plainNames;
  std::deque<CudaSymbol> symbols; ///< where they stay
};

/// Appends the statements of `subKernel` to `text`.
void emitSubKernel(const Kernel &kernel, SubKernel &subKernel,
                  const SubKernelSchedule &schedule, CudaText &text);

} // namespace brew::compiler::cuda

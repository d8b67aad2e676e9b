//===- PackedAccesses.h - Accesses that move packs --------------*- C++ -*-===//
//
// A thread that processes `pack` neighbouring iterations of a loop can access
// an argument that moves along that loop as one vector if the address is
// provably aligned: only the loop itself, in steps of 1, may move it by less
// than a pack, and the buffer must be aligned to packs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernels/KernelModel.h"

#include <vector>

namespace brew::compiler::cuda {

struct NestSchedule;

/// Determines which accesses of a kernel move packs.
class PackedAccesses {
public:
  PackedAccesses() = default;
  /// Every address passed for argument i is a multiple of `alignments[i]`
  /// bytes.
  PackedAccesses(const Kernel &kernel, llvm::ArrayRef<int64_t> alignments);

  /// Return whether an access moves packs along `loop`.
  bool covers(unsigned argument, const LinearExpr &address, unsigned loop,
              unsigned pack) const;
  bool covers(const Access &access, unsigned loop, unsigned pack) const;
  /// Returns the same for a result. Threads write whole bytes of bits.
  bool coversResult(unsigned argument, const LinearExpr &address, unsigned loop,
                    unsigned pack) const;
  bool covers(const Nest &nest, mlir::Operation *op, const Extract &extract,
              unsigned loop, unsigned pack) const;

  // Return the same for a scheduled nest.
  bool covers(const Access &access, const NestSchedule &inner) const;
  bool covers(const Nest &nest, mlir::Operation *op, const Extract &extract,
              const NestSchedule &inner) const;
  bool coversResult(unsigned argument, const Output &output,
                    const NestSchedule &inner) const;
  bool coversStore(unsigned argument, const Output &store,
                   const NestSchedule &inner) const;

private:
  std::vector<int64_t> elementSizes, alignments; ///< bytes, for each argument
  std::vector<bool> areBits;                     ///< of each argument
};

} // namespace brew::compiler::cuda

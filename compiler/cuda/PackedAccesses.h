//===- PackedAccesses.h - Which accesses move several elements -------*- C++ -*-===//
//
// A thread that does `pack` neighbouring iterations of a loop can read and
// write what moves along that loop as one vector, if its address can be shown
// to be aligned: nothing but the loop's own steps of 1 may move it by less than
// a pack, and the buffer must begin where a pack may.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/kernels/KernelModel.h"

#include <vector>

namespace brew::compiler::cuda {

struct NestSchedule;

class PackedAccesses {
public:
  PackedAccesses() = default;
  /// `alignments` has, for each argument, bytes of which every address that it
  /// is given is a multiple.
  PackedAccesses(const Kernel &kernel, llvm::ArrayRef<int64_t> alignments);

  /// Whether `access` moves packs along `loop`.
  bool covers(unsigned argument, const LinearExpr &address, unsigned loop,
              unsigned pack) const;
  bool covers(const Access &access, unsigned loop, unsigned pack) const;
  /// The same for a result. Of bits a thread writes whole bytes.
  bool coversResult(unsigned argument, const LinearExpr &address, unsigned loop,
                    unsigned pack) const;
  bool covers(const Nest &nest, mlir::Operation *op, const Extract &extract,
              unsigned loop, unsigned pack) const;

  // The same for a nest as it is scheduled.
  bool covers(const Access &access, const NestSchedule &inner) const;
  bool covers(const Nest &nest, mlir::Operation *op, const Extract &extract,
              const NestSchedule &inner) const;
  bool coversResult(unsigned argument, const Output &output,
                    const NestSchedule &inner) const;
  bool coversStore(unsigned argument, const Output &store,
                   const NestSchedule &inner) const;

private:
  std::vector<int64_t> elements, alignments; ///< bytes, of each argument
  std::vector<bool> areBits;                 ///< of each argument
};

} // namespace brew::compiler::cuda

//===- ManifestBuilder.h - The manifest of a plan, piece by piece *- C++
//-*-===//
#pragma once

#include "compiler/WritePlan.h"

#include "dialects/Plan/PlanDialect.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <tuple>

namespace brew::compiler {

/// FILE:LINE:COL of the first prototxt place in a location.
std::string placeOf(mlir::Location loc);

/// Builds the manifest piece by piece: what outlives programs (WritePlan.cpp)
/// and the programs (WriteProgram.cpp).
class ManifestBuilder {
public:
  ManifestBuilder(mlir::ModuleOp module,
                  const std::vector<plan::Kernel> &kernels)
      : module(module), symbols(module), kernels(kernels) {}

  plan::Manifest build(const PlanInfo &info);

private:
  void addArenas();
  void addKernels();
  void addParameters();
  void addCarried();
  void addProgram(planir::ProgramOp program, const prototxt::NetRecord *record);
  void addLayers(planir::ProgramOp program, const prototxt::NetRecord &record,
                 plan::Program &out);
  void addDebugBuffer(planir::KeepOp keep, plan::Program &out);
  void addStep(mlir::Operation *op, plan::Program &out);
  unsigned buffer(llvm::StringRef name, llvm::StringRef arena, uint64_t offset,
                  mlir::MemRefType type, int program);
  unsigned buffer(mlir::Value value);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  const std::vector<plan::Kernel> &kernels;
  plan::Manifest manifest;
  llvm::StringMap<unsigned> arenas;
  llvm::StringMap<unsigned> kernelIndex;
  std::map<std::tuple<std::string, uint64_t, std::string, const void *, int>,
           unsigned>
      known;
  int currentProgram = -1;
};

} // namespace brew::compiler

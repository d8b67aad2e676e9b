//===- ManifestBuilder.h - The manifest of a plan, piece by piece ---------===//
#pragma once

#include "compiler/manifest/BuildManifest.h"

#include "dialects/Plan/PlanDialect.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <tuple>

namespace brew::compiler {

/// Builds the manifest piece by piece: what outlives programs (BuildManifest.cpp)
/// and the programs (ManifestPrograms.cpp), whose operations add their own entries
/// (StepEntries.cpp, InputOutputEntries.cpp).
class ManifestBuilder {
public:
  ManifestBuilder(mlir::ModuleOp module,
                  const std::vector<plan::Kernel> &kernels)
      : module(module), symbols(module), kernels(kernels) {}

  plan::Manifest build(const PlanMetadata &info);

  // For the entries of operations.

  /// Index of the buffer that `value` is; adds it if it is new.
  unsigned buffer(mlir::Value value);
  /// Bytes of buffers, which are added in that order if they are new.
  uint64_t bytesOf(mlir::ValueRange buffers);
  unsigned kernelIndexOf(llvm::StringRef name) const {
    return kernelIndex.lookup(name);
  }
  dialects::plan::KernelOp kernelOf(llvm::StringRef name) {
    return symbols.lookup<dialects::plan::KernelOp>(name);
  }
  const plan::Kernel &kernelEntry(unsigned kernel) const {
    return manifest.kernels(kernel);
  }
  /// Adds a step with the fields that all of them have.
  static plan::Step &addStep(dialects::plan::StepInterface op,
                             plan::Program &program);

private:
  void addArenas();
  void addKernels();
  void addParameters();
  void addPersistentState();
  void addProgram(dialects::plan::ProgramOp program,
                  const prototxt::NetMetadata *record);
  void addLayers(dialects::plan::ProgramOp program,
                 const prototxt::NetMetadata &record, plan::Program &out);
  unsigned buffer(llvm::StringRef name, dialects::plan::ArenaKind arena,
                  uint64_t offset, mlir::MemRefType type, int program);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  const std::vector<plan::Kernel> &kernels;
  plan::Manifest manifest;
  std::map<dialects::plan::ArenaKind, unsigned> arenas;
  llvm::StringMap<unsigned> kernelIndex;
  std::map<std::tuple<dialects::plan::ArenaKind, uint64_t, std::string,
                      const void *, int>,
           unsigned>
      known;
  int currentProgram = -1;
};

/// Sets the element type, dimensions, strides and size of a buffer.
void setBufferType(mlir::MemRefType type, plan::Buffer &buffer);
/// Sets the window of a call over one to three spatial dimensions.
void setWindow(dialects::plan::ConvolutionOp call, plan::Window &window);

/// Gives the operations of the plan dialect their entries in manifests.
void registerManifestEntries(mlir::DialectRegistry &registry);
/// The parts of it: steps, and what stands at the edges of a program.
void attachStepEntries(mlir::MLIRContext &context);
void attachInputOutputEntries(mlir::MLIRContext &context);

} // namespace brew::compiler

#include "compiler/ManifestInterface.h.inc"

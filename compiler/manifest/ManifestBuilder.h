//===- ManifestBuilder.h - Builder of a plan's manifest ---------*- C++ -*-===//
#pragma once

#include "compiler/manifest/BuildManifest.h"

#include "dialects/Plan/PlanDialect.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <tuple>

namespace brew::compiler {

/// Builds the manifest: first the entries that outlive programs
/// (BuildManifest.cpp), then the programs (ManifestPrograms.cpp). The
/// operations of a program add their own entries (StepEntries.cpp,
/// InputOutputEntries.cpp).
class ManifestBuilder {
public:
  ManifestBuilder(mlir::ModuleOp module,
                  const std::vector<plan::Kernel> &kernels)
      : module(module), symbols(module), kernels(kernels) {}

  plan::Manifest build(const PlanMetadata &metadata);

  // Used by the entries of operations.

  /// Returns the transform of an Input layer, or null.
  const plan::InputTransform *inputTransform(const std::string &layer) const {
    const auto found = inputTransforms.find(layer);
    return found == inputTransforms.end() ? nullptr : &found->second;
  }

  /// Returns the index of the buffer `value`. Adds the buffer if it is new.
  unsigned buffer(mlir::Value value);
  /// Returns the total size of `buffers` in bytes. Adds new buffers in their
  /// order.
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
  /// Adds a step and sets the fields common to all steps.
  static plan::Step &addStep(dialects::plan::StepInterface op,
                             plan::Program &program);
  /// Returns the access of a step to each of its operands, by its memory
  /// effects.
  llvm::SmallVector<plan::Operand::Access>
  accessesOf(dialects::plan::StepInterface op);
  /// Adds a buffer to the operands of a step.
  plan::Operand &addOperand(plan::Step &step, mlir::Value value,
                            plan::Operand::Access access);
  /// Adds all operands of `op` in their order.
  void addOperands(dialects::plan::StepInterface op, plan::Step &step);

private:
  void addArenas();
  void addKernels();
  void addParameters();
  void addPersistentState();
  void addProgram(dialects::plan::ProgramOp program,
                  const prototxt::NetMetadata *metadata);
  void addLayers(dialects::plan::ProgramOp program,
                 const prototxt::NetMetadata &metadata,
                 plan::Program &programEntry);
  unsigned buffer(llvm::StringRef name, dialects::plan::ArenaKind arena,
                  uint64_t offset, mlir::MemRefType type, int program);

  std::map<std::string, plan::InputTransform> inputTransforms;
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  mlir::SymbolTableCollection effectSymbols;
  const std::vector<plan::Kernel> &kernels;
  plan::Manifest manifest;
  std::map<dialects::plan::ArenaKind, unsigned> arenas;
  llvm::StringMap<unsigned> kernelIndex;
  std::map<std::tuple<dialects::plan::ArenaKind, uint64_t, std::string,
                      const void *, int>,
           unsigned>
      bufferIndices;
  int currentProgram = -1;
};

/// Sets the element type, dimensions, strides and size of a buffer.
void setBufferType(mlir::MemRefType type, plan::Buffer &buffer);
/// Sets the window of a convolution with one to three spatial dimensions.
void setWindow(dialects::plan::ConvolutionOp call, plan::Window &window);

/// Registers the manifest entries of the plan dialect's operations.
void registerManifestEntries(mlir::DialectRegistry &registry);
/// Attach the entries of steps, and of a program's inputs, outputs, pins and
/// checks.
void attachStepEntries(mlir::MLIRContext &context);
void attachInputOutputEntries(mlir::MLIRContext &context);

} // namespace brew::compiler

#include "compiler/ManifestInterface.h.inc"

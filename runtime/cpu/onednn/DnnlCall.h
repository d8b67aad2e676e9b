//===- DnnlCall.h - Library call by oneDNN, ready to run --------*- C++ -*-===//
//
// A plan specifies the operation, its buffers and their layouts. The oneDNN
// kernel, and whether it needs operands in other layouts, depend on the
// machine. They are chosen once, when the plan is loaded.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/CpuStep.h"
#include "runtime/cpu/Threads.h"
#include "runtime/cpu/onednn/WeightReorder.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace brew::runtime {

/// Weights in the layout that calls need. They are constant, or a run reads
/// them several times: in several calls, or in each iteration of a loop.
struct PackedWeights {
  const std::byte *source;
  dnnl::memory::desc layout, staged;
  bool isConstant;
  Arena memory;
  /// The run in which weights that are not constant were last packed; 0 if they
  /// were not packed yet.
  std::uint64_t run = 0;
};

/// The settings that the oneDNN calls of a plan share.
struct DnnlSettings {
  /// Number of threads for which implementations are chosen, and work is
  /// divided.
  int threads = 1;
  /// The threads that run the calls.
  const Threads *workers = nullptr;
  /// Do not use Winograd algorithms.
  bool exactConvolutions = false;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

/// The settings and the state that the oneDNN calls of a plan share.
struct DnnlContext : DnnlSettings {
  /// Packed weights of all calls.
  std::vector<std::unique_ptr<PackedWeights>> packed;
  /// Number of the current run of a program: shared weights are packed once in
  /// each run.
  std::uint64_t run = 1;
};

/// A buffer of the plan and its memory.
struct BoundBuffer {
  const plan::Buffer *buffer = nullptr;
  std::byte *data = nullptr;
  /// Runs do not change the values, such as weights at inference.
  bool isConstant = false;
  /// Several products of a run read the buffer, and its values do not change
  /// between them.
  bool isShared = false;
};

/// An argument of a primitive and its buffer in the plan.
struct DnnlOperand {
  int argument; // DNNL_ARG_...
  std::byte *data;
  /// The layout of the buffer in the plan.
  dnnl::memory::desc layout;
  /// The layout of the primitive. If it differs from `layout`, the elements are
  /// reordered into scratch memory before the primitive, or out of it
  /// afterwards.
  dnnl::memory::desc staged;
  /// The shape in which the primitive sees the staged bytes, e.g. a matrix.
  dnnl::memory::desc view;
  bool written = false;
  /// Add the result to the buffer, through scratch memory.
  bool accumulate = false;
  /// pack() reorders the elements, instead of every run.
  bool isConstant = false;
  /// The first call of a run that reads the elements reorders them.
  bool isShared = false;

  bool needsStaging() const { return accumulate || !(layout == staged); }
};

/// A sequence of oneDNN primitives.
class DnnlCall : public CpuStep {
public:
  explicit DnnlCall(DnnlContext &context) : context(context) {}

  /// Appends a primitive with its operands and the required reorders.
  void add(const dnnl::primitive_desc_base &description,
           const std::vector<DnnlOperand> &operands);
  /// Appends max(v, slope * v) on a buffer, in place.
  void addRelu(const dnnl::memory::desc &layout, std::byte *data, float slope);

  /// Packs constant operands, unless another call owns the packed weights.
  void pack() override {
    if (!shared)
      execute(packing);
  }
  std::uint64_t scratchBytes() const override { return scratchSize; }
  void bindScratch(std::byte *scratch) override;
  void run(const Threads &) override;

  std::string describe() const override { return "oneDNN " + name; }

private:
  struct Stage {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
    /// Replaces the primitive; copies `from` to `to`.
    std::optional<WeightReorder> reorder;
    dnnl::memory from, to;
  };
  struct Temporary {
    dnnl::memory memory;
    std::uint64_t offset;
  };
  dnnl::memory attach(const dnnl::memory::desc &layout, std::byte *data);
  dnnl::memory addTemporary(const dnnl::memory::desc &layout,
                            std::uint64_t offset);
  std::uint64_t reserveScratch(const dnnl::memory::desc &layout);
  void addStage(const dnnl::primitive_desc_base &description,
                const std::vector<std::pair<int, dnnl::memory>> &arguments,
                std::vector<Stage> &targetStages);
  void addReorder(const dnnl::memory &from, const dnnl::memory &to, bool sum,
                  std::vector<Stage> &targetStages);
  dnnl::memory stagedInput(const DnnlOperand &operand);
  PackedWeights &findOrAddPacked(const DnnlOperand &operand);
  void execute(const std::vector<Stage> &stageList);

  DnnlContext &context;
  std::vector<Stage> packing, stages;
  PackedWeights *shared = nullptr; ///< packed by run(), not by pack()
  std::vector<Temporary> temporaries;
  std::vector<dnnl::memory> attached; // keeps arguments alive
  std::uint64_t scratchSize = 0;
  std::string name; ///< oneDNN's name of the main kernel
};

/// Returns oneDNN's implementations of a primitive, in oneDNN's order, without
/// implementations for older processors; without `all`, only `first`. Returns
/// an empty list if `first` is empty.
std::vector<dnnl::primitive_desc>
implementationsOf(const dnnl::primitive_desc &first, bool all);

/// Returns oneDNN's name of the kernel, which is equal in every run.
std::string kernelName(const dnnl::primitive_desc_base &description);

/// Returns whether the kernel is oneDNN's reference loop. It is hundreds of
/// times slower than the others and must never be used silently.
bool isReferenceKernel(const dnnl::primitive_desc_base &description);

/// Returns whether calls support operands of this type: f32 and bf16.
bool isSupportedType(plan::DataType type);

/// Returns the type of a buffer's elements, a supported type.
dnnl::memory::data_type typeOf(const plan::Buffer &buffer);

/// Returns the buffer's dimensions, type and strides as a oneDNN layout.
dnnl::memory::desc layoutOf(const plan::Buffer &buffer);

/// Returns the post-ops of an epilogue. `sum`: the primitive accumulates.
/// `relu`: it applies the ReLU.
dnnl::primitive_attr attributesFor(const plan::Epilogue &epilogue, bool sum,
                                   bool relu);

/// A possible implementation of a call.
struct CallCandidate {
  /// The name is equal in every run with this oneDNN on this processor.
  std::string name;
  /// Creates the call. Throws Error (3) or dnnl::error, or returns null, if the
  /// candidate is not available.
  std::function<std::unique_ptr<CpuStep>(DnnlContext &)> make;
};

/// Returns all candidates for a call, starting with the choice of
/// makeConvolution() or makeInnerProduct(). Returns an empty list if oneDNN
/// does not support the types of the operands.
std::vector<CallCandidate>
convolutionCandidates(DnnlContext &context, const plan::ConvolutionCall &call,
                      BoundBuffer x, BoundBuffer w, BoundBuffer b,
                      BoundBuffer y);
std::vector<CallCandidate>
innerProductCandidates(DnnlContext &context, const plan::InnerProductCall &call,
                       BoundBuffer x, BoundBuffer w, BoundBuffer b,
                       BoundBuffer y);

/// Creates a call, chosen by a cost model. `where` identifies the step in
/// errors. Throws Error (3) if oneDNN has no fast implementation.
std::unique_ptr<CpuStep> makeConvolution(DnnlContext &context,
                                         const plan::ConvolutionCall &call,
                                         BoundBuffer x, BoundBuffer w,
                                         BoundBuffer b, BoundBuffer y,
                                         const std::string &where);
std::unique_ptr<DnnlCall> makeInnerProduct(DnnlContext &context,
                                           const plan::InnerProductCall &call,
                                           BoundBuffer x, BoundBuffer w,
                                           BoundBuffer b, BoundBuffer y,
                                           const std::string &where);

} // namespace brew::runtime

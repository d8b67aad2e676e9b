//===- DnnlCall.h - One vendor call of a plan, ready to run -----*- C++ -*-===//
//
// A plan says what to compute on which buffers, in which layout. Which oneDNN
// kernel does it, and whether it wants an operand in a layout of its own, is
// only known on this machine: it is settled once, when the plan is loaded.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/CpuCall.h"
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

/// Weights as calls want them: those that runs leave as they are, or those that
/// several calls of a run read, as the time steps of a recurrent layer do.
struct PackedWeights {
  const std::byte *source;
  dnnl::memory::desc layout, staged;
  bool isConstant;
  Arena memory;
  /// That they were packed in, where they are not fixed; 0: none.
  std::uint64_t run = 0;
};

struct DnnlContext {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  /// Threads the primitives are created for; part of their cost.
  int threads = 1;
  /// What computes beside them, on the same threads.
  const Threads *workers = nullptr;
  /// No Winograd algorithms.
  bool exactConvolutions = false;
  /// Those of all calls.
  std::vector<std::unique_ptr<PackedWeights>> packed;
  /// Of a program's steps, counted: shared weights are packed once in each.
  std::uint64_t run = 1;
};

/// A buffer of the plan and where it lies.
struct BoundBuffer {
  const plan::Buffer *buffer = nullptr;
  std::byte *data = nullptr;
  /// Runs leave its values as they are: weights at inference.
  bool isConstant = false;
  /// Several products of a run read it, and its values are the same for all.
  bool isShared = false;
};

/// How a primitive's argument is made from a buffer of the plan.
struct DnnlOperand {
  int argument; // DNNL_ARG_...
  std::byte *data;
  /// The buffer as it lies in the plan's arena.
  dnnl::memory::desc layout;
  /// The layout the primitive works on; where it is not `layout`, the elements
  /// are reordered into scratch before, or out of it after.
  dnnl::memory::desc staged;
  /// The staged bytes as the primitive sees them (a matrix, say).
  dnnl::memory::desc view;
  bool written = false;
  /// Add the result to the buffer, through scratch.
  bool accumulate = false;
  /// The elements are reordered by pack(), not in every run.
  bool isConstant = false;
  /// They are reordered by the first call of a run that reads them.
  bool isShared = false;

  bool needsStaging() const { return accumulate || !(layout == staged); }
};

class DnnlCall : public CpuCall {
public:
  explicit DnnlCall(DnnlContext &context) : context(context) {}

  /// Appends `description` over `operands`, with the reorders they need.
  void add(const dnnl::primitive_desc_base &description,
           const std::vector<DnnlOperand> &operands);
  /// Appends max(v, slope * v) on a buffer, in place.
  void addRelu(const dnnl::memory::desc &layout, std::byte *data, float slope);

  /// Reorders fixed operands that no call before has in the same place; before
  /// the first run, and when they have changed.
  void pack() override {
    if (!shared)
      execute(packing);
  }
  std::uint64_t scratchBytes() const override { return scratchSize; }
  void bindScratch(std::byte *scratch) override;
  void run() override;

  std::string implementation() const override { return "oneDNN " + name; }

private:
  struct Stage {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
    /// In the primitive's place, with what it reads and writes.
    std::optional<WeightReorder> reorder;
    dnnl::memory from, to;
  };
  struct Temporary {
    dnnl::memory memory;
    std::uint64_t offset;
  };
  dnnl::memory attach(const dnnl::memory::desc &layout, std::byte *data);
  dnnl::memory temporary(const dnnl::memory::desc &layout,
                         std::uint64_t offset);
  std::uint64_t reserve(const dnnl::memory::desc &layout);
  void addStage(const dnnl::primitive_desc_base &description,
                const std::vector<std::pair<int, dnnl::memory>> &arguments,
                std::vector<Stage> &list);
  void addReorder(const dnnl::memory &from, const dnnl::memory &to, bool sum,
                  std::vector<Stage> &list);
  dnnl::memory stagedInput(const DnnlOperand &operand);
  PackedWeights &findOrAddPacked(const DnnlOperand &operand);
  void execute(const std::vector<Stage> &list);

  DnnlContext &context;
  std::vector<Stage> packing, stages;
  PackedWeights *shared = nullptr; ///< that `packing` makes, not pack()
  std::vector<Temporary> temporaries;
  std::vector<dnnl::memory> attached; // keeps arguments alive
  std::uint64_t scratchSize = 0;
  std::string name; ///< oneDNN's, of the main kernel
};

/// What oneDNN has for a primitive, in its order, but for kernels of older
/// processors; only `first` without `all`. None where `first` is empty.
std::vector<dnnl::primitive_desc> implementationsOf(const dnnl::primitive_desc &first,
                                           bool all);

/// oneDNN's name of the kernel, the same in every run.
std::string kernelName(const dnnl::primitive_desc_base &description);

/// Whether oneDNN's kernel is its reference loop, hundreds of times slower than
/// the others: never taken silently.
bool isReferenceKernel(const dnnl::primitive_desc_base &description);

/// Whether calls take operands of this type: f32 and bf16.
bool isSupportedType(plan::DataType type);

/// The type of a buffer's elements, one that calls take.
dnnl::memory::data_type typeOf(const plan::Buffer &buffer);

/// The buffer's dimensions, type and strides as a oneDNN layout.
dnnl::memory::desc layoutOf(const plan::Buffer &buffer);

/// Post-ops for an epilogue; `sum` only when the primitive itself accumulates.
dnnl::primitive_attr attributesFor(const plan::Epilogue &epilogue, bool sum,
                                   bool relu);

/// A candidate to do a call.
struct CallCandidate {
  /// The same in every run with this oneDNN on this processor.
  std::string name;
  /// May throw Error (3) or dnnl::error, or give null: it cannot be done so.
  std::function<std::unique_ptr<CpuCall>(DnnlContext &)> make;
};

/// All candidates to do a call that makeConvolution() and makeInnerProduct() make,
/// the one that they take first. None where oneDNN does not take the operands'
/// types.
std::vector<CallCandidate>
convolutionCandidates(DnnlContext &context, const plan::ConvolutionCall &call,
                      BoundBuffer x, BoundBuffer w, BoundBuffer b,
                      BoundBuffer y);
std::vector<CallCandidate>
innerProductCandidates(DnnlContext &context, const plan::InnerProductCall &call,
                       BoundBuffer x, BoundBuffer w, BoundBuffer b,
                       BoundBuffer y);

/// Create the primitives of a call. `where` says which call it is, in errors.
/// Throw Error (3) when oneDNN cannot do it at an acceptable speed.
std::unique_ptr<CpuCall> makeConvolution(DnnlContext &context,
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

//===- Target.td - The machine that a module is compiled for --------------===//
#ifndef TARGET_TD
#define TARGET_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Target_Dialect : Dialect {
  let name = "target";
  let cppNamespace = "::brew::dialects::target";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let summary = "The machine that a module is compiled for";
  let description = [{
    The attribute `target.machine` of a module is a `#target.cpu` or a `#target.gpu`.
    Every decision that depends on the size or speed of a machine (how work is divided,
    which operations become library calls, in which layout) reads it; passes contain no
    such numbers of their own. `brew-attach-target` sets the attribute. A module without
    it is compiled for the reference machine: a CPU with 512-bit vectors, or an `sm_90`
    if kernels for a GPU are requested.

    These are attributes of their own instead of entries of MLIR's DLTI dialect, so that
    a description is complete and verified when it is parsed.
  }];
}

class Target_Attr<string name, string word> : AttrDef<Target_Dialect, name> {
  let mnemonic = word;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Target_LibraryAttr : Target_Attr<"Library", "library"> {
  let summary = "Capabilities of the machine's vendor library";
  let description = [{
    - `channels_last`: convolutions in full precision are faster in this layout.
    - `fused_leaky_relu`: inner products support a fused ReLU with a slope.
    - `bf16`, `f16`, `tf32`: products support such operands and are faster with them.
    - `f32_weight_gradients`: convolutions of 16-bit operands can compute gradients with respect
      to weights in f32.
    - `slow_bias_elements`: number of elements from which on the reduction for a bias is slow as
      part of a convolution's gradient.
  }];
  let parameters = (ins "bool":$channels_last, "bool":$fused_leaky_relu, "bool":$bf16,
    "bool":$f16, "bool":$tf32, "bool":$f32_weight_gradients, "int64_t":$slow_bias_elements);
  let genVerifyDecl = 0;
  let extraClassDeclaration = [{
    /// Returns whether products in `precision` are faster than in full precision.
    bool isFasterIn(Precision precision) const;
  }];
}

def Target_CpuAttr : Target_Attr<"Cpu", "cpu"> {
  let summary = "A processor that kernels are compiled for";
  let description = [{
    `vector_bits` is the width of the vector registers, `l2_bytes` the size of a core's own
    cache. `cores` is the minimal number of threads that a kernel should keep busy: a plan does
    not specify the number of threads that run it. `clock_mhz` converts cycles to the times of
    reports.
  }];
  let parameters = (ins "int64_t":$vector_bits, "int64_t":$l2_bytes,
    "int64_t":$cores, "LibraryAttr":$library,
    DefaultValuedParameter<"int64_t", "1000">:$clock_mhz);
  let extraClassDeclaration = [{
    static constexpr int64_t kCacheLine = 64; ///< bytes
    /// Minimal cycles of work per thread that justify waking another thread.
    static constexpr double kWakeCycles = 8192;
    /// Minimal cycles of work of one thread that justify dividing it at all.
    static constexpr double kParallelCycles = 20000;
    /// Bytes from memory, and vector operations, of one core per cycle.
    static constexpr double kMemoryBytes = 4, kVectorOperations = 2;

    /// Returns the number of f32 elements of a vector.
    int64_t lanes() const { return getVectorBits() / 32; }
    /// Returns the bytes that a core gets from memory in the time of one operation
    /// on one element.
    double bytesPerOperation() const {
      return kMemoryBytes / (kVectorOperations * static_cast<double>(lanes()));
    }
  }];
}

def Target_GpuAttr : Target_Attr<"Gpu", "gpu"> {
  let summary = "A GPU that kernels are compiled for";
  let description = [{
    `arch` is the architecture; the numbers are those of a typical board of it.

    - `multiprocessors`: their number.
    - `threads`: resident threads of a multiprocessor; `block_threads`: maximal threads of a block.
    - `shared_bytes`: maximal shared memory of a block; `cache_bytes`: first-level cache and shared
      memory of a multiprocessor together.
    - `bytes_per_cycle`: memory bandwidth of the device.
    - `ops_per_cycle`, `f64_ops_per_cycle`, `tensor_ops_per_cycle`: operations of the device in
      f32, in f64, and of its tensor cores on 16-bit operands (half as many on TF32). A
      multiply-add is one operation; 0 means as many as in f32.
    - `clock_mhz` converts cycles to the times of reports.
  }];
  let parameters = (ins StringRefParameter<>:$arch, "int64_t":$multiprocessors,
    "int64_t":$threads, "int64_t":$block_threads, "int64_t":$shared_bytes,
    "int64_t":$cache_bytes, "int64_t":$bytes_per_cycle, "int64_t":$ops_per_cycle,
    "LibraryAttr":$library, DefaultValuedParameter<"int64_t", "1000">:$clock_mhz,
    DefaultValuedParameter<"int64_t", "0">:$f64_ops_per_cycle,
    DefaultValuedParameter<"int64_t", "0">:$tensor_ops_per_cycle);
  let extraClassDeclaration = [{
    // Common to all architectures.
    static constexpr int64_t kWarp = 32;        ///< threads
    static constexpr int64_t kMaxAccessBytes = 16; ///< largest load or store
    static constexpr int64_t kSectorBytes = 32; ///< smallest memory transaction
    /// Elements that a thread can keep in registers in addition to operands.
    static constexpr int64_t kThreadElements = 64;
    static constexpr double kIterationCycles = 12; ///< cycles of one iteration
    /// Cycles of one iteration that waits for memory, together with its neighbours,
    /// since loops are unrolled.
    static constexpr double kLoadCycles = 100;
    static constexpr double kShuffleCycles = 30; ///< of one step of a warp reduction
    static constexpr double kSharedCycles = 80;  ///< of one step through shared memory
    static constexpr double kNestCycles = 20;    ///< overhead of a nest
    static constexpr double kLaunchCycles = 2000; ///< of another launch
    /// Cycles of a launch that depends on the launch before it, including the time
    /// until the device has drained and filled again (3 microseconds).
    static constexpr double kDependentLaunchCycles = 5000;
    /// Neighbouring reductions (channels of a channels-last blob) that a block
    /// computes together, so that its loads read full sectors, and the threads of
    /// the block, which share each reduction.
    static constexpr int64_t kReductionColumns = 32, kReductionThreads = 512;

    /// Bytes of shared memory reserved for partial results of reductions.
    static constexpr int64_t kPartialBytes = 8192;

    /// Returns the bytes of shared memory for values of each of `subKernels`
    /// sub-kernels.
    int64_t sharedBytesPerSubKernel(int64_t subKernels) const {
      return (getSharedBytes() - kPartialBytes) / subKernels;
    }
    /// Returns the number of threads that share each of `reductions` neighbouring
    /// reductions.
    static int64_t threadsPerColumn(int64_t reductions) {
      return kReductionThreads / columnsPerBlock(reductions);
    }
    /// Returns how many of `reductions` neighbouring reductions a block computes.
    static int64_t columnsPerBlock(int64_t reductions) {
      int64_t columns = 1;
      while (columns < reductions && columns < kReductionColumns)
        columns *= 2;
      return columns;
    }

    /// Returns the number of resident threads of the device.
    int64_t residentThreads() const {
      return getMultiprocessors() * getThreads();
    }
    /// Returns the bytes that memory delivers in the time of one operation.
    double bytesPerOperation() const {
      return static_cast<double>(getBytesPerCycle()) /
             static_cast<double>(getOpsPerCycle());
    }
  }];
}

#endif // TARGET_TD

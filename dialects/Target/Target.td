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
    A module's attribute `target.machine` is a `#target.cpu` or a `#target.gpu`. All
    that depends on the size or speed of a machine (how work is divided, which
    operations the vendor library is given, in which layout) asks it and has no such
    numbers of its own. `brew-attach-target` sets it. A module without it is for
    the reference machine: a CPU with 512-bit vectors, or an `sm_90` where kernels
    for a GPU are asked for.

    These are attributes of their own, not entries of MLIR's DLTI dialect, because
    a description is complete and checked where it is read in.
  }];
}

class Target_Attr<string name, string word> : AttrDef<Target_Dialect, name> {
  let mnemonic = word;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Target_LibraryAttr : Target_Attr<"Library", "library"> {
  let summary = "What the machine's vendor library is good at";
  let description = [{
    `channels_last`: convolutions in full precision want it. `fused_leaky_relu`: inner
    products take a ReLU with a slope. `bf16`, `f16`, `tf32`: products take such
    operands and gain by it. `f32_weight_gradients`: convolutions with operands of 16 bits
    give gradients by the weights in f32. `slow_bias_elements`: elements from which on a sum
    for a bias is slow as part of a convolution's gradient.
  }];
  let parameters = (ins "bool":$channels_last, "bool":$fused_leaky_relu, "bool":$bf16,
    "bool":$f16, "bool":$tf32, "bool":$f32_weight_gradients, "int64_t":$slow_bias_elements);
  let genVerifyDecl = 0;
  let extraClassDeclaration = [{
    /// Whether products in `precision` are faster than those in full precision.
    bool isFasterIn(Precision precision) const;
  }];
}

def Target_CpuAttr : Target_Attr<"Cpu", "cpu"> {
  let summary = "A processor that kernels are compiled for";
  let description = [{
    `vector_bits` is the width of the instruction set's registers. `l2_bytes` is what
    a core has for itself. `cores` is how many threads a kernel should at least
    be able to keep busy: a plan does not say on how many it runs. `clock_mhz` turns
    cycles into the times of reports.
  }];
  let parameters = (ins "int64_t":$vector_bits, "int64_t":$l2_bytes,
    "int64_t":$cores, "LibraryAttr":$library,
    DefaultValuedParameter<"int64_t", "1000">:$clock_mhz);
  let extraClassDeclaration = [{
    static constexpr int64_t kCacheLine = 64; ///< bytes
    /// Cycles after which it pays to wake another thread, and work of one thread
    /// that is worth dividing at all.
    static constexpr double kWakeCycles = 8192, kParallelCycles = 20000;
    /// Bytes that memory gives a core in a cycle; vector operations of one.
    static constexpr double kMemoryBytes = 4, kVectorOperations = 2;

    /// Elements of a vector of f32.
    int64_t lanes() const { return getVectorBits() / 32; }
    /// Bytes that memory gives a core while it does an operation on an element.
    double bytesPerOperation() const {
      return kMemoryBytes / (kVectorOperations * static_cast<double>(lanes()));
    }
  }];
}

def Target_GpuAttr : Target_Attr<"Gpu", "gpu"> {
  let summary = "A GPU that kernels are compiled for";
  let description = [{
    `arch` is the architecture whose usual board has these numbers. `threads` are
    those that a multiprocessor runs at the same time, `block_threads` the most of a
    block, `shared_bytes` the memory that they can share, `cache_bytes` a
    multiprocessor's first-level cache and shared memory together. Per cycle, the
    device moves `bytes_per_cycle` and does `operations` in f32, `f64_ops_per_cycle` in
    f64, and `tensor_ops_per_cycle` of its tensor cores on 16-bit operands (half as many
    on TF32); 0 stands for as many as in f32. A multiplication with an addition is one.
    `clock_mhz` turns cycles into the times of reports.
  }];
  let parameters = (ins StringRefParameter<>:$arch, "int64_t":$multiprocessors,
    "int64_t":$threads, "int64_t":$block_threads, "int64_t":$shared_bytes,
    "int64_t":$cache_bytes, "int64_t":$bytes_per_cycle, "int64_t":$ops_per_cycle,
    "LibraryAttr":$library, DefaultValuedParameter<"int64_t", "1000">:$clock_mhz,
    DefaultValuedParameter<"int64_t", "0">:$f64_ops_per_cycle,
    DefaultValuedParameter<"int64_t", "0">:$tensor_ops_per_cycle);
  let extraClassDeclaration = [{
    // What all generations have in common.
    static constexpr int64_t kWarp = 32;        ///< threads
    static constexpr int64_t kMaxAccessBytes = 16; ///< most of one load or store
    static constexpr int64_t kSectorBytes = 32; ///< least that memory moves
    /// Elements that a thread keeps in registers besides operands.
    static constexpr int64_t kThreadElements = 64;
    /// Cycles of one iteration by itself, of one that waits for memory (with
    /// those of its neighbours, as loops are unrolled); of a step of a warp's
    /// combination; of one through shared memory; of a nest in any case; of
    /// another launch; of one that waits for the launch before it, until the
    /// device has drained and filled again (3 microseconds).
    static constexpr double kIterationCycles = 12, kLoadCycles = 100,
                            kShuffleCycles = 30, kSharedCycles = 80,
                            kNestCycles = 20, kLaunchCycles = 2000,
                            kDependentLaunchCycles = 5000;
    /// Neighbouring sums (channels, where these come last) that a block adds up
    /// together, so that its loads take whole sectors, and its threads, which
    /// share each of them.
    static constexpr int64_t kReductionColumns = 32, kReductionThreads = 512;

    /// Shared memory that is left to partial results of reductions.
    static constexpr int64_t kPartialBytes = 8192;

    /// Shared memory for values of one of so many parts of a kernel.
    int64_t sharedBytesPerSubKernel(int64_t parts) const {
      return (getSharedBytes() - kPartialBytes) / parts;
    }
    /// Threads that share each of `sums` neighbouring sums.
    static int64_t threadsPerColumn(int64_t sums) {
      return kReductionThreads / columnsPerBlock(sums);
    }
    /// How many of `sums` neighbouring ones a block takes.
    static int64_t columnsPerBlock(int64_t sums) {
      int64_t columns = 1;
      while (columns < sums && columns < kReductionColumns)
        columns *= 2;
      return columns;
    }

    /// Threads that the device runs at the same time.
    int64_t residentThreads() const {
      return getMultiprocessors() * getThreads();
    }
    /// Bytes that memory gives while the device does an operation.
    double bytesPerOperation() const {
      return static_cast<double>(getBytesPerCycle()) /
             static_cast<double>(getOpsPerCycle());
    }
  }];
}

#endif // TARGET_TD

//===- EmitKernels.cpp - Emission of CUDA kernels -------------------------===//
#include "compiler/cuda/EmitKernels.h"

#include "compiler/cuda/KernelSource.h"
#include "compiler/cuda/StageOrder.h"
#include "compiler/cuda/TensorAccesses.h"
#include "compiler/kernels/Span.h"
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"
#include "dialects/SubviewType.h"
#include "plan/Contract.h"
#include "support/Error.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace brew::dialects::plan;

namespace brew::compiler::cuda {
namespace {

/// Element count from which 32-bit indices could overflow, including windows
/// that cross boundaries.
constexpr int64_t kWideElements = int64_t(1) << 30;

constexpr auto kWidestAccess = static_cast<int64_t>(plan::kKernelAccessBytes);
static_assert(kWidestAccess == dialects::target::GpuAttr::kMaxAccessBytes,
              "arenas are aligned for the widest pack");

/// The buffers of a launch, and in a loop the bytes by which their addresses
/// change.
struct KernelLaunch {
  SmallVector<Value> buffers;
  SmallVector<int64_t> strides;
};

/// Every actual or alternative launch of a module's kernels.
using Launches = llvm::StringMap<SmallVector<KernelLaunch>>;

class KernelEmitter {
public:
  KernelEmitter(KernelOp op, ArrayRef<KernelLaunch> launches)
      : op(op), launches(launches), kernel(buildKernel(op)) {}

  EmittedKernel emit(dialects::target::GpuAttr gpu,
                     const ThreadOptions &options) {
    KernelSchedule schedule =
        scheduleKernel(kernel, alignments(), gpu, options);
    text.prelude.residentThreads = options.residentThreads;
    text.threads = schedule.threads;
    text.packs = schedule.packs;
    for (RankedTensorType type : kernel.arguments)
      text.prelude.wide |= spanOf(type) >= kWideElements;
    for (const SubKernel &subKernel : kernel.subKernels)
      for (const Nest &nest : subKernel.nests)
        text.prelude.wide |= nest.iterations() >= (int64_t(1) << 32);
    EmittedKernel result;
    Code symbol = text.unique(op.getSymName(), "kernel");
    result.symbol = symbol.identifier()->name;
    describeArguments();
    emitSubKernels(schedule);
    Code signature = signatureOf(symbol, schedule);
    result.text = headComment() + print(signature, TextStyle::Readable);
    result.canonical = print(signature, TextStyle::Canonical);
    result.argumentCount = kernel.arguments.size();
    result.blocks = static_cast<uint32_t>(schedule.blocks());
    result.stages = static_cast<uint32_t>(schedule.stageBlocks.size());
    if (schedule.blocks() > INT32_MAX)
      throwCannotEmit(op, "its grid is too large");
    result.threads = schedule.threads;
    result.flops = flopsOf(kernel);
    result.bytes = bytesOf(kernel);
    result.accesses = tensorAccesses(kernel, schedule);
    for (TensorAccess &access : result.accesses)
      access.name = text.arguments[access.argument].name.identifier()->name;
    result.needsHeaders = text.prelude.f16 || text.prelude.bf16;
    return result;
  }

private:
  void describeArguments() {
    for (RankedTensorType type : kernel.arguments) {
      KernelArgument argument;
      argument.element = type.getElementType();
      argument.count = argument.isBits()
                           ? dialects::memrefTypeOf(type).getNumElements()
                           : spanOf(type);
      text.prelude.f16 |= argument.element.isF16();
      text.prelude.bf16 |= argument.element.isBF16();
      text.arguments.push_back(argument);
    }
    markAccesses(kernel.subKernels, text.arguments);
    SmallVector<std::string> names(text.arguments.size(), "b");
    if (!launches.empty())
      for (auto [name, buffer] :
           llvm::zip(names, buffersOf(launches.front().buffers)))
        name = buffer.getName().str();
    if (auto explicitNames = op.getArgumentNames())
      for (auto [name, explicitName] :
           llvm::zip_equal(names, explicitNames->getAsRange<StringAttr>()))
        name = explicitName.str();
    for (auto [argument, name] : llvm::zip(text.arguments, names))
      argument.name = text.unique(name, "b");
    for (const KernelLaunch &launch : launches) {
      SmallVector<BufferOp> buffers = buffersOf(launch.buffers);
      markOverlaps(buffers);
    }
  }

  /// Returns whether the kernel receives an operand of its launches: results
  /// that overwrite an argument are no arguments.
  bool isArgument(size_t operand) {
    const size_t inputs = op.getBody().front().getNumArguments();
    return operand < inputs || op.getInPlace()[operand - inputs] < 0;
  }

  /// Returns the buffers that a launch passes.
  SmallVector<BufferOp> buffersOf(ArrayRef<Value> launch) {
    SmallVector<BufferOp> buffers;
    for (auto [i, value] : llvm::enumerate(launch))
      if (isArgument(i))
        buffers.push_back(value.getDefiningOp<BufferOp>());
    return buffers;
  }

  /// Returns the known alignment of each argument's address in bytes, up to the
  /// widest access. Arenas are aligned to the widest access, so offsets
  /// determine the alignment. A subview argument of a kernel without launches
  /// in this module may begin at any element.
  SmallVector<int64_t> alignments() {
    SmallVector<int64_t> result;
    for (RankedTensorType type : kernel.arguments)
      result.push_back(launches.empty() && dialects::isSubview(type)
                           ? elementBytes(type.getElementType())
                           : kWidestAccess);
    for (const KernelLaunch &launch : launches) {
      for (auto [alignment, buffer] :
           llvm::zip_equal(result, buffersOf(launch.buffers)))
        alignment =
            static_cast<int64_t>(llvm::MinAlign(alignment, buffer.getOffset()));
      if (launch.strides.empty())
        continue;
      SmallVector<int64_t> strides;
      for (auto [i, stride] : llvm::enumerate(launch.strides))
        if (isArgument(i))
          strides.push_back(stride);
      for (auto [alignment, stride] : llvm::zip_equal(result, strides))
        alignment = static_cast<int64_t>(
            llvm::MinAlign(alignment, static_cast<uint64_t>(std::abs(stride))));
    }
    return result;
  }

  /// Marks arguments that share bytes if one of them is written.
  void markOverlaps(MutableArrayRef<BufferOp> buffers) {
    for (unsigned a = 0; a < buffers.size(); ++a)
      for (unsigned b = 0; b < a; ++b) {
        if (!text.arguments[a].written && !text.arguments[b].written)
          continue;
        uint64_t beginA = buffers[a].getOffset(),
                 beginB = buffers[b].getOffset();
        if (buffers[a].getArena() != buffers[b].getArena() ||
            beginA >= beginB + sizeOf(b) || beginB >= beginA + sizeOf(a))
          continue;
        text.arguments[a].aliased = text.arguments[b].aliased = true;
      }
  }
  uint64_t sizeOf(unsigned argument) const {
    return text.arguments[argument].count *
           elementBytes(text.arguments[argument].element);
  }

  void emitSubKernels(const KernelSchedule &schedule) {
    if (schedule.stageBlocks.size() == 1)
      return emitStage(kernel.subKernels, schedule.subKernels);
    text.prelude.stages = true;
    text.stages = text.unique("stages", "stages");
    text.block = Code::word("turn");
    Code barrier = text.unique("barrier", "barrier");
    text.counters.push_back("BREW_BARRIER(" + barrier + ");");
    MutableArrayRef<SubKernel> subKernels = kernel.subKernels;
    ArrayRef<SubKernelSchedule> schedules = schedule.subKernels;
    StageOrder order(text.arguments);
    for (auto [stage, blocks] : llvm::enumerate(schedule.stageBlocks)) {
      const size_t count = llvm::count_if(
          subKernels, [number = stage](const SubKernel &subKernel) {
            return subKernel.stage == number;
          });
      const std::string number = std::to_string(stage);
      if (order.beginStage(subKernels.take_front(count)))
        text.lines.line(
            Code::call("BREW_STAGE_BARRIER", {text.stages, number, barrier}) +
            ";");
      const Code condition = Code::call("BREW_STAGE", {text.stages, number}),
                 turns = order.turnsOf(schedules.front(), blocks);
      text.stage = static_cast<unsigned>(stage);
      if (count == 1) {
        emitTurns(subKernels.front(), schedules.front(), text, condition,
                  turns);
      } else {
        text.lines.open(condition + " " + turns);
        const size_t sharedCount = text.shared.size();
        emitStage(subKernels.take_front(count), schedules.take_front(count));
        finishTurn(text, sharedCount);
        text.lines.close();
      }
      subKernels = subKernels.drop_front(count);
      schedules = schedules.drop_front(count);
    }
  }

  /// Emits one stage: its concurrent sub-kernels, then the sub-kernel of the
  /// last block.
  void emitStage(MutableArrayRef<SubKernel> subKernels,
                 ArrayRef<SubKernelSchedule> schedules) {
    const bool hasLastBlock = subKernels.back().inLastBlock;
    MutableArrayRef<SubKernel> concurrent = subKernels.drop_back(hasLastBlock);
    for (auto [i, subKernel] : llvm::enumerate(concurrent)) {
      const SubKernelSchedule &chosen = schedules[i];
      bool isLast = i + 1 == concurrent.size();
      Code condition =
          isLast ? Code()
                 : "if (" + text.block + " < " +
                       std::to_string(chosen.firstBlock + chosen.blocks) + "u)";
      if (i > 0)
        text.lines.openElse(condition);
      else if (!isLast)
        text.lines.open(condition);
      emitSubKernel(kernel, subKernel, chosen, text);
    }
    if (concurrent.size() > 1)
      text.lines.close();
    if (hasLastBlock)
      emitLastBlock(subKernels.back(), schedules.back());
  }

  /// Emits the sub-kernel of the last block, of the stage or of a tile.
  ///
  /// The counters are 0 when the module is loaded, which each session does
  /// separately (runtime/cuda/Modules.cpp), and the last block resets them. A
  /// session launches on one stream, so no two launches count at the same time,
  /// including launches of kernels with shared machine code. An aborted kernel
  /// makes its context unusable together with its counters; a new context loads
  /// the module again.
  void emitLastBlock(SubKernel &subKernel, const SubKernelSchedule &chosen) {
    text.prelude.lastBlock = true;
    Code counters = text.unique("arrived", "arrived");
    text.counters.push_back(
        Code::call("BREW_COUNTERS", {counters, std::to_string(chosen.tiles)}) +
        ";");
    Code tile = Code::word("0");
    if (chosen.tiles > 1)
      tile = text.block + " % " + std::to_string(chosen.tiles) + "u";
    text.lines.open(
        "if (" +
        Code::call("BREW_LAST_BLOCK",
                   {Code::element(counters, tile),
                    std::to_string(chosen.blocks / chosen.tiles) + "u"}) +
        ")");
    emitSubKernel(kernel, subKernel, chosen, text);
    text.lines.close();
  }

  /// Returns the text without the head comment.
  std::string print(const Code &signature, TextStyle style) {
    std::string result = text.prelude.text() + "\n";
    for (const Code &declaration : text.counters) {
      declaration.print(result, style);
      result += "\n";
    }
    signature.print(result, style);
    text.lines.print(result, style);
    return result + "}\n";
  }

  /// Returns a comment with the layers and their locations in the prototxt.
  std::string headComment() {
    std::string result = "// Kernel " + op.getSymName().str() + ": layers";
    for (StringAttr layer : op.getLayers().getAsRange<StringAttr>())
      result += " '" + layer.str() + "'";
    result += "\n";
    SmallVector<std::string> locations;
    for (const SubKernel &subKernel : kernel.subKernels)
      for (const Nest &nest : subKernel.nests)
        linalg::GenericOp(nest.op)->getLoc()->walk([&](Location nestedLoc) {
          auto layer = dialects::Origin::of(nest.op).layer;
          auto file = dyn_cast<FileLineColLoc>(nestedLoc);
          if (!file)
            return WalkResult::advance();
          std::string location = (layer ? layer.str() + " " : "") +
                                 file.getFilename().str() + ":" +
                                 std::to_string(file.getLine());
          if (!llvm::is_contained(locations, location))
            locations.push_back(location);
          return WalkResult::advance();
        });
    for (const std::string &location : locations)
      result += "//   " + location + "\n";
    return result;
  }

  Code signatureOf(const Code &symbol, const KernelSchedule &schedule) {
    Code result = "BREW_KERNEL(" + symbol + ", " +
                  std::to_string(schedule.threads) + ")(";
    for (auto [i, argument] : llvm::enumerate(text.arguments)) {
      const char *access =
          argument.aliased || (argument.read && argument.written) ? "BREW_INOUT"
          : argument.written                                      ? "BREW_OUT"
                                                                  : "BREW_IN";
      result += (i ? ",\n    " : "\n    ") +
                Code::call(access, {bufferType(argument.element), argument.name,
                                    std::to_string(argument.count)});
    }
    if (!text.stages.empty())
      result += ",\n    BREW_STAGES(" + text.stages + ")";
    result += ") {\n";
    declareShared(result);
    return result;
  }

  /// Declares arrays in shared memory; different stages use the same bytes.
  void declareShared(Code &result) {
    Code pool;
    SmallVector<int64_t> stageBytes(kernel.subKernels.back().stage + 1, 0),
        offsets;
    for (const SharedArray &array : text.shared) {
      offsets.push_back(stageBytes[array.stage]);
      stageBytes[array.stage] +=
          llvm::alignTo(array.count * elementBytes(array.element),
                        static_cast<uint64_t>(kWidestAccess));
    }
    if (stageBytes.size() > 1 && !text.shared.empty()) {
      pool = text.unique("pool", "pool");
      result += "  BREW_SHARED_POOL(" + pool + ", " +
                std::to_string(*llvm::max_element(stageBytes)) + ");\n";
    }
    for (auto [array, offset] : llvm::zip_equal(text.shared, offsets)) {
      SmallVector<Code> callArguments = {text.scalars.type(array.element),
                                         array.name,
                                         std::to_string(array.count)};
      if (!pool.empty())
        callArguments.append({pool, std::to_string(offset)});
      result += "  " +
                Code::call(pool.empty() ? "BREW_SHARED" : "BREW_SHARED_SLICE",
                           callArguments) +
                ";\n";
    }
  }

  KernelOp op;
  ArrayRef<KernelLaunch> launches;
  Kernel kernel;
  KernelSource text;
};

/// Returns the machine of `module`.
dialects::target::GpuAttr requireGpu(ModuleOp module) {
  module.getContext()->loadDialect<dialects::target::TargetDialect>();
  dialects::target::GpuAttr gpu = dialects::target::gpuOf(module);
  if (!gpu)
    throw Error(ExitStatus::Bug, "kernels for a CPU reached the GPU's emitter");
  return gpu;
}

Launches launchesOf(ModuleOp module) {
  Launches launches;
  module.walk([&](Operation *op) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      launches[launch.getKernel()].push_back(
          {SmallVector<Value>(launch.getBuffers()),
           SmallVector<int64_t>(
               launch.getStrides().value_or(ArrayRef<int64_t>()))});
    else if (auto call = dyn_cast<ConvolutionOp>(op);
             call && call.getGenerated())
      launches[call.getGenerated()->getKernel().getValue()].push_back(
          {call.generatedBuffers(), {}});
  });
  return launches;
}

EmittedKernel emit(KernelOp op, Launches &launches,
                   dialects::target::GpuAttr gpu,
                   const ThreadOptions &options) {
  OwningOpRef<KernelOp> folded = foldBodies(op);
  ArrayRef<KernelLaunch> kernelLaunches = launches[op.getSymName()];
  return KernelEmitter(*folded, kernelLaunches).emit(gpu, options);
}

} // namespace

std::vector<EmittedKernel> emitKernels(ModuleOp module,
                                       const ThreadOptions &options) {
  const dialects::target::GpuAttr gpu = requireGpu(module);
  Launches launches = launchesOf(module);
  std::vector<EmittedKernel> kernels;
  for (auto op : module.getOps<KernelOp>())
    kernels.push_back(emit(op, launches, gpu, options));
  return kernels;
}

EmittedKernel emitKernel(ModuleOp module, std::size_t index,
                         const ThreadOptions &options) {
  Launches launches = launchesOf(module);
  return emit(*std::next(module.getOps<KernelOp>().begin(), index), launches,
              requireGpu(module), options);
}

std::string withoutComments(const std::string &text) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    StringRef line(text.data() + begin, end - begin);
    if (!line.ltrim().starts_with("//"))
      result += line;
    begin = end;
  }
  return result;
}

} // namespace brew::compiler::cuda

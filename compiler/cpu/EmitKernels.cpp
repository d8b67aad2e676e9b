//===- EmitKernels.cpp - Emission of CPU kernel functions -----------------===//

#include "compiler/cpu/EmitKernels.h"

#include "compiler/cpu/FunctionDeduplicator.h"
#include "compiler/cpu/LowerToLLVM.h"
#include "compiler/cpu/SubKernelEmitter.h"
#include "compiler/kernels/KernelLoops.h"
#include "compiler/kernels/Span.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "support/Error.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace mlir;

namespace brew::compiler::cpu {
namespace {

/// Ranges of flat loops start at multiples of this many elements, so that no
/// two threads write one cache line and vectors are aligned.
constexpr int64_t kFlatStep = dialects::target::CpuAttr::kCacheLine;

/// Kernels with more sub-kernels call a function for each of them: LLVM's time
/// grows faster than linearly with a function's size, and equivalent
/// sub-kernels share a function.
constexpr size_t kMaxInlinedSubKernels = 8;

/// A sub-kernel's slice of the kernel's domain.
struct DomainSlice {
  Schedule schedule;
  int64_t units;  ///< of the sub-kernel
  int64_t weight; ///< domain positions per unit
  int64_t start;  ///< first domain position
  int64_t end() const {
    return start + llvm::alignTo(units * weight, kFlatStep);
  }
};

/// Returns the kernel arguments that a sub-kernel reads or writes.
SmallVector<unsigned> argumentsOf(const SubKernel &subKernel) {
  std::set<unsigned> arguments;
  auto addSource = [&](const Source &source) {
    if (source.kind == Source::Kind::Argument)
      arguments.insert(source.argument);
  };
  for (const Nest &nest : subKernel.nests) {
    for (const std::optional<Access> &input : nest.inputs)
      if (input)
        addSource(input->source);
    for (const auto &[op, extract] : nest.extracts)
      addSource(extract.source);
    for (const Output &output : nest.outputs) {
      if (output.initial)
        addSource(output.initial->source);
      arguments.insert(output.arguments.begin(), output.arguments.end());
    }
  }
  return SmallVector<unsigned>(arguments.begin(), arguments.end());
}

class CpuKernelEmitter {
public:
  /// `subKernelFunctions` contains functions of earlier kernels of the module.
  CpuKernelEmitter(OpBuilder &b, dialects::plan::KernelOp op,
                   dialects::target::CpuAttr cpu,
                   FunctionDeduplicator &subKernelFunctions)
      : b(b), loc(op.getLoc()), kernel(buildKernel(op)), cpu(cpu),
        subKernelFunctions(subKernelFunctions) {}

  EmittedKernel emit() {
    EmittedKernel result;
    result.symbol = kernel.op.getSymName().str();
    result.argumentCount = kernel.arguments.size();
    result.bytes = bytesOf(kernel);
    result.flops = flopsOf(kernel);
    std::vector<DomainSlice> slices = assignSlices();
    result.domain = slices.empty() ? 0 : domainEnd(slices);
    result.grain = grainOf(slices, result.domain);
    emitFunction(slices);
    return result;
  }

private:
  /// Assigns consecutive domain slices to the sub-kernels, proportional to
  /// their work, because threads divide positions evenly.
  std::vector<DomainSlice> assignSlices() {
    std::vector<DomainSlice> slices;
    for (SubKernel &subKernel : kernel.subKernels) {
      // Threads run positions of all sub-kernels in any order.
      if (subKernel.inLastBlock || subKernel.stage > 0)
        throwCannotEmit(kernel.op, "a CPU has no last block and no stages");
      normaliseLoops(subKernel);
      DomainSlice slice;
      slice.schedule = chooseSchedule(subKernel, cpu);
      slice.units = domainOf(subKernel, slice.schedule);
      slices.push_back(slice);
    }
    double minUnitCost = HUGE_VAL;
    int64_t start = 0;
    for (const DomainSlice &slice : slices)
      minUnitCost = std::min(minUnitCost, slice.schedule.unitCost);
    for (DomainSlice &slice : slices) {
      slice.weight = std::llround(slice.schedule.unitCost / minUnitCost);
      slice.start = start;
      start = slice.end();
    }
    return slices;
  }

  static int64_t domainEnd(ArrayRef<DomainSlice> slices) {
    // Only starts of slices need rounding.
    return slices.back().start + slices.back().units * slices.back().weight;
  }

  /// Returns the smallest profitable length of a range.
  static int64_t grainOf(ArrayRef<DomainSlice> slices, int64_t domain) {
    double cost = 0;
    for (const DomainSlice &slice : slices)
      cost += static_cast<double>(slice.units) * slice.schedule.unitCost;
    if (domain == 0)
      return 1;
    bool hasFlatSlice = llvm::any_of(slices, [](const DomainSlice &slice) {
      return slice.schedule.kind == Schedule::Kind::Flat;
    });
    double perPosition = cost / static_cast<double>(domain);
    int64_t grain = static_cast<int64_t>(
        std::clamp(dialects::target::CpuAttr::kWakeCycles / perPosition, 1.0,
                   static_cast<double>(domain)));
    return hasFlatSlice || slices.size() > 1 ? llvm::alignTo(grain, kFlatStep)
                                             : grain;
  }

  void emitFunction(ArrayRef<DomainSlice> slices) {
    SmallVector<unsigned> allArguments =
        llvm::to_vector(llvm::seq<unsigned>(0, kernel.arguments.size()));
    if (kernel.subKernels.size() > kMaxInlinedSubKernels)
      return emitCalls(slices, allArguments);
    func::FuncOp function =
        makeFunction(kernel.op.getSymName(), kernelEntryAttr, allArguments);
    emitBody(function, allArguments,
             [&](ValueRange arguments, Value begin, Value end,
                 ScratchBuffers &scratch) {
               for (auto [subKernel, slice] :
                    llvm::zip(kernel.subKernels, slices))
                 emitSubKernel(b, loc, subKernel, slice.schedule, arguments,
                               unitAt(slice, begin, /*isEnd=*/false),
                               unitAt(slice, end, /*isEnd=*/true), scratch);
             });
  }

  /// Emits the kernel as calls of one function per sub-kernel.
  void emitCalls(ArrayRef<DomainSlice> slices,
                 ArrayRef<unsigned> allArguments) {
    SmallVector<func::FuncOp> functions;
    SmallVector<SmallVector<unsigned>> argumentNumbers;
    for (auto [subKernel, slice] : llvm::zip(kernel.subKernels, slices)) {
      argumentNumbers.push_back(argumentsOf(subKernel));
      functions.push_back(emitSubKernelFunction(subKernel, slice.schedule,
                                                argumentNumbers.back()));
    }
    func::FuncOp function =
        makeFunction(kernel.op.getSymName(), kernelEntryAttr, allArguments);
    function->setAttr(kernelDispatchAttr, b.getUnitAttr());
    Block *entry = function.addEntryBlock();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    auto [begin, end] = rangeOf(*entry);
    for (auto [callee, numbers, slice] :
         llvm::zip(functions, argumentNumbers, slices)) {
      Value firstUnit = unitAt(slice, begin, /*isEnd=*/false);
      Value endUnit = unitAt(slice, end, /*isEnd=*/true);
      // Skips slices that the range does not overlap.
      Value overlaps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                             firstUnit, endUnit);
      SmallVector<Value> operands;
      for (unsigned argument : numbers)
        operands.push_back(entry->getArgument(argument));
      operands.append({firstUnit, endUnit});
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(
          scf::IfOp::create(b, loc, overlaps).thenBlock());
      func::CallOp::create(b, loc, callee, operands);
    }
    func::ReturnOp::create(b, loc);
  }

  /// Emits a function that runs a range of a sub-kernel's units. Its parameters
  /// are the kernel's arguments `argumentNumbers` and the range. Returns an
  /// equivalent existing function instead if there is one.
  func::FuncOp emitSubKernelFunction(SubKernel &subKernel,
                                     const Schedule &schedule,
                                     ArrayRef<unsigned> argumentNumbers) {
    const size_t number = &subKernel - kernel.subKernels.data();
    std::string name =
        (kernel.op.getSymName() + ".sub_kernel" + std::to_string(number)).str();
    func::FuncOp function =
        makeFunction(name, subKernelFunctionAttr, argumentNumbers);
    emitBody(function, argumentNumbers,
             [&](ValueRange arguments, Value begin, Value end,
                 ScratchBuffers &scratch) {
               emitSubKernel(b, loc, subKernel, schedule, arguments, begin, end,
                             scratch);
             });
    func::FuncOp existing = subKernelFunctions.canonical(function);
    if (existing != function)
      function.erase();
    return existing;
  }

  /// Creates a function without a body. Its parameters are the kernel's
  /// arguments `argumentNumbers` and a range.
  func::FuncOp makeFunction(StringRef name, StringRef markerAttr,
                            ArrayRef<unsigned> argumentNumbers) {
    SmallVector<Type> types;
    for (unsigned argument : argumentNumbers)
      types.push_back(dialects::memrefTypeOf(kernel.arguments[argument]));
    types.append(2, b.getIndexType());
    auto function =
        func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
    function.setPrivate();
    function->setAttr(markerAttr, b.getUnitAttr());
    for (auto [i, argument] : llvm::enumerate(argumentNumbers)) {
      RankedTensorType type = kernel.arguments[argument];
      // Scalars may be packed into one buffer. Subviews start at any element of
      // their base.
      if (type.getNumElements() == 1 || dialects::isSubview(type))
        function.setArgAttr(
            i, alignAttr,
            b.getI64IntegerAttr(elementBytes(type.getElementType())));
    }
    return function;
  }

  static std::pair<Value, Value> rangeOf(Block &entry) {
    unsigned count = entry.getNumArguments();
    return {entry.getArgument(count - 2), entry.getArgument(count - 1)};
  }

  /// Emits the body of a function with `emitContent`, which receives all
  /// arguments of the kernel as one-dimensional buffers (null if not in
  /// `argumentNumbers`).
  void
  emitBody(func::FuncOp function, ArrayRef<unsigned> argumentNumbers,
           llvm::function_ref<void(ValueRange, Value, Value, ScratchBuffers &)>
               emitContent) {
    Block *entry = function.addEntryBlock();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    SmallVector<Value> arguments(kernel.arguments.size());
    for (auto [i, argument] : llvm::enumerate(argumentNumbers)) {
      RankedTensorType type = kernel.arguments[argument];
      arguments[argument] = memref::ReinterpretCastOp::create(
          b, loc, MemRefType::get({spanOf(type)}, type.getElementType()),
          entry->getArgument(i), /*offset=*/0, ArrayRef<int64_t>{spanOf(type)},
          ArrayRef<int64_t>{1});
    }
    auto [begin, end] = rangeOf(*entry);
    ScratchBuffers scratch(*entry);
    emitContent(arguments, begin, end, scratch);
    scratch.release(b, loc);
    func::ReturnOp::create(b, loc);
  }

  /// Returns the first unit of the slice at or after domain position
  /// `position`; with `isEnd`, at most the number of units.
  Value unitAt(const DomainSlice &slice, Value position, bool isEnd) {
    auto constant = [&](int64_t value) {
      return arith::ConstantIndexOp::create(b, loc, value).getResult();
    };
    if (kernel.subKernels.size() == 1)
      return position;
    Value unit = arith::SubIOp::create(b, loc, position, constant(slice.start));
    if (isEnd)
      unit = arith::MinSIOp::create(b, loc, unit,
                                    constant(slice.units * slice.weight));
    unit = arith::MaxSIOp::create(b, loc, unit, constant(0));
    if (slice.weight > 1) {
      unit = arith::AddIOp::create(b, loc, unit, constant(slice.weight - 1));
      unit = arith::DivUIOp::create(b, loc, unit, constant(slice.weight));
    }
    return unit;
  }

  OpBuilder &b;
  Location loc;
  Kernel kernel;
  dialects::target::CpuAttr cpu;
  FunctionDeduplicator &subKernelFunctions;
};

} // namespace

OwningOpRef<ModuleOp> emitKernels(ModuleOp module,
                                  std::vector<EmittedKernel> &kernels) {
  MLIRContext *context = module.getContext();
  context
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                    dialects::target::TargetDialect>();
  dialects::target::CpuAttr cpu = dialects::target::cpuOf(module);
  if (!cpu)
    throw Error(ExitStatus::Bug, "kernels for a GPU reached the CPU's emitter");
  OwningOpRef<ModuleOp> result = ModuleOp::create(module.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(result->getBody());
  FunctionDeduplicator subKernelFunctions;
  for (auto op : module.getOps<dialects::plan::KernelOp>()) {
    OwningOpRef<dialects::plan::KernelOp> folded = foldBodies(op);
    kernels.push_back(
        CpuKernelEmitter(b, *folded, cpu, subKernelFunctions).emit());
  }
  std::string diagnostics;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "; ";
    return success();
  });
  if (failed(verify(*result)))
    throw Error(ExitStatus::Bug,
                "the emitted kernels are malformed: " + diagnostics);
  return result;
}

} // namespace brew::compiler::cpu

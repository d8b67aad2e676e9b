//===- EmitKernels.cpp - Loop nests to CPU kernel functions ---------------===//

#include "compiler/cpu/EmitKernels.h"

#include "compiler/cpu/EmitKernelsPart.h"
#include "compiler/cpu/LowerToLLVM.h"
#include "compiler/kernels/KernelLoops.h"
#include "compiler/kernels/Span.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "formats/Error.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace brew::compiler {
namespace {

/// Ranges of flat loops start at multiples of this many elements, so that no
/// two threads write one cache line and vectors are aligned.
constexpr int64_t kFlatStep = targetir::CpuAttr::kCacheLine;

/// A part of the kernel's domain.
struct Span {
  Schedule schedule;
  int64_t units;  ///< of the part
  int64_t weight; ///< domain positions per unit
  int64_t start;  ///< first domain position
  int64_t end() const {
    return start + llvm::alignTo(units * weight, kFlatStep);
  }
};

class CpuKernelEmitter {
public:
  CpuKernelEmitter(OpBuilder &b, planir::KernelOp op, targetir::CpuAttr cpu)
      : b(b), loc(op.getLoc()), kernel(buildKernel(op)), cpu(cpu) {}

  EmittedKernel emit() {
    EmittedKernel result;
    result.symbol = kernel.op.getSymName().str();
    result.argumentCount = kernel.arguments.size();
    result.bytes = bytesOf(kernel);
    result.flops = flopsOf(kernel);
    std::vector<Span> spans = schedule();
    result.domain = spans.empty() ? 0 : domainEnd(spans);
    result.grain = grainOf(spans, result.domain);
    emitFunction(spans);
    return result;
  }

private:
  /// Parts follow one another in the domain, each with a share of positions
  /// that corresponds to its work, since threads divide positions evenly.
  std::vector<Span> schedule() {
    std::vector<Span> spans;
    for (Part &part : kernel.parts) {
      normaliseLoops(part);
      Span span;
      span.schedule = chooseSchedule(part, cpu);
      span.units = domainOf(part, span.schedule);
      spans.push_back(span);
    }
    double least = HUGE_VAL;
    int64_t start = 0;
    for (const Span &span : spans)
      least = std::min(least, span.schedule.unitCost);
    for (Span &span : spans) {
      span.weight = std::llround(span.schedule.unitCost / least);
      span.start = start;
      start = span.end();
    }
    return spans;
  }

  static int64_t domainEnd(ArrayRef<Span> spans) {
    // Only between parts do starts need rounding.
    return spans.back().start + spans.back().units * spans.back().weight;
  }

  static int64_t grainOf(ArrayRef<Span> spans, int64_t domain) {
    double cost = 0;
    for (const Span &span : spans)
      cost += static_cast<double>(span.units) * span.schedule.unitCost;
    if (domain == 0)
      return 1;
    bool flat = llvm::any_of(spans, [](const Span &span) {
      return span.schedule.kind == Schedule::Kind::Flat;
    });
    double perPosition = cost / static_cast<double>(domain);
    int64_t grain = static_cast<int64_t>(
        std::clamp(targetir::CpuAttr::kWakeCycles / perPosition, 1.0,
                   static_cast<double>(domain)));
    return flat || spans.size() > 1 ? llvm::alignTo(grain, kFlatStep) : grain;
  }

  void emitFunction(ArrayRef<Span> spans) {
    SmallVector<Type> types;
    for (RankedTensorType type : kernel.arguments)
      types.push_back(ir::memrefOf(type));
    types.append(2, b.getIndexType());
    auto function = func::FuncOp::create(b, loc, kernel.op.getSymName(),
                                         b.getFunctionType(types, {}));
    function.setPrivate();
    function->setAttr(kernelEntryAttr, b.getUnitAttr());
    for (auto [i, type] : llvm::enumerate(kernel.arguments))
      // Single numbers may be packed into one buffer.
      // Subviews start at any element of the whole.
      if (type.getNumElements() == 1 || ir::isSubview(type))
        function.setArgAttr(
            i, alignAttr,
            b.getI64IntegerAttr(elementBytes(type.getElementType())));
    Block *entry = function.addEntryBlock();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    SmallVector<Value> arguments;
    for (auto [type, argument] :
         llvm::zip(kernel.arguments, entry->getArguments()))
      arguments.push_back(memref::ReinterpretCastOp::create(
          b, loc, MemRefType::get({spanOf(type)}, type.getElementType()),
          argument, /*offset=*/0, ArrayRef<int64_t>{spanOf(type)},
          ArrayRef<int64_t>{1}));
    Value begin = entry->getArgument(types.size() - 2),
          end = entry->getArgument(types.size() - 1);
    Scratch scratch(*entry);
    for (auto [part, span] : llvm::zip(kernel.parts, spans))
      emitPart(b, loc, part, span.schedule, arguments,
               unitAt(span, begin, /*isEnd=*/false),
               unitAt(span, end, /*isEnd=*/true), scratch);
    scratch.release(b, loc);
    func::ReturnOp::create(b, loc);
  }

  /// First unit of the span at or after domain position `position`, at most
  /// the number of units.
  Value unitAt(const Span &span, Value position, bool isEnd) {
    auto constant = [&](int64_t value) {
      return arith::ConstantIndexOp::create(b, loc, value).getResult();
    };
    if (kernel.parts.size() == 1)
      return position;
    Value unit = arith::SubIOp::create(b, loc, position, constant(span.start));
    if (isEnd)
      unit = arith::MinSIOp::create(b, loc, unit,
                                    constant(span.units * span.weight));
    unit = arith::MaxSIOp::create(b, loc, unit, constant(0));
    if (span.weight > 1) {
      unit = arith::AddIOp::create(b, loc, unit, constant(span.weight - 1));
      unit = arith::DivUIOp::create(b, loc, unit, constant(span.weight));
    }
    return unit;
  }

  OpBuilder &b;
  Location loc;
  Kernel kernel;
  targetir::CpuAttr cpu;
};

} // namespace

OwningOpRef<ModuleOp> emitKernels(ModuleOp module,
                                  std::vector<EmittedKernel> &kernels) {
  MLIRContext *context = module.getContext();
  context
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                    targetir::TargetDialect>();
  targetir::CpuAttr cpu = targetir::cpuOf(module);
  if (!cpu)
    throw Error(ExitStatus::Bug, "kernels for a GPU reached the CPU's emitter");
  OwningOpRef<ModuleOp> result = ModuleOp::create(module.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(result->getBody());
  for (auto op : module.getOps<planir::KernelOp>()) {
    OwningOpRef<planir::KernelOp> folded = foldBodies(op);
    kernels.push_back(CpuKernelEmitter(b, *folded, cpu).emit());
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

} // namespace brew::compiler

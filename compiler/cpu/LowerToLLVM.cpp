//===- LowerToLLVM.cpp - Lowering of kernel loops to the LLVM dialect -----===//

#include "compiler/cpu/LowerToLLVM.h"

#include "compiler/cpu/CpuTarget.h"
#include "support/Error.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace brew::compiler::cpu {
namespace {

/// Returns whether a math function should become a polynomial in f32. The
/// polynomials of other functions lose accuracy for large arguments (sin, cos),
/// or the functions are rare.
bool hasPolynomial(StringRef op) {
  return llvm::is_contained({"math.exp", "math.expm1", "math.log", "math.log1p",
                             "math.log2", "math.tanh", "math.erf"},
                            op);
}

/// Expands the operations of a function that have no counterpart in LLVM.
struct ExpandKernelOps
    : PassWrapper<ExpandKernelOps, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandKernelOps)
  explicit ExpandKernelOps(bool hasFma) : hasFma(hasFma) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect,
                    math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    // Use shifts, which vectorise and round identically on every processor; the
    // instructions of some processors flush denormals to zero.
    arith::populateExpandBFloat16Patterns(patterns);
    memref::populateExpandStridedMetadataPatterns(patterns);
    // The polynomials use fma, a slow library call without hardware support.
    if (hasFma)
      populateMathPolynomialApproximationPatterns(patterns, hasPolynomial);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

  bool hasFma;
};

/// Converts math functions without an LLVM intrinsic, or with only a lossy
/// expansion (log(1 + x) for log1p), to calls into libm.
LogicalResult convertToLibmCalls(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  populateMathToLibmConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addIllegalOp<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
                      math::AtanOp, math::Atan2Op, math::AtanhOp, math::CbrtOp,
                      math::CoshOp, math::ErfOp, math::ErfcOp, math::ExpM1Op,
                      math::Log1pOp, math::SinhOp, math::TanOp, math::TanhOp>();
  return applyPartialConversion(module, target, std::move(patterns));
}

/// Represents bf16, which is only moved and converted (ExpandKernelOps), as
/// 16-bit integers: LLVM would legalise even a select of bf16 through f32,
/// which on most processors calls a function that a plan does not have.
void convertBFloat16(LLVMTypeConverter &converter) {
  converter.addConversion([](BFloat16Type type) {
    return IntegerType::get(type.getContext(), 16);
  });
}

/// Converts bf16 constants to 16-bit integers.
struct BFloat16Constant : ConvertOpToLLVMPattern<arith::ConstantOp> {
  BFloat16Constant(LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern(converter, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getType().isBF16())
      return failure();
    Type type = getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(
        op, type,
        IntegerAttr::get(
            type, cast<FloatAttr>(op.getValue()).getValue().bitcastToAPInt()));
    return success();
  }
};

/// Converts all remaining dialects to LLVM.
struct ConvertKernelsToLLVM
    : PassWrapper<ConvertKernelsToLLVM, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertKernelsToLLVM)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<func::FuncDialect, LLVM::LLVMDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    if (failed(convertToLibmCalls(getOperation())))
      return signalPassFailure();
    LowerToLLVMOptions options(&getContext());
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(&getContext(), options);
    convertBFloat16(converter);
    RewritePatternSet patterns(&getContext());
    patterns.add<BFloat16Constant>(converter);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp>();
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

/// Returns the bytes from the pointer to the end of the last element of `type`.
int64_t reachedBytes(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      type.getNumElements() == 0)
    return 0;
  int64_t last = offset;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides)) {
    if (stride < 0)
      return 0;
    last += (size - 1) * stride;
  }
  return (last + 1) * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// Checks one kernel and converts Brew's argument attributes to LLVM's.
LogicalResult annotateKernel(func::FuncOp kernel) {
  if (kernel.isExternal() || kernel.getNumResults() != 0 ||
      kernel.getNumArguments() < 2)
    return kernel.emitOpError(
        "is not a kernel: it needs a body, no results, and "
        "memref arguments followed by begin and end");
  unsigned count = kernel.getNumArguments() - 2;
  for (unsigned i = count; i < count + 2; ++i) {
    Type type = kernel.getArgumentTypes()[i];
    if (!type.isIndex() && !type.isInteger(64))
      return kernel.emitOpError("range argument must be index or i64, not ")
             << type;
  }
  Builder builder(kernel.getContext());
  for (unsigned i = 0; i < count; ++i) {
    auto type = dyn_cast<MemRefType>(kernel.getArgumentTypes()[i]);
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || !type.hasStaticShape() ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        ShapedType::isDynamic(offset) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return kernel.emitOpError("argument ")
             << i
             << " must be a memref of static shape, strides and offset, not "
             << kernel.getArgumentTypes()[i];
    int64_t alignment = bufferAlignment;
    if (auto attr = kernel.getArgAttrOfType<IntegerAttr>(i, alignAttr))
      alignment = attr.getInt();
    if (alignment < 1 || !llvm::isPowerOf2_64(alignment))
      return kernel.emitOpError("argument ")
             << i << " has a wrong " << alignAttr;
    if (!kernel.getArgAttr(i, mayAliasAttr))
      kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
    kernel.removeArgAttr(i, alignAttr);
    kernel.removeArgAttr(i, mayAliasAttr);
    kernel.setArgAttr(i, LLVM::LLVMDialect::getNonNullAttrName(),
                      builder.getUnitAttr());
    kernel.setArgAttr(i, LLVM::LLVMDialect::getNoUndefAttrName(),
                      builder.getUnitAttr());
    kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(alignment));
    if (int64_t bytes = reachedBytes(type))
      kernel.setArgAttr(i, LLVM::LLVMDialect::getDereferenceableAttrName(),
                        builder.getI64IntegerAttr(bytes));
  }
  return success();
}

/// Declares the function `void NAME(ptr buffers, i64 begin, i64 end)`.
LLVM::LLVMFuncOp declareEntry(OpBuilder &builder, Location loc,
                              StringRef name) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), {pointer, i64, i64});
  return LLVM::LLVMFuncOp::create(builder, loc, name, type);
}

Value loadPointer(OpBuilder &builder, Location loc, Value buffers, unsigned i) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, buffers,
                                   ArrayRef<LLVM::GEPArg>{int32_t(i)});
  return LLVM::LoadOp::create(builder, loc, pointer, slot);
}

/// Adds the entry, which loads the pointers and calls the kernel. The call is
/// not inlined: noalias on arguments is stronger than the metadata left by
/// inlining.
void addEntry(LLVM::LLVMFuncOp kernel) {
  Location loc = kernel.getLoc();
  std::string name = kernel.getName().str();
  kernel->removeAttr(kernelEntryAttr);
  kernel.setName(name + ".body");
  kernel.setNoInline(true);

  OpBuilder builder(kernel);
  LLVM::LLVMFuncOp entry = declareEntry(builder, loc, name);
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> operands;
  for (unsigned i = 0; i + 2 < kernel.getNumArguments(); ++i)
    operands.push_back(loadPointer(builder, loc, block->getArgument(0), i));
  operands.push_back(block->getArgument(1));
  operands.push_back(block->getArgument(2));
  LLVM::CallOp::create(builder, loc, kernel, operands);
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
}

/// Replaces a kernel that passes its buffers to sub-kernel functions by the
/// entry itself, which loads each pointer where it is passed: LLVM's time is
/// quadratic in the size of a block.
void makeEntry(LLVM::LLVMFuncOp kernel) {
  Location loc = kernel.getLoc();
  OpBuilder builder(kernel);
  // Calls extract pointers from memref descriptors; fold these.
  kernel.walk([&](LLVM::ExtractValueOp extract) {
    SmallVector<Value> folded;
    if (failed(builder.tryFold(extract, folded)))
      return;
    extract.replaceAllUsesWith(folded[0]);
    extract.erase();
  });
  Block &body = kernel.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();

  LLVM::LLVMFuncOp entry = declareEntry(builder, loc, kernel.getName());
  entry.getBody().takeBody(kernel.getBody());
  kernel.erase();
  const unsigned count = body.getNumArguments() - 2;
  Value buffers =
      body.addArgument(LLVM::LLVMPointerType::get(builder.getContext()), loc);
  for (unsigned i = 0; i < count; ++i)
    for (OpOperand &use :
         llvm::make_early_inc_range(body.getArgument(i).getUses())) {
      builder.setInsertionPoint(use.getOwner());
      use.set(loadPointer(builder, loc, buffers, i));
    }
  for (unsigned i : {count, count + 1})
    body.getArgument(i).replaceAllUsesWith(
        body.addArgument(builder.getI64Type(), loc));
  body.eraseArguments(0, count + 2);
}

bool usesVectors(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<vector::VectorDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace

void registerCpuDialects(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, arith::ArithDialect,
              cf::ControlFlowDialect, func::FuncDialect, index::IndexDialect,
              LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
              scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void lowerToLLVMDialect(ModuleOp module, const CpuTarget &target) {
  std::string diagnostics;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
        return success();
      });
  auto throwIfFailed = [&](LogicalResult result) {
    if (failed(result))
      throw Error(ExitStatus::Bug,
                  "a CPU kernel cannot be lowered to LLVM: " + diagnostics);
  };

  for (auto function : module.getOps<func::FuncOp>())
    if ((function->hasAttr(kernelEntryAttr) &&
         !function->hasAttr(kernelDispatchAttr)) ||
        function->hasAttr(subKernelFunctionAttr))
      throwIfFailed(annotateKernel(function));

  PassManager passes(module.getContext());
  OpPassManager &perFunction = passes.nest<func::FuncOp>();
  if (usesVectors(module))
    perFunction.addPass(createConvertVectorToSCFPass());
  perFunction.addPass(std::make_unique<ExpandKernelOps>(target.has("fma")));
  perFunction.addPass(createLowerAffinePass());
  perFunction.addPass(createLoopInvariantCodeMotionPass());
  perFunction.addPass(createCSEPass());
  perFunction.addPass(createSCFToControlFlowPass());
  if (usesVectors(module))
    passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(std::make_unique<ConvertKernelsToLLVM>());
  passes.addPass(createReconcileUnrealizedCastsPass());
  throwIfFailed(passes.run(module));

  for (auto function :
       llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    if (function.isExternal())
      continue;
    function.setLinkage(LLVM::Linkage::Internal);
    if (function->removeAttr(subKernelFunctionAttr))
      function.setNoInline(true); // see addEntry
    if (function->removeAttr(kernelDispatchAttr))
      makeEntry(function);
    else if (function->hasAttr(kernelEntryAttr))
      addEntry(function);
  }
}

} // namespace brew::compiler::cpu

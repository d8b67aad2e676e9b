//===- Pipeline.cpp - Pass pipelines of the phases ------------------------===//
#include "compiler/Pipeline.h"

#include "compiler/cpu/LowerToLLVM.h"
#include "compiler/manifest/ManifestBuilder.h"
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"

#include <mutex>

using namespace brew;
using compiler::Phase;
using compiler::PipelineOptions;

void compiler::registerDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<dialects::BrewDialect, dialects::plan::PlanDialect,
              mlir::arith::ArithDialect, mlir::func::FuncDialect,
              mlir::linalg::LinalgDialect, mlir::math::MathDialect,
              mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
              mlir::tensor::TensorDialect, dialects::target::TargetDialect>();
  cpu::registerCpuDialects(registry);
  registerManifestEntries(registry);
}

namespace {

/// The cases of an enumeration, as values of an option.
template <typename Enum> struct EnumCases {
  llvm::StringRef (*textOf)(Enum);
  unsigned maximum;

  /// Called by LLVM's option classes.
  template <typename Option> void apply(Option &option) const {
    for (unsigned value = 0; value <= maximum; ++value)
      option.getParser().addLiteralOption(textOf(static_cast<Enum>(value)),
                                          static_cast<Enum>(value), "");
  }
};

/// The options of a phase's pipeline.
struct PhaseOptions : mlir::PassPipelineOptions<PhaseOptions> {
#define PIPELINE_OPTION(type, field, option, defaultValue, description)        \
  Option<type> field{*this, option, llvm::cl::desc(description),               \
                     llvm::cl::init(type(defaultValue))};
#define PIPELINE_ENUM(type, field, option, defaultValue, description)          \
  Option<dialects::target::type> field{                                        \
      *this, option, llvm::cl::desc(description),                              \
      llvm::cl::init(dialects::target::type::defaultValue),                    \
      EnumCases<dialects::target::type>{                                       \
          dialects::target::stringify##type,                                   \
          dialects::target::getMaxEnumValFor##type()}};
#define PIPELINE_LIST(field, option, description)                              \
  ListOption<std::string> field{*this, option, llvm::cl::desc(description)};
#include "compiler/PipelineOptions.def"

  PipelineOptions values() const {
    PipelineOptions result;
#define PIPELINE_OPTION(type, field, option, defaultValue, description)        \
  result.field = field.getValue();
#define PIPELINE_ENUM PIPELINE_OPTION
#define PIPELINE_LIST(field, option, description)                              \
  result.field.assign(field.begin(), field.end());
#include "compiler/PipelineOptions.def"
    return result;
  }
};

} // namespace

static void registerPhase(Phase phase, llvm::StringRef name,
                          llvm::StringRef description) {
  mlir::PassPipelineRegistration<PhaseOptions>(
      name, description,
      [phase](mlir::OpPassManager &pm, const PhaseOptions &options) {
        compiler::buildPhase(pm, phase, options.values());
      });
}

void compiler::registerPasses() {
  static std::once_flag once; // MLIR's registry is global and has no lock
  std::call_once(once, [] {
    registerPhase(Phase::Import, "brew-phase-import", "Verify an imported net");
    registerPhase(Phase::Graph, "brew-phase-graph",
                  "Phase import to graph: shapes, gradients, solver updates");
    registerPhase(Phase::Fused, "brew-phase-fused",
                  "Phase graph to fused: library calls and kernels, layouts");
    registerPhase(Phase::Plan, "brew-phase-plan",
                  "Phase fused to plan: ordered steps, memory");
    passes::registerBrewPasses();
    mlir::registerCanonicalizerPass();
    mlir::registerCSEPass();
  });
}

/// Converts the values of a list option.
template <typename Range>
static llvm::SmallVector<std::string> toStrings(const Range &range) {
  return {range.begin(), range.end()};
}

void compiler::buildPhase(mlir::OpPassManager &pm, Phase phase,
                          const PipelineOptions &options) {
  // Passes over one program are nested, so that MLIR runs the programs in
  // parallel.
  pm.setNesting(mlir::OpPassManager::Nesting::Implicit);
  // Adds the optional pass `name` unless --without disables it.
  auto addOptional = [&](llvm::StringRef name, auto &&create) {
    if (!llvm::is_contained(options.without, name))
      pm.addPass(create());
  };
  switch (phase) {
  case Phase::Import:
    pm.addPass(passes::createVerifyImport());
    return;
  case Phase::Graph: {
    pm.addPass(passes::createInferShapes());
    if (options.stepwise) {
      pm.addPass(passes::createOutlineLayers());
      pm.addPass(passes::createInferShapes()); // of the new programs
    }
    // Pin blobs by name while every layer still exists.
    passes::PinBlobsOptions pins;
    pins.blobs = toStrings(options.pin);
    pins.outputGradients = toStrings(options.outputGradients);
    pm.addPass(createPinBlobs(pins));
    pm.addPass(passes::createTrackItemCounts());
    pm.addPass(passes::createPropagateStoredParams());
    passes::LowerRecurrentOptions recurrent;
    recurrent.exactHiddenGradients = options.exactHiddenGradients;
    pm.addPass(createLowerRecurrent(recurrent));
    pm.addPass(passes::createFoldFlatten());
    addOptional("sink-relu-below-max-pool",
                [] { return passes::createSinkReluBelowMaxPool(); });
    if (options.syncBatchNorm)
      pm.addPass(passes::createSyncBatchNorm());
    passes::DifferentiateOptions gradients;
    gradients.pin = pins.blobs;
    gradients.outputGradients = pins.outputGradients;
    gradients.lossScale = options.lossScale;
    pm.addPass(createDifferentiate(gradients));
    if (!options.solverType.empty()) {
      passes::BuildUpdateOptions update;
      update.solverType = options.solverType;
      update.regularization = options.regularization;
      update.localRate = options.localRate;
      update.localFactor = options.localFactor;
      update.keepUpdate = options.storeUpdates;
      update.lossScale = options.lossScale;
      update.lossScaleWindow = options.lossScaleWindow;
      pm.addPass(createBuildUpdate(update));
    }
    // Splits have a gradient operation, so canonicalization, which replaces
    // them, follows differentiation.
    pm.addNestedPass<dialects::ProgramOp>(mlir::createCanonicalizerPass());
    addOptional("fuse-weight-gradients",
                [] { return passes::createFuseWeightGradients(); });
    addOptional("fold-normalization",
                [] { return passes::createFoldNormalization(); });
    pm.addNestedPass<dialects::ProgramOp>(mlir::createCanonicalizerPass());
    pm.addNestedPass<dialects::ProgramOp>(mlir::createCSEPass());
    pm.addPass(passes::createVerifyGraph());
    return;
  }
  case Phase::Fused: {
    passes::AttachTargetOptions target;
    target.gpuArchs = toStrings(options.gpuArchs);
    target.vectorBits = options.vectorBits;
    target.bf16 = options.bf16Products;
    pm.addPass(createAttachTarget(target));
    addOptional("fuse-sibling-convolutions", [&] {
      passes::FuseSiblingConvolutionsOptions siblings;
      siblings.noLibrary = toStrings(options.noLibrary);
      return createFuseSiblingConvolutions(siblings);
    });
    addOptional("fuse-epilogue", [] { return passes::createFuseEpilogue(); });
    if (dialects::target::isNarrow(options.precision)) {
      passes::LowerPrecisionOptions precision;
      precision.type = options.precision;
      pm.addPass(createLowerPrecision(precision));
      addOptional("pad-channels", [&] {
        passes::PadChannelsOptions pad;
        pad.noLibrary = toStrings(options.noLibrary);
        return createPadChannels(pad);
      });
      addOptional("fold-input-conversions",
                  [] { return passes::createFoldInputConversions(); });
    }
    passes::AssignLayoutOptions layout;
    layout.layout = options.layout;
    layout.precision = options.precision;
    layout.noLibrary = toStrings(options.noLibrary);
    layout.orderWeights = !llvm::is_contained(options.without, "order-weights");
    pm.addPass(createAssignLayout(layout));
    passes::BuildGradientProgramsOptions gradients;
    gradients.accumulate = options.accumulateGradients;
    gradients.clip = options.clipGradients;
    pm.addPass(createBuildGradientPrograms(gradients));
    addOptional("pack-convolution-operands", [&] {
      passes::PackConvolutionOperandsOptions pack;
      pack.noLibrary = layout.noLibrary;
      return createPackConvolutionOperands(pack);
    });
    passes::LowerToNestsOptions lower;
    lower.noLibrary = layout.noLibrary;
    pm.addPass(createLowerToNests(lower));
    pm.addPass(passes::createFoldCasts());
    pm.addNestedPass<dialects::ProgramOp>(mlir::createCSEPass());
    addOptional("prepare-weights",
                [] { return passes::createPrepareWeights(); });
    addOptional("rematerialize-producers",
                [] { return passes::createRematerializeProducers(); });
    if (options.cuda &&
        !llvm::is_contained(options.without, "pack-sign-masks")) {
      pm.addPass(passes::createPackSignMasks());
      // Packed masks are cheap to read.
      addOptional("rematerialize-producers",
                  [] { return passes::createRematerializeProducers(); });
    }
    if (options.cuda)
      addOptional("fuse-pooling-backward",
                  [] { return passes::createFusePoolingBackward(); });
    const auto addElideRoundings = [&] {
      if (dialects::target::isNarrow(options.precision))
        addOptional("elide-roundings",
                    [] { return passes::createElideRoundings(); });
    };
    addElideRoundings();
    if (!llvm::is_contained(options.without, "fuse-depthwise")) {
      passes::FuseDepthwiseOptions depthwise;
      depthwise.precision = options.precision;
      pm.addPass(createFuseDepthwise(depthwise));
      // Calls lowered to nests widen their operands themselves.
      if (dialects::target::isNarrow(options.precision))
        pm.addPass(passes::createFoldCasts());
      addElideRoundings();
    }
    addOptional("fuse-sibling-reductions",
                [] { return passes::createFuseSiblingReductions(); });
    addOptional("fuse-reductions",
                [] { return passes::createFuseReductions(); });
    addOptional("split-reductions",
                [] { return passes::createSplitReductions(); });
    if (options.cuda)
      addOptional("fold-coefficients",
                  [] { return passes::createFoldCoefficients(); });
    passes::RematerializeOptions rematerialize;
    rematerialize.bytes = options.rematerializeBudget;
    rematerialize.precision = options.precision;
    // On a GPU without a memory limit, rematerialization would only cost time.
    if (!options.cuda || options.rematerializeBudget >= 0)
      addOptional("rematerialize",
                  [&] { return createRematerialize(rematerialize); });
    pm.addPass(passes::createAliasSubviews());
    passes::BuildLoopsOptions loops;
    loops.noLibrary = layout.noLibrary;
    pm.addPass(createBuildLoops(loops));
    passes::FormKernelsOptions kernels;
    kernels.shareUpdates = options.distributed && !options.cuda;
    pm.addPass(createFormKernels(kernels));
    addOptional("fuse-final-reduction",
                [] { return passes::createFuseFinalReduction(); });
    pm.addPass(passes::createVerifyFused());
    return;
  }
  case Phase::Plan:
    pm.addPass(passes::createOrderForwardFirst());
    addOptional("generate-alternatives",
                [] { return passes::createGenerateAlternatives(); });
    addOptional("order-steps", [] { return passes::createOrderSteps(); });
    if (options.distributed) {
      passes::InsertAllReducesOptions reduce;
      reduce.bucketBytes = options.bucketBytes;
      reduce.reduceInBf16 = options.reduceInBf16;
      pm.addPass(createInsertAllReduces(reduce));
    }
    passes::FuseLaunchesOptions launches;
    launches.hasMemoryLimit = options.hasMemoryLimit;
    addOptional("fuse-launches", [&] { return createFuseLaunches(launches); });
    pm.addPass(passes::createPlanMemory());
    if (options.cuda)
      pm.addPass(passes::createBuildInputKernels());
    pm.addPass(passes::createVerifyPlan());
    return;
  }
}

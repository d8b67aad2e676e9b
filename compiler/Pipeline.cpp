//===- Pipeline.cpp - The phases of a compilation -------------------------===//
#include "compiler/Pipeline.h"

#include "compiler/ManifestBuilder.h"
#include "compiler/cpu/LowerToLLVM.h"
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

void compiler::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<ir::BrewDialect, planir::PlanDialect,
                  mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::tensor::TensorDialect, targetir::TargetDialect>();
  registerCpuDialects(registry);
  registerManifestEntries(registry);
}

void compiler::registerPasses() {
  static std::once_flag
      once; // MLIR's registry is the process's, without a lock
  std::call_once(once, [] {
    registerBrewPasses();
    mlir::registerCanonicalizerPass();
    mlir::registerCSEPass();
  });
}

/// The words of a list option.
template <typename Range>
static llvm::SmallVector<std::string> words(const Range &range) {
  return {range.begin(), range.end()};
}

void compiler::buildPhase(mlir::OpPassManager &pm, Phase phase,
                          const PipelineOptions &options) {
  // An optimisation that the user may leave out (--without).
  auto optimise = [&](llvm::StringRef name, auto &&create) {
    if (!llvm::is_contained(options.without, name))
      pm.addPass(create());
  };
  switch (phase) {
  case Phase::Import:
    pm.addPass(createVerifyImport());
    return;
  case Phase::Graph: {
    ResolveFeedsOptions feeds;
    feeds.inputShapes = words(options.inputShapes);
    feeds.batch = options.batch;
    pm.addPass(createResolveFeeds(feeds));
    pm.addPass(createInferShapes());
    // Blobs are pinned by name while every layer is still there.
    KeepBlobsOptions kept;
    kept.blobs = words(options.keep);
    kept.seeds = words(options.seeds);
    pm.addPass(createKeepBlobs(kept));
    pm.addPass(createTrackItems());
    pm.addPass(createPropagateStoredParams());
    UnrollRecurrentOptions recurrent;
    recurrent.exactHiddenGradients = options.exactHiddenGradients;
    pm.addPass(createUnrollRecurrent(recurrent));
    pm.addPass(createFoldFlatten());
    optimise("pool-first", [] { return createPoolFirst(); });
    if (options.syncBatchNorm)
      pm.addPass(createSynchronizeStatistics());
    DifferentiateOptions gradients;
    gradients.keep = kept.blobs;
    gradients.seeds = kept.seeds;
    gradients.lossScale = options.lossScale;
    pm.addPass(createDifferentiate(gradients));
    if (!options.solverType.empty()) {
      BuildUpdateOptions update;
      update.solverType = options.solverType;
      update.regularization = options.regularization;
      update.keepUpdate = options.keepUpdate;
      update.lossScale = options.lossScale;
      update.lossScaleWindow = options.lossScaleWindow;
      pm.addPass(createBuildUpdate(update));
    }
    // Splits have a gradient of their own, so they go only now.
    pm.addPass(createFoldSplits());
    optimise("join-gradients", [] { return createJoinGradients(); });
    optimise("fold-normalization", [] { return createFoldNormalization(); });
    pm.addPass(mlir::createCanonicalizerPass());
    pm.addPass(mlir::createCSEPass());
    pm.addPass(createVerifyGraph());
    return;
  }
  case Phase::Fused: {
    AttachTargetOptions target;
    target.gpuArchs = words(options.gpuArchs);
    target.vectorBits = options.vectorBits;
    target.bf16 = options.bf16Products;
    pm.addPass(createAttachTarget(target));
    optimise("join-convolutions", [&] {
      JoinConvolutionsOptions join;
      join.noLibrary = words(options.noLibrary);
      return createJoinConvolutions(join);
    });
    optimise("fuse-epilogue", [] { return createFuseEpilogue(); });
    if (targetir::isNarrow(options.precision)) {
      LowerPrecisionOptions precision;
      precision.type = options.precision;
      pm.addPass(createLowerPrecision(precision));
      optimise("pad-channels", [&] {
        PadChannelsOptions pad;
        pad.noLibrary = words(options.noLibrary);
        return createPadChannels(pad);
      });
      optimise("fold-feeds", [] { return createFoldFeeds(); });
    }
    AssignLayoutOptions layout;
    layout.layout = options.layout;
    layout.precision = options.precision;
    layout.noLibrary = words(options.noLibrary);
    layout.orderWeights = !llvm::is_contained(options.without, "order-weights");
    pm.addPass(createAssignLayout(layout));
    BuildGradientProgramsOptions gradients;
    gradients.accumulate = options.accumulate;
    gradients.clip = options.clip;
    pm.addPass(createBuildGradientPrograms(gradients));
    LowerToNestsOptions lower;
    lower.noLibrary = layout.noLibrary;
    pm.addPass(createLowerToNests(lower));
    pm.addPass(createFoldCasts());
    pm.addPass(mlir::createCSEPass());
    optimise("prepare-weights", [] { return createPrepareWeights(); });
    optimise("clone-producers", [] { return createCloneProducers(); });
    if (options.cuda && !llvm::is_contained(options.without, "sign-bits")) {
      pm.addPass(createSignBits());
      // Masks are cheap to read now.
      optimise("clone-producers", [] { return createCloneProducers(); });
    }
    if (options.cuda)
      optimise("gather-gradients", [] { return createGatherGradients(); });
    const auto keepPrecision = [&] {
      if (targetir::isNarrow(options.precision))
        optimise("keep-precision", [] { return createKeepPrecision(); });
    };
    keepPrecision();
    if (!llvm::is_contained(options.without, "fuse-depthwise")) {
      FuseDepthwiseOptions depthwise;
      depthwise.precision = options.precision;
      pm.addPass(createFuseDepthwise(depthwise));
      // Calls that are nests now widen what they read.
      if (targetir::isNarrow(options.precision))
        pm.addPass(createFoldCasts());
      keepPrecision();
    }
    optimise("merge-sums", [] { return createMergeSums(); });
    optimise("fuse-sums", [] { return createFuseSums(); });
    optimise("split-reductions", [] { return createSplitReductions(); });
    RecomputeOptions recompute;
    recompute.bytes = options.recomputeBytes.value_or(-1);
    recompute.precision = options.precision;
    // Without a limit a GPU's memory is there to be used: computing values
    // again would only take time.
    if (!options.cuda || options.recomputeBytes)
      optimise("recompute", [&] { return createRecompute(recompute); });
    pm.addPass(createPlaceSubviews());
    FormKernelsOptions kernels;
    kernels.shareUpdates = options.distributed && !options.cuda;
    pm.addPass(createFormKernels(kernels));
    optimise("last-block", [] { return createLastBlock(); });
    pm.addPass(createVerifyFused());
    return;
  }
  case Phase::Plan:
    pm.addPass(createForwardFirst());
    optimise("offer-kernels", [] { return createOfferKernels(); });
    optimise("order-steps", [] { return createOrderSteps(); });
    if (options.distributed) {
      PlaceAllReducesOptions reduce;
      reduce.bucketBytes = options.bucketBytes;
      reduce.halfWire = options.reduceInHalf;
      pm.addPass(createPlaceAllReduces(reduce));
    }
    JoinLaunchesOptions launches;
    launches.isLimited = options.isLimited;
    optimise("join-launches", [&] { return createJoinLaunches(launches); });
    pm.addPass(createPlanMemory());
    if (options.cuda)
      pm.addPass(createBuildFeedKernels());
    pm.addPass(createVerifyPlan());
    return;
  }
}

//===- EnumChecks.cpp - Dialects' enums against plan.proto's --------------===//
//
// Some enums of the dialects must have the numbers of enums in plan.proto and
// caffe.proto, which TableGen files cannot include. This file contains only
// static assertions.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "formats/caffe.pb.h"
#include "plan/Contract.h"
#include "plan/plan.pb.h"

namespace brew {
namespace {

template <typename Mirror, typename Original>
constexpr bool haveSameNumber(Mirror mirror, Original original) {
  return static_cast<long long>(mirror) == static_cast<long long>(original);
}

// brew::dialects::plan and brew::plan.
static_assert(haveSameNumber(dialects::plan::ArenaKind::Transient,
                             plan::TRANSIENT));
static_assert(haveSameNumber(dialects::plan::ArenaKind::Parameters,
                             plan::PARAMETERS));
static_assert(haveSameNumber(dialects::plan::ArenaKind::Gradients,
                             plan::GRADIENTS));
static_assert(haveSameNumber(dialects::plan::ArenaKind::State, plan::STATE));
static_assert(haveSameNumber(dialects::plan::ArenaKind::Scalars,
                             plan::SCALARS));
static_assert(haveSameNumber(dialects::plan::Direction::Forward,
                             plan::FORWARD));
static_assert(haveSameNumber(dialects::plan::Direction::BackwardData,
                             plan::BACKWARD_DATA));
static_assert(haveSameNumber(dialects::plan::Direction::BackwardWeights,
                             plan::BACKWARD_WEIGHTS));

// brew::dialects and brew::plan.
static_assert(haveSameNumber(dialects::SolverScalar::LearningRate,
                             plan::LEARNING_RATE));
static_assert(haveSameNumber(dialects::SolverScalar::Momentum, plan::MOMENTUM));
static_assert(haveSameNumber(dialects::SolverScalar::WeightDecay,
                             plan::WEIGHT_DECAY));
static_assert(haveSameNumber(dialects::SolverScalar::GradientScale,
                             plan::GRADIENT_SCALE));
static_assert(haveSameNumber(dialects::SolverScalar::Momentum2,
                             plan::MOMENTUM2));
static_assert(haveSameNumber(dialects::SolverScalar::Delta, plan::DELTA));
static_assert(haveSameNumber(dialects::SolverScalar::RmsDecay,
                             plan::RMS_DECAY));
static_assert(haveSameNumber(dialects::SolverScalar::BiasCorrection,
                             plan::BIAS_CORRECTION));
static_assert(dialects::getMaxEnumValForSolverScalar() < plan::kScalarCount);
static_assert(plan::kScalarCount == plan::SCALAR_COUNT);

// brew::dialects and Caffe.
using Eltwise = caffe::EltwiseParameter;
static_assert(haveSameNumber(dialects::EltwiseKind::Prod, Eltwise::PROD));
static_assert(haveSameNumber(dialects::EltwiseKind::Sum, Eltwise::SUM));
static_assert(haveSameNumber(dialects::EltwiseKind::Max, Eltwise::MAX));
using Reduction = caffe::ReductionParameter;
static_assert(haveSameNumber(dialects::ReductionKind::Sum, Reduction::SUM));
static_assert(haveSameNumber(dialects::ReductionKind::AbsSum, Reduction::ASUM));
static_assert(haveSameNumber(dialects::ReductionKind::SumSq, Reduction::SUMSQ));
static_assert(haveSameNumber(dialects::ReductionKind::Mean, Reduction::MEAN));
using Loss = caffe::LossParameter;
static_assert(haveSameNumber(dialects::Normalization::Full, Loss::FULL));
static_assert(haveSameNumber(dialects::Normalization::Valid, Loss::VALID));
static_assert(haveSameNumber(dialects::Normalization::BatchSize,
                             Loss::BATCH_SIZE));
static_assert(haveSameNumber(dialects::Normalization::None, Loss::NONE));
static_assert(haveSameNumber(dialects::NetPhase::Train, caffe::TRAIN));
static_assert(haveSameNumber(dialects::NetPhase::Test, caffe::TEST));

// Solver types and their numbers.
static_assert(caffe::SolverParameter::SolverType_ARRAYSIZE ==
              plan::kSolverTypeCount);
static_assert(caffe::SolverParameter::SGD == 0 &&
              caffe::SolverParameter::NESTEROV == 1 &&
              caffe::SolverParameter::ADAGRAD == 2 &&
              caffe::SolverParameter::RMSPROP == 3 &&
              caffe::SolverParameter::ADADELTA == 4 &&
              caffe::SolverParameter::ADAM == 5);

} // namespace
} // namespace brew

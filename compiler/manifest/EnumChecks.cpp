//===- EnumChecks.cpp - Dialects' enums against plan.proto's --------------===//
//
// The dialects number some of their enums as plan.proto and caffe.proto do,
// which their TableGen files cannot include. This file has only static
// assertions.
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
constexpr bool same(Mirror mirror, Original original) {
  return static_cast<long long>(mirror) == static_cast<long long>(original);
}

// brew::dialects::plan and brew::plan.
static_assert(same(dialects::plan::ArenaKind::Transient, plan::TRANSIENT));
static_assert(same(dialects::plan::ArenaKind::Parameters, plan::PARAMETERS));
static_assert(same(dialects::plan::ArenaKind::Gradients, plan::GRADIENTS));
static_assert(same(dialects::plan::ArenaKind::State, plan::STATE));
static_assert(same(dialects::plan::ArenaKind::Scalars, plan::SCALARS));
static_assert(same(dialects::plan::Direction::Forward, plan::FORWARD));
static_assert(same(dialects::plan::Direction::BackwardData,
                   plan::BACKWARD_DATA));
static_assert(same(dialects::plan::Direction::BackwardWeights,
                   plan::BACKWARD_WEIGHTS));

// brew::dialects and brew::plan.
static_assert(same(dialects::SolverScalar::LearningRate, plan::LEARNING_RATE));
static_assert(same(dialects::SolverScalar::Momentum, plan::MOMENTUM));
static_assert(same(dialects::SolverScalar::WeightDecay, plan::WEIGHT_DECAY));
static_assert(same(dialects::SolverScalar::GradientScale,
                   plan::GRADIENT_SCALE));
static_assert(same(dialects::SolverScalar::Momentum2, plan::MOMENTUM2));
static_assert(same(dialects::SolverScalar::Delta, plan::DELTA));
static_assert(same(dialects::SolverScalar::RmsDecay, plan::RMS_DECAY));
static_assert(same(dialects::SolverScalar::BiasCorrection,
                   plan::BIAS_CORRECTION));
static_assert(dialects::getMaxEnumValForSolverScalar() < plan::kScalarCount);
static_assert(plan::kScalarCount == plan::SCALAR_COUNT);

// brew::dialects and Caffe.
using Eltwise = caffe::EltwiseParameter;
static_assert(same(dialects::EltwiseKind::Prod, Eltwise::PROD));
static_assert(same(dialects::EltwiseKind::Sum, Eltwise::SUM));
static_assert(same(dialects::EltwiseKind::Max, Eltwise::MAX));
using Reduction = caffe::ReductionParameter;
static_assert(same(dialects::ReductionKind::Sum, Reduction::SUM));
static_assert(same(dialects::ReductionKind::AbsSum, Reduction::ASUM));
static_assert(same(dialects::ReductionKind::SumSq, Reduction::SUMSQ));
static_assert(same(dialects::ReductionKind::Mean, Reduction::MEAN));
using Loss = caffe::LossParameter;
static_assert(same(dialects::Normalization::Full, Loss::FULL));
static_assert(same(dialects::Normalization::Valid, Loss::VALID));
static_assert(same(dialects::Normalization::BatchSize, Loss::BATCH_SIZE));
static_assert(same(dialects::Normalization::None, Loss::NONE));
static_assert(same(dialects::NetPhase::Train, caffe::TRAIN));
static_assert(same(dialects::NetPhase::Test, caffe::TEST));

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

//===- SolverFields.cpp - Settable fields of the solver -------------------===//

#include "runtime/train/SolverFields.h"

#include "runtime/log/Log.h"
#include "support/Error.h"
#include "support/NumberText.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace brew::runtime {
namespace {

namespace pb = google::protobuf;

constexpr int kNoMinimum = std::numeric_limits<int>::min();

const SolverField &requireField(const std::string &name) {
  if (const SolverField *field = findSolverField(name))
    return *field;
  std::vector<std::string> names;
  for (const SolverField &field : solverFields())
    names.push_back(field.name);
  throw usageError("the solver has no field '" + name + "' that can be set" +
                   didYouMean(name, names));
}

const pb::FieldDescriptor &descriptorOf(const SolverField &field) {
  return *caffe::SolverParameter::descriptor()->FindFieldByName(field.name);
}

long long parseWholeNumber(const SolverField &field, const std::string &text) {
  char *end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  const bool fits = errno == 0 && (field.kind == SolverField::Integer64 ||
                                   (value >= std::numeric_limits<int>::min() &&
                                    value <= std::numeric_limits<int>::max()));
  if (text.empty() || *end || !fits)
    throw usageError(std::string("solver: ") + field.name + " takes " +
                     (field.kind == SolverField::Integers
                          ? "integers separated by commas"
                          : "a whole number") +
                     ", not '" + text + "'");
  return value;
}

float parseNumber(const SolverField &field, const std::string &text) {
  const std::optional<float> value = parseFloat(text);
  if (!value || !std::isfinite(*value))
    throw usageError(std::string("solver: ") + field.name +
                     " takes a number, not '" + text + "'");
  return *value;
}

bool parseBoolean(const SolverField &field, const std::string &text) {
  if (text == "true" || text == "1")
    return true;
  if (text == "false" || text == "0")
    return false;
  throw usageError(std::string("solver: ") + field.name +
                   " takes true or false, not '" + text + "'");
}

} // namespace

const std::vector<SolverField> &solverFields() {
  using Field = SolverField;
  static const std::vector<SolverField> fields = {
      {"base_lr", "base-lr", "Initial learning rate", Field::Number},
      {"lr_policy", "lr-policy",
       "fixed, step, exp, inv, multistep, poly, sigmoid, plateau, sgdr or "
       "multifixed",
       Field::Text},
      {"gamma", "gamma", "Parameter of the policy", Field::Number},
      {"power", "power", "Parameter of the policy", Field::Number},
      {"stepsize", "stepsize", "Parameter of the policy", Field::Integer},
      {"stepvalue", "stepvalue", "Steps of the policy multistep",
       Field::Integers},
      {"plateau_winsize", "plateau-winsize",
       "Iterations without a new minimum loss before each step of plateau",
       Field::Integers, true, 1},
      {"warmup_iter", "warmup-iter", "Iterations of linear warm-up",
       Field::Integer, true, 0},
      {"warmup_start_lr", "warmup-start-lr", "Rate at the start of warm-up",
       Field::Number},
      {"rampup_interval", "rampup-interval",
       "NVIDIA Caffe's name of warmup_iter", Field::Integer, true, 0},
      {"rampup_lr", "rampup-lr", "NVIDIA Caffe's name of warmup_start_lr",
       Field::Number},
      {"min_lr", "min-lr", "Lowest learning rate", Field::Number},
      {"lr_mult", "lr-mult", "Factor of the rate at each restart of sgdr",
       Field::Number},
      {"p_mult", "p-mult", "Factor of the period at each restart of sgdr",
       Field::Number},
      {"period", "period", "Iterations of sgdr's first period (-1: max_iter)",
       Field::Integer},
      {"momentum", "momentum", "Momentum", Field::Number},
      {"momentum2", "momentum2", "Adam's decay of the second moment",
       Field::Number},
      {"delta", "delta",
       "Added to denominators (AdaGrad, RMSProp, AdaDelta, Adam)",
       Field::Number},
      {"rms_decay", "rms-decay", "RMSProp's decay of the mean square",
       Field::Number},
      {"weight_decay", "weight-decay", "Weight decay", Field::Number},
      {"clip_gradients", "clip-gradients",
       "Maximum L2 norm of the gradients (negative: unlimited)", Field::Number},
      {"iter_size", "iter-size", "Batches per update", Field::Integer, true, 1},
      {"max_iter", "max-iter", "Iterations to train to", Field::Integer, true,
       0},
      {"display", "display", "Iterations between displays (0: none)",
       Field::Integer, true, 0},
      {"average_loss", "average-loss",
       "Iterations the displayed loss is averaged over", Field::Integer, true,
       1},
      {"test_interval", "test-interval", "Iterations between tests (0: none)",
       Field::Integer, true, 0},
      {"test_offset", "test-offset", "Iterations by which tests are delayed",
       Field::Integer},
      {"test_iter", "test-iter", "Batches of each test net", Field::Integers,
       true, 0},
      {"test_initialization", "test-initialization",
       "Whether to test before the first iteration", Field::Boolean},
      {"snapshot", "snapshot-interval",
       "Iterations between snapshots (0: none)", Field::Integer, true, 0},
      {"snapshot_prefix", "snapshot-prefix", "Prefix of snapshot names",
       Field::Text},
      {"snapshot_after_train", "snapshot-after-train",
       "Whether to snapshot at the end", Field::Boolean},
      {"random_seed", "random-seed",
       "Seed of fillers, shuffling and transformations (negative: random)",
       Field::Integer64, false},
  };
  return fields;
}

const SolverField *findSolverField(std::string_view name) {
  const auto &fields = solverFields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const SolverField &field) {
        return field.name == name;
      });
  return found == fields.end() ? nullptr : &*found;
}

void setSolverField(caffe::SolverParameter &solver, const std::string &name,
                    const std::string &value) {
  const SolverField &field = requireField(name);
  const pb::FieldDescriptor &target = descriptorOf(field);
  const pb::Reflection &reflection = *solver.GetReflection();
  switch (field.kind) {
  case SolverField::Number:
    return reflection.SetFloat(&solver, &target, parseNumber(field, value));
  case SolverField::Integer:
    return reflection.SetInt32(
        &solver, &target, static_cast<int>(parseWholeNumber(field, value)));
  case SolverField::Integer64:
    return reflection.SetInt64(&solver, &target,
                               parseWholeNumber(field, value));
  case SolverField::Boolean:
    return reflection.SetBool(&solver, &target, parseBoolean(field, value));
  case SolverField::Text:
    return reflection.SetString(&solver, &target, value);
  case SolverField::Integers: {
    std::vector<int> values;
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      if (!value.empty())
        values.push_back(static_cast<int>(
            parseWholeNumber(field, value.substr(begin, end - begin))));
      begin = end + 1;
    }
    reflection.ClearField(&solver, &target);
    for (int entry : values)
      reflection.AddInt32(&solver, &target, entry);
    return;
  }
  }
}

std::string solverFieldText(const caffe::SolverParameter &solver,
                            const std::string &name) {
  const SolverField &field = requireField(name);
  const pb::FieldDescriptor &source = descriptorOf(field);
  const pb::Reflection &reflection = *solver.GetReflection();
  switch (field.kind) {
  case SolverField::Number:
    return shortestText(reflection.GetFloat(solver, &source),
                        /*minimum=*/6);
  case SolverField::Integer:
    return std::to_string(reflection.GetInt32(solver, &source));
  case SolverField::Integer64:
    return std::to_string(reflection.GetInt64(solver, &source));
  case SolverField::Boolean:
    return reflection.GetBool(solver, &source) ? "true" : "false";
  case SolverField::Text:
    return reflection.GetString(solver, &source);
  case SolverField::Integers: {
    std::string text;
    for (int i = 0; i < reflection.FieldSize(solver, &source); ++i)
      text += (i ? "," : "") +
              std::to_string(reflection.GetRepeatedInt32(solver, &source, i));
    return text;
  }
  }
  return {};
}

void checkSolverFields(const caffe::SolverParameter &solver) {
  const pb::Reflection &reflection = *solver.GetReflection();
  for (const SolverField &field : solverFields()) {
    if (field.minimum == kNoMinimum)
      continue;
    const pb::FieldDescriptor &source = descriptorOf(field);
    std::vector<int> values;
    if (field.kind == SolverField::Integer)
      values.push_back(reflection.GetInt32(solver, &source));
    else
      for (int i = 0; i < reflection.FieldSize(solver, &source); ++i)
        values.push_back(reflection.GetRepeatedInt32(solver, &source, i));
    for (int value : values)
      if (value < field.minimum)
        throw badInput(
            std::string("solver: ") + field.name +
            (field.minimum == 0
                 ? std::string(" must not be negative")
                 : " must be at least " + std::to_string(field.minimum)));
  }
}

} // namespace brew::runtime

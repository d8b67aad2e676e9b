//===- SolverChecks.cpp - Caffe's rules for solvers -----------------------===//

#include "caffe/LearningRate.h"
#include "caffe/SolverRules.h"
#include "caffe/TrainerProperties.h"
#include "frontends/prototxt/check/SolverDocument.h"
#include "frontends/prototxt/upgrade/FieldCopy.h"
#include "plan/Contract.h"
#include "support/NumberText.h"
#include "support/Suggest.h"

#include <algorithm>
#include <string>
#include <vector>

namespace brew::prototxt {

namespace {

bool isOneOf(const std::string &policy,
             std::initializer_list<const char *> names) {
  return std::find(names.begin(), names.end(), policy) != names.end();
}

const std::vector<std::string> solverTypes(std::begin(plan::kSolverTypes),
                                           std::end(plan::kSolverTypes));

std::string join(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Checks the fields of a solver.
struct SolverChecker {
  const caffe::SolverParameter &solver;
  const SourceMap &locations;
  Diagnostics &diagnostics;

  Diagnostic &errorAt(const char *field, const std::string &text) {
    return diagnostics.error(locations.whereValue(solver, field), text);
  }
  Diagnostic &warnAt(const char *field, const std::string &text) {
    return diagnostics.warning(locations.whereValue(solver, field), text);
  }

  void checkLearningRate();
  void checkPolicy(const std::string &policy);
  void checkPolicyLists(const std::string &policy);
  void warnOfUnread(const std::string &policy, const char *field,
                    bool isUnread);
  void checkType();
  void checkCounts();
  void checkEvaluation();
  void checkSnapshots();
  void checkTrainerProperties();
};

void SolverChecker::checkLearningRate() {
  const std::vector<std::string> &names = caffe::learningRatePolicies();
  const std::string &policyName = solver.lr_policy();
  if (!solver.has_lr_policy())
    return;
  if (std::find(names.begin(), names.end(), policyName) != names.end())
    return checkPolicy(policyName);
  errorAt("lr_policy", "unknown lr_policy '" + policyName + "'" +
                           didYouMean(policyName, names) +
                           " (known: " + join(names) + ")");
}

void SolverChecker::checkPolicy(const std::string &policy) {
  const std::string name = "lr_policy '" + policy + "'";
  const bool readsGamma = isOneOf(
      policy, {"step", "exp", "inv", "multistep", "sigmoid", "plateau"});
  const bool readsPower = isOneOf(policy, {"inv", "poly"});
  const bool readsStepsize = isOneOf(policy, {"step", "sigmoid"});
  auto notePolicy = [&](Diagnostic &diagnostic) {
    diagnostic.note(locations.where(solver, "lr_policy"),
                    "the policy is chosen here");
  };
  if (readsStepsize && !solver.has_stepsize())
    errorAt("lr_policy", name + " needs 'stepsize'");
  else if (readsStepsize && solver.stepsize() <= 0)
    notePolicy(errorAt("stepsize", name + " needs a 'stepsize' above 0, not " +
                                       std::to_string(solver.stepsize())));
  if (readsGamma && solver.gamma() < 0)
    notePolicy(errorAt("gamma", name + " needs a 'gamma' of 0 or more"));
  if (readsGamma && !solver.has_gamma())
    warnAt("lr_policy",
           name + " reads 'gamma', which is not given and so is 0");
  if (readsPower && !solver.has_power())
    warnAt("lr_policy", name + " reads 'power', which is not given and so is "
                               "0: the rate stays constant");
  checkPolicyLists(policy);
  warnOfUnread(policy, "gamma", solver.has_gamma() && !readsGamma);
  warnOfUnread(policy, "power", solver.has_power() && !readsPower);
  warnOfUnread(policy, "stepsize", solver.has_stepsize() && !readsStepsize);
  warnOfUnread(policy, "stepvalue",
               solver.stepvalue_size() > 0 && policy != "multistep");
  if (!solver.has_base_lr() && policy != "multifixed")
    warnAt("lr_policy", "no 'base_lr' is given, so the learning rate is 0");
}

/// Checks the lists of iterations that some policies read.
void SolverChecker::checkPolicyLists(const std::string &policy) {
  const std::string name = "lr_policy '" + policy + "'";
  const bool isMultistep = policy == "multistep";
  if (isMultistep && solver.stepvalue_size() == 0)
    warnAt("lr_policy", name + " has no 'stepvalue': the rate stays constant");
  if (policy == "plateau" && solver.plateau_winsize_size() == 0)
    warnAt("lr_policy",
           name + " has no 'plateau_winsize': the rate stays constant");
  if (policy == "multifixed" &&
      (solver.stagelr_size() == 0 ||
       solver.stagelr_size() != solver.stageiter_size()))
    errorAt("lr_policy", name + " needs as many 'stageiter' as 'stagelr': " +
                             std::to_string(solver.stageiter_size()) + " and " +
                             std::to_string(solver.stagelr_size()));
  for (int i = 1; isMultistep && i < solver.stepvalue_size(); ++i)
    if (solver.stepvalue(i) < solver.stepvalue(i - 1))
      diagnostics.warning(locations.whereValue(solver, "stepvalue", i),
                          "this stepvalue is below the one before it, so it "
                          "takes effect one iteration after that one");
}

void SolverChecker::warnOfUnread(const std::string &policy, const char *field,
                                 bool isUnread) {
  if (isUnread)
    diagnostics.warning(locations.where(solver, field),
                        "lr_policy '" + policy + "' does not read '" + field +
                            "'");
}

void SolverChecker::checkType() {
  const std::string &type = solver.type();
  if (std::find(solverTypes.begin(), solverTypes.end(), type) ==
      solverTypes.end()) {
    errorAt("type", "unknown solver type '" + type + "'" +
                        didYouMean(type, solverTypes) +
                        " (known: " + join(solverTypes) + ")");
    return;
  }
  for (const caffe::SolverConflict &conflict : caffe::solverConflicts(solver))
    errorAt(conflict.field, conflict.text);
  if (solver.solver_data_type() != caffe::SolverParameter::FLOAT)
    errorAt(
        "solver_data_type",
        "solver_data_type cannot be " +
            caffe::SolverParameter::DataType_Name(solver.solver_data_type()) +
            "; brewc --precision chooses the types of the plan");
  const std::string &regularization = solver.regularization_type();
  if (std::find(std::begin(plan::kRegularizations),
                std::end(plan::kRegularizations),
                regularization) == std::end(plan::kRegularizations)) {
    const std::string text =
        "unknown regularization_type '" + regularization + "' (known: L1, L2)";
    if (solver.weight_decay() != 0)
      errorAt("regularization_type", text);
    else
      warnAt("regularization_type", text + "; it is not used, as weight_decay "
                                           "is 0");
  }
}

void SolverChecker::checkCounts() {
  if (solver.average_loss() < 1)
    errorAt("average_loss", "average_loss must be at least 1, not " +
                                std::to_string(solver.average_loss()));
  if (solver.iter_size() < 1)
    errorAt("iter_size", "iter_size must be at least 1, not " +
                             std::to_string(solver.iter_size()));
  for (const char *field : {"max_iter", "display", "snapshot", "test_interval",
                            "warmup_iter", "rampup_interval"}) {
    const auto *descriptor =
        caffe::SolverParameter::descriptor()->FindFieldByName(field);
    int32_t value = solver.GetReflection()->GetInt32(solver, descriptor);
    if (value < 0)
      errorAt(field, std::string("'") + field + "' cannot be negative");
  }
  for (int i = 0; i < solver.test_iter_size(); ++i)
    if (solver.test_iter(i) < 0)
      diagnostics.error(locations.whereValue(solver, "test_iter", i),
                        "'test_iter' cannot be negative");
  for (int i = 0; i < solver.plateau_winsize_size(); ++i)
    if (solver.plateau_winsize(i) < 1)
      diagnostics.error(locations.whereValue(solver, "plateau_winsize", i),
                        "'plateau_winsize' must be at least 1");
}

/// Checks SSD's fields.
void SolverChecker::checkEvaluation() {
  auto check = [&](const char *field, const std::string &value,
                   const std::vector<std::string> &knownValues) {
    if (std::find(knownValues.begin(), knownValues.end(), value) ==
        knownValues.end())
      errorAt(field, "unknown " + std::string(field) + " '" + value + "'" +
                         didYouMean(value, knownValues) +
                         " (known: " + join(knownValues) + ")");
  };
  check("eval_type", solver.eval_type(), {"classification", "detection"});
  check("ap_version", solver.ap_version(),
        {"11point", "MaxIntegral", "Integral"});
}

/// Checks MyCaffe's fields, which select the two files of a snapshot.
void SolverChecker::checkSnapshots() {
  for (const char *field :
       {"snapshot_include_weights", "snapshot_include_state"}) {
    const auto *descriptor =
        caffe::SolverParameter::descriptor()->FindFieldByName(field);
    if (!solver.GetReflection()->GetBool(solver, descriptor))
      warnAt(field, std::string(field) +
                        ": false has no effect: a snapshot is always weights "
                        "and the state to resume from");
  }
}

/// Checks the properties of reinforcement learning.
void SolverChecker::checkTrainerProperties() {
  const char *field = "custom_trainer_properties";
  for (const caffe::PropertyDiagnostic &propertyDiagnostic :
       caffe::checkProperties(solver.custom_trainer_properties())) {
    const SourceLocation where =
        locations.whereInString(solver, field, propertyDiagnostic.offset);
    if (propertyDiagnostic.isError)
      diagnostics.error(where, propertyDiagnostic.text);
    else
      diagnostics.warning(where, propertyDiagnostic.text);
  }
}

} // namespace

void checkSolver(const caffe::SolverParameter &solver,
                 const SourceMap &locations, Diagnostics &diagnostics) {
  SolverChecker checker{solver, locations, diagnostics};
  checker.checkLearningRate();
  checker.checkType();
  checker.checkCounts();
  checker.checkEvaluation();
  checker.checkSnapshots();
  checker.checkTrainerProperties();
}

namespace {

/// Returns the fields among `names` that the solver has, in the order of
/// `names`.
std::vector<std::string> presentFields(const caffe::SolverParameter &solver,
                                       const std::vector<std::string> &names) {
  std::vector<std::string> present;
  for (const std::string &name : names)
    if (hasField(solver, name))
      present.push_back(name);
  return present;
}

} // namespace

void checkTrainable(const caffe::SolverParameter &solver,
                    const SourceMap &locations, bool hasNetOverride,
                    Diagnostics &diagnostics) {
  if (!solver.has_lr_policy())
    diagnostics.error(locations.where(solver),
                      "the solver has no lr_policy (known: " +
                          join(caffe::learningRatePolicies()) + ")");
  const std::vector<std::string> fields = {"net", "net_param", "train_net",
                                           "train_net_param"};
  const std::vector<std::string> sources = presentFields(solver, fields);
  if (sources.empty() && !hasNetOverride)
    diagnostics.error(locations.where(solver),
                      "the solver names no net to train; "
                      "it needs one of " +
                          join(fields));
  if (sources.size() > 1 && !hasNetOverride)
    diagnostics
        .error(locations.where(solver, sources[1]),
               "the solver names more than one net to train; it takes one of " +
                   join(fields))
        .note(locations.where(solver, sources[0]),
              "'" + sources[0] + "' is given here");

  const int dedicatedTests =
      solver.test_net_size() + solver.test_net_param_size();
  const int testIters = solver.test_iter_size();
  const bool hasGenericNet =
      hasNetOverride || solver.has_net() || solver.has_net_param();
  const char *dedicatedField =
      solver.test_net_size() > 0 ? "test_net" : "test_net_param";
  if (hasGenericNet ? testIters < dedicatedTests
                    : testIters != dedicatedTests) {
    diagnostics.error(locations.where(solver, dedicatedTests > testIters
                                                  ? dedicatedField
                                                  : "test_iter"),
                      "test_iter must be given once for each test net: " +
                          countWithNoun(testIters, "test_iter") + ", " +
                          countWithNoun(dedicatedTests, "test net"));
    return;
  }
  const int testStates = solver.test_state_size();
  if (testStates != 0 && testStates != testIters)
    diagnostics.error(locations.where(solver, "test_state"),
                      "test_state must be given once for each test net, or not "
                      "at all: " +
                          countWithNoun(testStates, "test_state") + ", " +
                          countWithNoun(testIters, "test net"));
  if (testIters > 0 && solver.test_interval() == 0)
    diagnostics.error(locations.where(solver, "test_iter"),
                      "the solver has test nets but no test_interval above 0");
  if (testIters == 0 && solver.test_interval() > 0)
    diagnostics.warning(locations.where(solver, "test_interval"),
                        "test_interval has no effect without test_iter: the "
                        "net is not tested");
}

} // namespace brew::prototxt

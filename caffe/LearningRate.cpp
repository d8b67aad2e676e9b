//===- LearningRate.cpp - Caffe's learning-rate policies ------------------===//

#include "caffe/LearningRate.h"

#include "support/Error.h"
#include "support/Suggest.h"

#include <cmath>
#include <vector>

namespace brew::caffe {
namespace {

void require(bool condition, const std::string &policy,
             const char *requirement) {
  if (!condition)
    throw badInput("solver: lr_policy '" + policy + "' needs " + requirement);
}

} // namespace

LearningRate::LearningRate(const caffe::SolverParameter &parameter) {
  const std::string name = parameter.lr_policy();
  const double base = parameter.base_lr();
  const double gamma = parameter.gamma();
  const double power = parameter.power();
  const int stepSize = parameter.stepsize();

  if (name.empty())
    throw badInput("solver: lr_policy is not set; it is one of fixed, step, "
                   "exp, inv, multistep, poly, sigmoid");
  if (!parameter.has_base_lr())
    throw badInput("solver: base_lr is not set");

  if (name == "fixed") {
    policy = [=](int, int &) { return base; };
  } else if (name == "step") {
    require(stepSize > 0, name, "stepsize > 0");
    require(gamma >= 0, name, "gamma >= 0");
    policy = [=](int iteration, int &step) {
      step = iteration / stepSize;
      return base * std::pow(gamma, step);
    };
  } else if (name == "exp") {
    require(gamma >= 0, name, "gamma >= 0");
    policy = [=](int iteration, int &) {
      return base * std::pow(gamma, iteration);
    };
  } else if (name == "inv") {
    require(gamma >= 0, name, "gamma >= 0");
    policy = [=](int iteration, int &) {
      return base * std::pow(1 + gamma * iteration, -power);
    };
  } else if (name == "multistep") {
    require(gamma >= 0, name, "gamma >= 0");
    std::vector<int> stepValues(parameter.stepvalue().begin(),
                                parameter.stepvalue().end());
    policy = [=](int iteration, int &step) {
      if (step >= 0 && step < static_cast<int>(stepValues.size()) &&
          iteration >= stepValues[step])
        ++step;
      return base * std::pow(gamma, step);
    };
  } else if (name == "poly") {
    const double maxIteration = parameter.max_iter();
    require(maxIteration > 0, name, "max_iter > 0");
    policy = [=](int iteration, int &) {
      return base * std::pow(1 - iteration / maxIteration, power);
    };
  } else if (name == "sigmoid") {
    require(gamma >= 0, name, "gamma >= 0");
    require(stepSize > 0, name, "stepsize > 0");
    policy = [=](int iteration, int &) {
      return base / (1 + std::exp(-gamma * (iteration - double(stepSize))));
    };
  } else {
    const std::vector<std::string> knownPolicies = {
        "fixed", "step", "exp", "inv", "multistep", "poly", "sigmoid"};
    throw badInput("solver: unknown lr_policy '" + name + "'" +
                   didYouMean(name, knownPolicies));
  }
}

double LearningRate::at(int iteration, int &currentStep) const {
  return policy(iteration, currentStep);
}

} // namespace brew::caffe

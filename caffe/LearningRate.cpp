//===- LearningRate.cpp - Learning-rate policies --------------------------===//

#include "caffe/LearningRate.h"

#include "support/Error.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cmath>

namespace brew::caffe {
namespace {

using Policy = std::function<double(int, LearningRateState &, double)>;

void require(bool condition, const std::string &policy,
             const char *requirement) {
  if (!condition)
    throw badInput("solver: lr_policy '" + policy + "' needs " + requirement);
}

std::string joinedPolicies() {
  std::string text;
  for (const std::string &name : learningRatePolicies())
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

Policy multistep(const caffe::SolverParameter &parameter) {
  const double base = parameter.base_lr(), gamma = parameter.gamma();
  std::vector<int> stepValues(parameter.stepvalue().begin(),
                              parameter.stepvalue().end());
  return [=](int iteration, LearningRateState &state, double) {
    if (state.step >= 0 && state.step < static_cast<int>(stepValues.size()) &&
        iteration >= stepValues[state.step])
      ++state.step;
    return base * std::pow(gamma, state.step);
  };
}

Policy plateau(const caffe::SolverParameter &parameter) {
  const double base = parameter.base_lr(), gamma = parameter.gamma();
  std::vector<int> windows(parameter.plateau_winsize().begin(),
                           parameter.plateau_winsize().end());
  return [=](int iteration, LearningRateState &state, double loss) {
    // In single precision, which is what snapshots contain.
    if (const auto single = static_cast<float>(loss);
        single < state.minimumLoss) {
      state.minimumLoss = single;
      state.lastEvent = iteration;
    }
    if (state.step >= 0 && state.step < static_cast<int>(windows.size()) &&
        iteration - state.lastEvent >= windows[state.step]) {
      ++state.step;
      state.lastEvent = iteration;
    }
    return base * std::pow(gamma, state.step);
  };
}

Policy sgdr(const caffe::SolverParameter &parameter) {
  constexpr double kDefaultMinimum = 1e-6; // jolibrain/caffe's
  constexpr double kPi = 3.14159265358979323846;
  const double base = parameter.base_lr();
  const double minimum =
      parameter.has_min_lr() ? parameter.min_lr() : kDefaultMinimum;
  const double rateFactor = parameter.lr_mult();
  const double periodFactor = parameter.p_mult();
  const int firstPeriod =
      parameter.period() > 0 ? parameter.period() : parameter.max_iter();
  require(firstPeriod > 0, "sgdr", "period > 0 or max_iter > 0");
  return [=](int iteration, LearningRateState &state, double) {
    // Periods are whole numbers, rounded down.
    double period = firstPeriod, position = iteration;
    state.step = 0;
    while (position >= period) {
      const double next = std::max(1.0, std::floor(period * periodFactor));
      // Equal periods are skipped at once.
      const double count = next == period ? std::floor(position / period) : 1;
      position -= count * period;
      state.step += static_cast<int>(count);
      period = next;
    }
    state.lastEvent = iteration - static_cast<int>(position);
    const double maximum = base * std::pow(rateFactor, state.step);
    return minimum +
           0.5 * (maximum - minimum) * (1 + std::cos(position / period * kPi));
  };
}

Policy multifixed(const caffe::SolverParameter &parameter) {
  require(parameter.stagelr_size() > 0 &&
              parameter.stagelr_size() == parameter.stageiter_size(),
          "multifixed", "as many stageiter as stagelr");
  std::vector<int> ends(parameter.stageiter().begin(),
                        parameter.stageiter().end());
  std::vector<double> rates(parameter.stagelr().begin(),
                            parameter.stagelr().end());
  return [=](int iteration, LearningRateState &, double) {
    std::size_t stage = 0;
    while (stage + 1 < ends.size() && iteration > ends[stage])
      ++stage;
    return rates[stage];
  };
}

} // namespace

const std::vector<std::string> &learningRatePolicies() {
  static const std::vector<std::string> names = {
      "fixed", "step",    "exp",     "inv",  "multistep",
      "poly",  "sigmoid", "plateau", "sgdr", "multifixed"};
  return names;
}

void LearningRateState::save(caffe::SolverState &state) const {
  state.set_current_step(step);
  if (!hasMinimumLoss() && lastEvent == 0)
    return;
  state.set_minimum_loss(minimumLoss);
  state.set_iter_last_event(lastEvent);
}

void LearningRateState::restore(const caffe::SolverState &state) {
  *this = {};
  step = state.current_step();
  if (state.has_minimum_loss())
    minimumLoss = state.minimum_loss();
  lastEvent = state.iter_last_event();
}

LearningRate::LearningRate(const caffe::SolverParameter &parameter)
    : base(parameter.base_lr()) {
  const std::string name = parameter.lr_policy();
  const double base = this->base; // captured by value below
  const double gamma = parameter.gamma();
  const double power = parameter.power();
  const int stepSize = parameter.stepsize();

  if (name.empty())
    throw badInput("solver: lr_policy is not set; it is one of " +
                   joinedPolicies());
  if (!parameter.has_base_lr() && name != "multifixed")
    throw badInput("solver: base_lr is not set");
  if (name == "step" || name == "exp" || name == "inv" || name == "multistep" ||
      name == "sigmoid" || name == "plateau")
    require(gamma >= 0, name, "gamma >= 0");
  if (name == "step" || name == "sigmoid")
    require(stepSize > 0, name, "stepsize > 0");

  if (name == "fixed") {
    policy = [=](int, LearningRateState &, double) { return base; };
  } else if (name == "step") {
    policy = [=](int iteration, LearningRateState &state, double) {
      state.step = iteration / stepSize;
      return base * std::pow(gamma, state.step);
    };
  } else if (name == "exp") {
    policy = [=](int iteration, LearningRateState &, double) {
      return base * std::pow(gamma, iteration);
    };
  } else if (name == "inv") {
    policy = [=](int iteration, LearningRateState &, double) {
      return base * std::pow(1 + gamma * iteration, -power);
    };
  } else if (name == "multistep") {
    policy = multistep(parameter);
  } else if (name == "poly") {
    const double maxIteration = parameter.max_iter();
    const double end = parameter.min_lr();
    require(maxIteration > 0, name, "max_iter > 0");
    policy = [=](int iteration, LearningRateState &, double) {
      return (base - end) * std::pow(1 - iteration / maxIteration, power) + end;
    };
  } else if (name == "sigmoid") {
    policy = [=](int iteration, LearningRateState &, double) {
      return base / (1 + std::exp(-gamma * (iteration - double(stepSize))));
    };
  } else if (name == "plateau") {
    policy = plateau(parameter);
    dependsOnLoss = true;
  } else if (name == "sgdr") {
    policy = sgdr(parameter);
  } else if (name == "multifixed") {
    policy = multifixed(parameter);
  } else {
    throw badInput("solver: unknown lr_policy '" + name + "'" +
                   didYouMean(name, learningRatePolicies()));
  }

  if (parameter.has_min_lr() && name != "sgdr")
    minimum = parameter.min_lr();
  const bool rampsUp = parameter.rampup_interval() > 0;
  warmupIterations =
      rampsUp ? parameter.rampup_interval() : parameter.warmup_iter();
  warmupStart = rampsUp ? parameter.rampup_lr() : parameter.warmup_start_lr();
}

double LearningRate::at(int iteration, LearningRateState &state,
                        double loss) const {
  const double rate =
      iteration < warmupIterations
          ? warmupStart + (base - warmupStart) * iteration / warmupIterations
          : policy(iteration, state, loss);
  return std::max(rate, minimum);
}

} // namespace brew::caffe

//===- Reinforcement.cpp - Bindings of reinforcement learning -------------===//
#include "TrainerBinding.h"

#include <brew/reinforcement.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using brew::python::SharedTrainer;

namespace {

/// An environment with the Python methods reset(seed, observation) and
/// step(action, observation) -> (reward, terminated, truncated), which write
/// the observation to the array. The caller owns the object, because Python's
/// garbage collector cannot traverse a learner.
class PythonEnvironment : public brew::api::Environment {
public:
  PythonEnvironment(nb::object environment, std::int64_t observations,
                    int actions, std::vector<float> lowest,
                    std::vector<float> highest)
      : object(std::move(environment)), observations(observations),
        actions(actions), lowest(std::move(lowest)),
        highest(std::move(highest)) {}
  ~PythonEnvironment() override {
    const nb::gil_scoped_acquire acquired;
    object.reset();
  }
  std::int64_t observationCount() const override { return observations; }
  int actionCount() const override { return actions; }
  std::vector<float> low() const override { return lowest; }
  std::vector<float> high() const override { return highest; }
  void reset(std::uint64_t seed, float *observation) override {
    const nb::gil_scoped_acquire acquired;
    object.attr("reset")(seed, arrayOf(observation));
  }
  brew::api::Outcome step(int action, float *observation) override {
    const nb::gil_scoped_acquire acquired;
    const nb::object outcome =
        object.attr("step")(action, arrayOf(observation));
    brew::api::Outcome result;
    result.reward = nb::cast<double>(outcome[0]);
    result.state = nb::cast<bool>(outcome[1])   ? BREW_EPISODE_TERMINATED
                   : nb::cast<bool>(outcome[2]) ? BREW_EPISODE_TRUNCATED
                                                : BREW_EPISODE_RUNNING;
    return result;
  }

private:
  /// Returns an array over `values`, which is valid only during the call.
  nb::object arrayOf(float *values) const {
    const std::size_t shape[] = {static_cast<std::size_t>(observations)};
    return nb::cast(
        nb::ndarray<nb::numpy, float>(values, 1, shape, nb::handle()),
        nb::rv_policy::reference);
  }

  nb::object object;
  std::int64_t observations;
  int actions;
  std::vector<float> lowest, highest;
};

/// A learner with its environments.
class SharedLearner {
public:
  SharedLearner(SharedTrainer &trainer, brew::api::LearnerOptions options,
                std::vector<std::unique_ptr<brew::api::Environment>> owned)
      : trainer(trainer), environments(std::move(owned)) {
    for (const auto &environment : environments)
      options.environments.push_back(environment.get());
    trainer.runExclusive([&](brew::api::Trainer &apiTrainer) {
      learner = std::make_unique<brew::api::Learner>(
          *trainer.owner().get(), apiTrainer, std::move(options));
    });
  }
  void train(std::int64_t episodes) {
    trainer.runExclusive(
        [&](brew::api::Trainer &) { learner->train(episodes); });
  }
  double evaluate(std::int64_t episodes) {
    return trainer.runExclusive(
        [&](brew::api::Trainer &) { return learner->evaluate(episodes); });
  }
  nb::dict progress() const {
    const brew_learning_progress current = learner->progress();
    nb::dict result;
    result["episodes"] = current.episodes;
    result["steps"] = current.steps;
    result["running_reward"] = current.running_reward;
    result["mean_reward"] = current.mean_reward;
    result["maximum_reward"] = current.maximum_reward;
    result["mean_entropy"] = current.mean_entropy;
    result["collapsed"] = bool(current.collapsed);
    return result;
  }

private:
  SharedTrainer &trainer;
  std::vector<std::unique_ptr<brew::api::Environment>> environments;
  /// Destroyed before the environments.
  std::unique_ptr<brew::api::Learner> learner;
};

brew::api::LearnerOptions learnerOptionsOf(const std::string &trainer,
                                           const std::string &properties,
                                           std::int64_t maxSteps) {
  brew::api::LearnerOptions options;
  options.trainer = trainer;
  options.properties = properties;
  options.maxSteps = maxSteps;
  return options;
}

/// Opens an environment by name or from (object, observations, actions, low,
/// high).
std::unique_ptr<brew::api::Environment>
environmentOf(const nb::object &description) {
  if (nb::isinstance<nb::str>(description))
    return std::make_unique<brew::api::BuiltInEnvironment>(
        nb::cast<std::string>(description));
  return std::make_unique<PythonEnvironment>(
      nb::object(description[0]), nb::cast<std::int64_t>(description[1]),
      nb::cast<int>(description[2]),
      nb::cast<std::vector<float>>(description[3]),
      nb::cast<std::vector<float>>(description[4]));
}

} // namespace

void brew::python::bindReinforcement(nb::module_ &module) {
  nb::class_<SharedLearner>(module, "Learner")
      .def(
          "__init__",
          [](SharedLearner *self, SharedTrainer &trainer,
             const nb::list &environments, const std::string &name,
             const std::string &properties, std::int64_t maxSteps,
             const nb::object &episode) {
            std::vector<std::unique_ptr<api::Environment>> owned;
            for (nb::handle description : environments)
              owned.push_back(environmentOf(nb::borrow(description)));
            api::LearnerOptions options =
                learnerOptionsOf(name, properties, maxSteps);
            if (!episode.is_none()) {
              // The shared pointer allows copies without the GIL.
              const std::shared_ptr<nb::object> callback(
                  new nb::object(episode), [](nb::object *function) {
                    const nb::gil_scoped_acquire acquired;
                    delete function;
                  });
              options.episode = [callback](int agent, double reward,
                                           std::int64_t steps,
                                           const brew_learning_progress &) {
                const nb::gil_scoped_acquire acquired;
                (*callback)(agent, reward, steps);
              };
            }
            new (self)
                SharedLearner(trainer, std::move(options), std::move(owned));
          },
          "trainer"_a, "environments"_a, "name"_a, "properties"_a,
          "max_steps"_a, "episode"_a.none(), nb::keep_alive<1, 2>())
      .def("train", &SharedLearner::train)
      .def("evaluate", &SharedLearner::evaluate)
      .def("progress", &SharedLearner::progress);
  module.def("environment_count", [](SharedTrainer &trainer,
                                     const std::string &name,
                                     const std::string &properties) {
    return trainer.runExclusive([&](api::Trainer &) {
      return api::Learner::environmentCount(
          *trainer.owner().get(), learnerOptionsOf(name, properties, 0));
    });
  });
}

//===- TrainCommand.cpp - brew-run train ----------------------------------===//

#include "Log.h"
#include "PageReport.h"
#include "RankLauncher.h"
#include "Reinforcement.h"
#include "Session.h"
#include "SignalActions.h"

#include "support/Caller.h"
#include "tools/monitor/RunMonitor.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace brew::run {
namespace {

/// Default of --comm-timeout, in seconds.
constexpr double kDefaultCommTimeout = 600;
constexpr char kTerminatedText[] = "Stopped by SIGTERM";

struct TrainOptions {
  PlanOptions plan;      ///< with the options of the trainer
  std::string monitorAt; ///< endpoint of the monitor; "": no monitor
  monitor::MonitorOptions monitor;
  int ranks = 0; ///< 0: as many as a launcher has started, else one
  int maxRestarts = 0;
  std::optional<double> commTimeout;
  ReinforcementOptions learning;
  std::string onInterrupt = "stop";
  std::string onHangUp = "snapshot";

  /// Returns whether a flag of the table is set and not false.
  bool isOn(const char *name) const { return plan.options.flag(name); }
};

void addMonitorOptions(CLI::App &command, TrainOptions &options) {
  const std::string group = "Monitor";
  command
      .add_flag(
          "--monitor{:6060}", options.monitorAt,
          "Serve a page that shows and controls the run at "
          "[HOST]:PORT (127.0.0.1:6060); the log names the file with its URL")
      ->group(group);
  CLI::Option *net =
      command
          .add_option(
              "--monitor-net", options.monitor.net,
              "Plan of the inference net that classifies drawings on the "
              "page")
          ->type_name("PLAN")
          ->group(group);
  command
      .add_option("--monitor-scale", options.monitor.scale,
                  "Factor of that net's pixels from 0 to 255")
      ->capture_default_str()
      ->needs(net)
      ->group(group);
}

/// The page of a run. It must exist before the trainer and be closed before the
/// trainer is destroyed.
class Page {
public:
  Page(const TrainOptions &options, Session &session) {
    if (options.monitorAt.empty()) {
      if (!options.monitor.net.empty())
        throw usage("--monitor-net needs --monitor");
      return;
    }
    const api::Communicator *ranks = options.plan.ranks;
    monitor::MonitorOptions monitorOptions = options.monitor;
    monitorOptions.endpoint =
        monitor::Endpoint::parse(options.monitorAt, "--monitor");
    if (ranks && ranks->rank())
      return;
    run = std::make_unique<monitor::RunMonitor>(
        session.plan, session, monitorOptions, ranks ? ranks->ranks() : 1);
    if (options.learning.isRequested(options.plan.options))
      run->expectReinforcement(options.learning.environment,
                               options.learning.episodes);
  }
  void open(api::Trainer &trainer) {
    if (run)
      reportPage(run->start(trainer));
  }
  void poll() {
    if (run)
      run->poll();
  }
  void close() { run.reset(); }
  monitor::RunMonitor *get() { return run.get(); }

private:
  std::unique_ptr<monitor::RunMonitor> run;
};

/// Trains in this process, which may be one of several ranks.
int trainInThisProcess(const TrainOptions &options, Session &session) {
  const api::Communicator *ranks = options.plan.ranks;
  const bool isRoot = !ranks || ranks->rank() == 0;
  const brew_solver_action onInterrupt =
      parseAction(options.onInterrupt, "--sigint-effect");
  const brew_solver_action onHangUp =
      parseAction(options.onHangUp, "--sighup-effect");
  auto info = [&](log::Site site, const std::string &text) {
    if (isRoot)
      log::info(site, text);
  };
  if (session.onGpu()) {
    const std::string number = std::to_string(session.gpu);
    std::string gpus;
    for (int gpu : gpuNumbers(options.plan.gpu))
      gpus += (gpus.empty() ? "" : ", ") + std::to_string(gpu);
    info(log::site::useGpus, "Using GPUs " + (gpus.empty() ? number : gpus));
    info(log::site::gpuName, "GPU " + number + ": " + session.device());
  } else {
    info(log::site::useCpu, "Use CPU.");
  }
  if (ranks)
    info(log::site::brew,
         "Training on " + std::to_string(ranks->ranks()) + " ranks");

  SignalActions signals(onInterrupt, onHangUp, ranks);
  Page page(options, session);
  api::Options trainerOptions = options.plan.options;
  if (options.learning.isRequested(options.plan.options))
    trainerOptions.set("learner");
  api::Trainer trainer(session, trainerOptions);
  struct PageCloser {
    Page &page;
    ~PageCloser() { page.close(); }
  } const pageCloser{page};
  trainer.setActionFunction([&signals, &page] {
    page.poll();
    return signals.takeRequest();
  });
  page.open(trainer);
  info(log::site::startOptimization, "Starting Optimization");
  if (options.learning.isRequested(options.plan.options))
    learn(options.learning, session, trainer, page.get());
  else
    trainer.solve();
  info(log::site::trainDone, "Optimization Done.");
  if (!signals.wasTerminated())
    return 0;
  info(log::site::brew, kTerminatedText);
  return statusOfSignal(SIGTERM);
}

/// Trains as one of several ranks. A failure of one rank aborts all ranks.
int trainAsRank(TrainOptions options) {
  api::Communicator ranks({options.commTimeout.value_or(kDefaultCommTimeout),
                           options.isOn("deterministic")});
  const std::string name = "rank " + std::to_string(ranks.rank()) + ": ";
  auto reportAndAbort = [&](brew_status status, const std::string &text) {
    brew_log_clear_status_line();
    const std::string message = messageForCaller(name + text);
    std::fprintf(stderr, "%serror: %s\n", messagePrefix("brew-run").c_str(),
                 message.c_str());
    log::fatal(message);
    std::fflush(stderr);
    ranks.abort(status);
  };
  // The session must outlive the handlers below: an all-reduce may still write
  // to its memory.
  std::unique_ptr<Session> session;
  try {
    if (options.ranks && options.ranks != ranks.ranks())
      throw usage("--ranks " + std::to_string(options.ranks) + ", but " +
                  std::to_string(ranks.ranks()) + " were started");
    options.plan.ranks = &ranks;
    session = std::make_unique<Session>(options.plan);
    const int status = trainInThisProcess(options, *session);
    ranks.close();
    return status;
  } catch (const Error &error) {
    if (!ranks.hasCollectiveError())
      reportAndAbort(error.status(), error.what());
    if (ranks.rank() == 0) {
      const std::string message = messageForCaller(error.what());
      std::fprintf(stderr, "%serror: %s\n", messagePrefix("brew-run").c_str(),
                   message.c_str());
      log::fatal(message);
    }
    ranks.close();
    return error.status();
  } catch (const std::bad_alloc &) {
    reportAndAbort(BREW_UNAVAILABLE, "out of memory");
  } catch (const std::exception &error) {
    reportAndAbort(BREW_BUG,
                   std::string("unexpected failure: ") + error.what());
  }
  return BREW_BUG; // reportAndAbort() does not return
}

/// Returns the number of ranks: one per GPU if -gpu names several GPUs, else
/// the value of --ranks (0 if not set).
int ranksOf(const TrainOptions &options) {
  const auto gpus = static_cast<int>(gpuNumbers(options.plan.gpu).size());
  if (gpus > 1 && options.ranks && options.ranks != gpus)
    throw usage("--ranks " + std::to_string(options.ranks) +
                ", but -gpu names " + std::to_string(gpus) +
                " GPUs: there must be one rank per GPU");
  return gpus > 1 ? gpus : options.ranks;
}

int train(const TrainOptions &options) {
  if (options.learning.isRequested(options.plan.options) &&
      (api::Communicator::isLaunched() || options.ranks > 1))
    throw usage("--ranks needs training on data; for several agents use "
                "--trainer PG.MT");
  if (options.learning.isRequested(options.plan.options) &&
      options.isOn("check-nan"))
    throw usage(
        "--check-nan needs training on data, without --env: a learner "
        "cannot repeat an iteration; it stops when the policy's outputs "
        "are not finite");
  if (api::Communicator::isLaunched())
    return trainAsRank(options);
  const int ranks = ranksOf(options);
  if (options.maxRestarts && ranks < 2)
    throw usage("--max-restarts needs --ranks 2 or more");
  if (options.maxRestarts && options.plan.options.isSet("earlier-snapshots"))
    throw usage("--max-restarts keeps a list of earlier snapshots itself: omit "
                "--earlier-snapshots");
  for (const auto &[name, isGiven] :
       {std::pair("--comm-timeout", options.commTimeout.has_value()),
        std::pair("--distributed-test", options.isOn("distributed-test")),
        std::pair("--shard-update", options.isOn("shard-update"))})
    if (isGiven && !ranks)
      throw usage(
          std::string(name) +
          " needs several ranks: add --ranks, or start them with mpirun");
  if (ranks > 1) {
    const LaunchResult result =
        launchRanks({ranks, options.maxRestarts,
                     parseAction(options.onInterrupt, "--sigint-effect"),
                     parseAction(options.onHangUp, "--sighup-effect")});
    if (!result.wasTerminated || result.status != 0)
      return result.status;
    log::info(log::site::brew, kTerminatedText);
    return statusOfSignal(SIGTERM);
  }
  Session session(options.plan);
  return trainInThisProcess(options, session);
}

} // namespace

void addTrain(CLI::App &app, Action &action) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App *command = app.add_subcommand(
      "train", "Train a net, from fillers, weights or a snapshot");
  addPlanOptions(*command, options->plan);
  command
      ->add_option("--sigint-effect", options->onInterrupt,
                   "Effect of SIGINT: stop, snapshot or none")
      ->type_name("EFFECT");
  command
      ->add_option("--sighup-effect", options->onHangUp,
                   "Effect of SIGHUP: stop, snapshot or none")
      ->type_name("EFFECT");
  addMonitorOptions(*command, *options);
  addReinforcementOptions(*command, options->learning);
  const std::string group = "Several ranks";
  command
      ->add_option("--ranks", options->ranks,
                   "Number of data-parallel processes on this machine, started "
                   "with mpirun")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  command
      ->add_option("--comm-timeout", options->commTimeout,
                   "Seconds that a rank waits for another one that neither "
                   "progresses nor responds (default: 600)")
      ->check(CLI::Range(0.1, 1e6))
      ->group(group);
  command
      ->add_option("--max-restarts", options->maxRestarts,
                   "With --ranks: maximum number of restarts from the last "
                   "snapshot after a rank fails or hangs")
      ->check(CLI::Range(0, 1000000))
      ->group(group);
  command->callback(
      [options, &action] { action = [options] { return train(*options); }; });
}

} // namespace brew::run

//===- main.cpp - brew-run ------------------------------------------------===//

#include "ArgumentNormalizer.h"
#include "Log.h"
#include "Session.h"
#include "SignalActions.h"

#include "support/Caller.h"
#include "support/Error.h"
#include "tools/common/CliCompletion.h"
#include "tools/common/CliErrors.h"
#include "tools/common/StandardStreams.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <unistd.h>

namespace {

int fail(brew_status status, const std::string &text) {
  brew_log_clear_status_line();
  const std::string message = brew::messageForCaller(text);
  std::fprintf(stderr, "%serror: %s\n", brew::messagePrefix("brew-run").c_str(),
               message.c_str());
  brew::run::log::fatal(message);
  return static_cast<int>(status);
}

int failUnexpectedly(const std::string &reason) {
  return fail(BREW_BUG,
              "unexpected failure: " + reason +
                  "\nThis is a bug in Brew. Please report it with this line, "
                  "the command, the prototxt and the output of 'brew-run "
                  "device-query' and 'brew-run --version'.");
}

/// Shortens the time that idle OpenMP threads poll. By libgomp's default they
/// poll for about 0.1 s before they sleep, which slows down steps many times if
/// other programs share the cores. On exclusive cores, the shorter time costs
/// nothing. libgomp reads the setting when it is loaded, so the process
/// restarts itself.
void limitPolling(char **argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT"))
    return;
  if (setenv("GOMP_SPINCOUNT", "10000", 1) == 0)
    execv("/proc/self/exe", argv);
  // A failure costs only speed.
}

/// Returns a hint if an unexpected argument is a solver state, or "".
std::string resumeHint(const CLI::App &app) {
  for (const std::string &argument : app.remaining(/*recurse=*/true))
    if (argument.find(".solverstate") != argument.npos)
      return "; resume from it with --snapshot " + argument;
  return "";
}

int run(const std::vector<std::string> &arguments) {
  CLI::App app("Runs plans that brewc compiled from Caffe nets.", "brew-run");
  app.require_subcommand(1);
  brew::run::Action action;
  brew::run::addTrain(app, action);
  brew::run::addTest(app, action);
  brew::run::addEval(app, action);
  brew::run::addInfer(app, action);
  brew::run::addFeatures(app, action);
  brew::run::addEmbed(app, action);
  brew::run::addTime(app, action);
  brew::run::addTune(app, action);
  brew::run::addInspect(app, action);
  brew::run::addMonitor(app, action);
  brew::run::addDeviceQuery(app, action);

  brew::tools::addVersionFlags(app, std::string("brew-run ") + brew_version());
  if (brew::tools::printCompletion(app, "brew-run", arguments))
    return 0;
  std::vector<std::string> reversed = brew::run::normalizeArguments(arguments);
  std::reverse(reversed.begin(), reversed.end()); // as CLI11 expects
  const std::string first = reversed.empty() ? "" : reversed.back();
  if (const std::string text = brew::tools::unknownCommandText(app, first);
      !text.empty())
    return fail(BREW_USAGE, text);
  if (first.size() > 1 && first[0] == '-' &&
      !app.get_option_no_throw(first.substr(0, first.find('='))))
    return fail(BREW_USAGE, "unknown option '" + first +
                                "' before a command (see brew-run --help)");
  try {
    app.parse(reversed);
  } catch (const CLI::Success &request) { // --help, --version
    return app.exit(request);
  } catch (const CLI::ExtrasError &) {
    return fail(BREW_USAGE, brew::tools::unexpectedText(app) + resumeHint(app));
  } catch (const CLI::ArgumentMismatch &error) {
    const std::string text = error.what();
    return fail(BREW_USAGE, text.rfind("--plan:", 0) == 0
                                ? "a command takes one plan, as an argument or "
                                  "as --plan, --solver or --model"
                                : text + " (see brew-run --help)");
  } catch (const CLI::ParseError &error) {
    return fail(BREW_USAGE,
                std::string(error.what()) + " (see brew-run --help)");
  } catch (const std::logic_error &) { // CLI11: no number
    const std::string text = brew::tools::flagWithValueText(app, arguments);
    if (text.empty())
      throw;
    return fail(BREW_USAGE, text);
  }
  const int status = action();
  if (!brew::tools::flushResults())
    return fail(BREW_UNAVAILABLE, "cannot write to standard output");
  return status;
}

} // namespace

int main(int argc, char **argv) {
  brew::tools::protectStandardStreams();
  if (brew::api::Communicator::isLaunched())
    brew::run::blockRankSignals();
  limitPolling(argv);
  // Report a file size limit as an error that names the file, as for a full
  // disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    brew::api::checkAbiVersion();
    return run({argv + 1, argv + argc});
  } catch (const brew::api::Error &error) {
    if (error.status() == BREW_BUG)
      return failUnexpectedly(error.what());
    return fail(error.status(), error.what());
  } catch (const brew::run::Interrupted &interrupted) {
    std::fprintf(stderr, "brew-run: interrupted; nothing was written\n");
    return interrupted.status;
  } catch (const brew::Error &error) { // a file could not be written
    return fail(static_cast<brew_status>(error.status()), error.what());
  } catch (const std::bad_alloc &) {
    return fail(BREW_UNAVAILABLE, "out of memory");
  } catch (const std::exception &error) {
    return failUnexpectedly(error.what());
  } catch (...) {
    return failUnexpectedly("unknown exception");
  }
}

//===- MonitorCommand.cpp - brew-run monitor ------------------------------===//

#include "Log.h"
#include "PageReport.h"
#include "Session.h"
#include "SignalActions.h"

#include "tools/monitor/MetricsFolder.h"

#include <chrono>
#include <memory>
#include <thread>

namespace brew::run {
namespace {

struct MonitorCommandOptions {
  std::string folder, listen = ":6060";
};

int monitorRuns(const MonitorCommandOptions &options) {
  const auto endpoint = monitor::Endpoint::parse(options.listen, "--listen");
  monitor::MetricsFolder site(options.folder);
  StopSignals signals;
  monitor::Server server(endpoint, site);
  reportPage(server);
  try {
    while (true) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      signals.check();
    }
  } catch (const Interrupted &) {
    return 0; // a signal is the regular end
  }
}

} // namespace

void addMonitor(CLI::App &app, Action &action) {
  auto options = std::make_shared<MonitorCommandOptions>();
  CLI::App *command = app.add_subcommand(
      "monitor", "Serve a page that compares runs by their --log-dir folders");
  command
      ->add_option("folder", options->folder,
                   "Folder with the runs' folders (metrics.jsonl)")
      ->type_name("FOLDER")
      ->required();
  command
      ->add_option("--listen", options->listen,
                   "Address of the page; PORT 0: any free port")
      ->type_name("[HOST]:PORT")
      ->capture_default_str();
  command->callback([options, &action] {
    action = [options] { return monitorRuns(*options); };
  });
}

} // namespace brew::run

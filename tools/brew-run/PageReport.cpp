//===- PageReport.cpp - Report of the monitor's address -------------------===//

#include "PageReport.h"

#include "Log.h"

#include <cstdio>
#include <unistd.h>

namespace brew::run {

void reportPage(const monitor::Server &server) {
  log::info(log::site::brew, "Monitor: " + server.address() +
                                 " (the URL with the token is in " +
                                 server.urlFile() + ")");
  if (!isatty(STDERR_FILENO))
    return;
  brew_log_clear_status_line();
  std::fprintf(stderr, "Open %s\n", server.url().c_str());
}

} // namespace brew::run

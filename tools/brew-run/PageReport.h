//===- PageReport.h - Report of the monitor's address -----------*- C++ -*-===//
#pragma once

#include "tools/monitor/Server.h"

namespace brew::run {

/// Logs the address of a page and the file that contains its URL. The URL
/// contains the token, so that only a terminal shows it and no log contains it.
void reportPage(const monitor::Server &server);

} // namespace brew::run

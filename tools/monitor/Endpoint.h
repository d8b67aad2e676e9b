//===- Endpoint.h - Address and port of the monitor -------------*- C++ -*-===//
#pragma once

#include <string>

namespace brew::monitor {

struct Endpoint {
  std::string host = "127.0.0.1";
  int port = 6060; ///< 0: any free port

  /// Parses `[HOST]:PORT`, `PORT` or `[IPV6]:PORT`. Throws Error (2) that names
  /// the option `flag`.
  static Endpoint parse(const std::string &text, const std::string &flag);
};

} // namespace brew::monitor

//===- Endpoint.h - Where a monitor listens ---------------------*- C++ -*-===//
#pragma once

#include <string>

namespace brew::monitor {

struct Endpoint {
  std::string host = "127.0.0.1";
  int port = 6060; ///< 0: any that is free

  /// Reads `[HOST]:PORT`, `PORT` or `[IPV6]:PORT`; throws Error (2) with the
  /// option `flag` in its words.
  static Endpoint parse(const std::string &text, const std::string &flag);
};

} // namespace brew::monitor

//===- Endpoint.cpp - Address and port of the monitor ---------------------===//

#include "tools/monitor/Endpoint.h"

#include "brew/brew.hpp"

#include <charconv>

namespace brew::monitor {

Endpoint Endpoint::parse(const std::string &text, const std::string &flag) {
  Endpoint endpoint;
  const std::size_t colon = text.rfind(':');
  std::string host = colon == text.npos ? "" : text.substr(0, colon);
  const std::string port = colon == text.npos ? text : text.substr(colon + 1);
  const bool isBracketed =
      host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (isBracketed)
    host = host.substr(1, host.size() - 2);
  const char *end = port.data() + port.size();
  const auto [stop, parseError] =
      std::from_chars(port.data(), end, endpoint.port);
  if (port.empty() || parseError != std::errc() || stop != end ||
      endpoint.port < 0 || endpoint.port > 65535 ||
      (!isBracketed && host.find(':') != host.npos))
    throw api::Error(BREW_USAGE, flag + ": '" + text +
                                     "' is not [HOST]:PORT with a port from 0 "
                                     "(any free port) to 65535");
  if (!host.empty())
    endpoint.host = host;
  return endpoint;
}

} // namespace brew::monitor

//===- Server.h - The monitor's page and its requests -----------*- C++ -*-===//
//
// Serves the page, answers its requests for JSON and streams events to it
// (Server-Sent Events). Whatever is behind the page is a RequestHandler.
//
//   GET  /                  the page; holds nothing of the run
//   GET  /api/events        the stream
//   GET  /api/NAME?...      RequestHandler::get
//   POST /api/NAME          RequestHandler::post, body and answer JSON
//
// All under /api needs the server's token in the header X-Brew-Token (the
// stream, for which pages cannot set headers, in its query); a request from a
// page of another origin is refused even so, as is a body of more than 64 KiB.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/monitor/Broadcast.h"
#include "tools/monitor/Endpoint.h"

#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace brew::monitor {

/// What a RequestHandler throws where a request cannot be answered: becomes the status
/// and
/// {"error": TEXT}. An api::Error becomes 400.
class HttpError : public std::runtime_error {
public:
  HttpError(int status, const std::string &text)
      : std::runtime_error(text), status(status) {}
  const int status;
};

/// What a page shows and does. Called from several threads at once.
class RequestHandler {
public:
  using Query = std::map<std::string, std::string>;

  virtual ~RequestHandler() = default;
  virtual nlohmann::json get(const std::string &name, const Query &query) = 0;
  virtual nlohmann::json post(const std::string &name,
                              const nlohmann::json &body) = 0;
  /// What the stream tells; null: there is none.
  virtual Broadcast *events() { return nullptr; }
};

class Server {
public:
  /// Begins to listen, on threads of its own. The handler outlives the server.
  /// Throws Error (3) if the endpoint cannot be listened on.
  Server(const Endpoint &endpoint, RequestHandler &handler);
  /// Ends all requests, those of the stream too.
  ~Server();
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;

  int port() const;
  const std::string &token() const;
  /// With the token, for a browser.
  std::string url() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace brew::monitor

//===- Server.h - HTTP server of the monitor --------------------*- C++ -*-===//
//
// Serves the page, answers its JSON requests and streams events to it
// (Server-Sent Events). A RequestHandler provides the content.
//
//   GET  /                  the page; contains no data of the run
//   GET  /api/events        the stream
//   GET  /api/NAME?...      RequestHandler::get
//   POST /api/NAME          RequestHandler::post; body and response are JSON
//
// All requests under /api need the server's token in the header X-Brew-Token;
// the stream, for which pages cannot set headers, takes the token in the query.
// Requests from pages of other origins are refused. BoundedServer.h limits what
// clients can make the server use.
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

/// The exception of a RequestHandler for a failed request. The response has the
/// status and the body {"error": TEXT}. An api::Error becomes status 400.
class HttpError : public std::runtime_error {
public:
  HttpError(int status, const std::string &text)
      : std::runtime_error(text), status(status) {}
  const int status;
};

/// The content and the controls of a page. Several threads call it
/// concurrently.
class RequestHandler {
public:
  using Query = std::map<std::string, std::string>;

  virtual ~RequestHandler() = default;
  virtual nlohmann::json get(const std::string &name, const Query &query) = 0;
  virtual nlohmann::json post(const std::string &name,
                              const nlohmann::json &body) = 0;
  /// Returns the messages of the stream; null: no stream.
  virtual Broadcast *events() { return nullptr; }
};

/// An HTTP server with its own threads.
class Server {
public:
  /// Starts to listen. The handler must outlive the server. Throws Error (3) if
  /// it cannot listen on the endpoint, write urlFile() or start its threads.
  Server(const Endpoint &endpoint, RequestHandler &handler);
  /// Closes all connections, after a second for open streams to read the end.
  ~Server();
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;

  int port() const;
  const std::string &token() const;
  /// Returns the page's address without the token, for logs.
  std::string address() const;
  /// Returns the URL for a browser, with the token. Do not log it: whoever
  /// reads it can control the run.
  std::string url() const;
  /// Returns the path of a file that contains url(). Only this user can read
  /// it; the destructor removes it.
  const std::string &urlFile() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace brew::monitor

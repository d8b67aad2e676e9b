//===- Server.cpp - HTTP server of the monitor ----------------------------===//

#include "tools/monitor/Server.h"

#include "tools/monitor/BoundedServer.h"
#include "tools/monitor/Page.h"
#include "tools/monitor/UrlFile.h"

#include "support/ThreadWithoutSignals.h"

#include <brew/brew.hpp>

#include <atomic>
#include <cstdlib>
#include <sys/random.h>
#include <thread>

namespace brew::monitor {
namespace {

using Json = nlohmann::json;

constexpr int kMaxStreams = 8;
/// Threads for streams and for other requests.
constexpr int kThreads = kMaxStreams + 6;

std::string makeToken() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw api::Error(BREW_UNAVAILABLE,
                     "--monitor: the system returned no random numbers");
  static const char digits[] = "0123456789abcdef";
  std::string token;
  for (unsigned char byte : bytes)
    token += {digits[byte >> 4], digits[byte & 15]};
  return token;
}

/// Compares without early exit, against timing attacks.
bool equalInConstantTime(const std::string &a, const std::string &b) {
  unsigned char difference = a.size() != b.size();
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return !difference;
}

void answer(httplib::Response &response, int status, const Json &json) {
  response.status = status;
  // Names of blobs may contain arbitrary bytes.
  response.set_content(
      json.dump(-1, ' ', false, Json::error_handler_t::replace),
      "application/json");
}

void refuse(httplib::Response &response, int status, const std::string &text) {
  answer(response, status, {{"error", text}});
}

/// Whether the browser declares that the request comes from another origin.
bool isForeign(const httplib::Request &request) {
  if (request.has_header("Origin") &&
      request.get_header_value("Origin") !=
          "http://" + request.get_header_value("Host"))
    return true;
  const std::string site = request.get_header_value("Sec-Fetch-Site");
  return site == "cross-site" || site == "same-site";
}

} // namespace

struct Server::State {
  State(Endpoint endpoint, RequestHandler &handler)
      : endpoint(std::move(endpoint)), handler(handler) {}

  /// Returns whether the request is allowed; otherwise responds with an error.
  bool checkAccess(const httplib::Request &request, httplib::Response &response,
                   const std::string &requestToken) const;
  template <typename Body>
  void respond(httplib::Response &response, Body &&body) const;
  void stream(const httplib::Request &request, httplib::Response &response);
  void addRoutes();

  Endpoint endpoint;
  RequestHandler &handler;
  std::string token = makeToken();
  std::atomic<bool> ended{false};
  std::atomic<int> streams{0};
  std::optional<UrlFile> urlFile;
  BoundedServer server{kThreads};
  std::thread thread;
};

bool Server::State::checkAccess(const httplib::Request &request,
                                httplib::Response &response,
                                const std::string &requestToken) const {
  if (isForeign(request))
    refuse(response, 403, "requests from pages of other origins are refused");
  else if (!equalInConstantTime(requestToken, token))
    refuse(response, 401,
           "the token is missing or wrong: open the URL in the file that the "
           "run's log names");
  else
    return true;
  return false;
}

template <typename Body>
void Server::State::respond(httplib::Response &response, Body &&body) const {
  try {
    answer(response, 200, body());
  } catch (const HttpError &refusal) {
    refuse(response, refusal.status, refusal.what());
  } catch (const api::Error &error) {
    refuse(response, 400, error.what());
  } catch (const Json::exception &error) { // a field of another type
    refuse(response, 400, error.what());
  } catch (const std::exception &error) {
    refuse(response, 500, error.what());
  }
}

void Server::State::stream(const httplib::Request &request,
                           httplib::Response &response) {
  Broadcast *events = handler.events();
  if (!events)
    return refuse(response, 404, "this page has no event stream");
  struct StreamSlot {
    StreamSlot(std::atomic<int> &count)
        : count(count), isGranted(++count <= kMaxStreams) {}
    ~StreamSlot() { --count; }
    std::atomic<int> &count;
    bool isGranted;
  };
  auto slot = std::make_shared<StreamSlot>(streams);
  if (!slot->isGranted)
    return refuse(response, 503, "too many pages are open");
  // Resume after the browser's last message, or start with the next one.
  const std::string last = request.get_header_value("Last-Event-ID");
  auto next = std::make_shared<std::uint64_t>(
      last.empty() ? events->next() : std::strtoull(last.c_str(), nullptr, 10));
  response.set_header("Cache-Control", "no-store");
  response.set_chunked_content_provider(
      "text/event-stream",
      [events, slot, next](std::size_t, httplib::DataSink &sink) {
        const Broadcast::Batch batch =
            events->wait(*next, std::chrono::milliseconds(500));
        *next = batch.next;
        std::string text = ": \n\n"; // a comment, to detect closed connections
        if (batch.missed)
          text +=
              "event: missed\ndata: " + std::to_string(batch.missed) + "\n\n";
        for (const std::string &message : batch.messages)
          text += "data: " + message + "\n\n";
        text += "id: " + std::to_string(batch.next) + "\n\n";
        if (batch.closed && batch.messages.empty()) {
          sink.done();
          return true;
        }
        return sink.write(text.data(), text.size());
      });
}

void Server::State::addRoutes() {
  server.set_pre_routing_handler(
      [](const httplib::Request &request, httplib::Response &response) {
        const auto refusal = BoundedServer::refusalOf(request);
        if (!refusal)
          return httplib::Server::HandlerResponse::Unhandled;
        refuse(response, refusal->status, refusal->text);
        return httplib::Server::HandlerResponse::Handled;
      });
  server.set_default_headers(
      {{"X-Content-Type-Options", "nosniff"},
       {"X-Frame-Options", "DENY"},
       {"Referrer-Policy", "no-referrer"}, // the URL contains the token
       {"Cross-Origin-Resource-Policy", "same-origin"}});

  server.Get("/", [](const httplib::Request &, httplib::Response &response) {
    response.set_header(
        "Content-Security-Policy",
        "default-src 'none'; connect-src 'self'; img-src data:; "
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'");
    response.set_header("Cache-Control", "no-store");
    response.set_content(kPage, "text/html; charset=utf-8");
  });
  server.Get("/api/events", [this](const httplib::Request &request,
                                   httplib::Response &response) {
    if (checkAccess(request, response, request.get_param_value("token")))
      stream(request, response);
  });
  server.Get("/api/([a-z]+)", [this](const httplib::Request &request,
                                     httplib::Response &response) {
    if (!checkAccess(request, response,
                     request.get_header_value("X-Brew-Token")))
      return;
    const RequestHandler::Query query(request.params.begin(),
                                      request.params.end());
    response.set_header("Cache-Control", "no-store");
    respond(response, [&] { return handler.get(request.matches[1], query); });
  });
  server.Post("/api/([a-z]+)", [this](const httplib::Request &request,
                                      httplib::Response &response) {
    if (!checkAccess(request, response,
                     request.get_header_value("X-Brew-Token")))
      return;
    respond(response, [&] {
      const Json body = Json::parse(request.body, nullptr, false);
      if (!body.is_object())
        throw HttpError(400, "the body is not a JSON object");
      return handler.post(request.matches[1], body);
    });
  });
  server.set_error_handler(
      [](const httplib::Request &, httplib::Response &response) {
        if (response.body.empty())
          refuse(response, response.status,
                 response.status == 404
                     ? "there is no such page"
                     : "the request is malformed or its headers are too long");
      });
}

Server::Server(const Endpoint &endpoint, RequestHandler &handler)
    : state(std::make_unique<State>(endpoint, handler)) {
  state->addRoutes();
  Endpoint &bound = state->endpoint;
  const std::string address = bound.host + ":" + std::to_string(bound.port);
  // The library's default allows two servers on one port, which would
  // share its requests.
  state->server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  if (bound.port)
    bound.port =
        state->server.bind_to_port(bound.host, bound.port) ? bound.port : -1;
  else
    bound.port = state->server.bind_to_any_port(bound.host);
  if (bound.port < 0)
    throw api::Error(BREW_UNAVAILABLE,
                     "cannot listen on " + address +
                         ": the port is in use, or the address does not belong "
                         "to this machine; choose another [HOST]:PORT");
  state->urlFile.emplace(url());
  state->thread = startThreadWithoutSignals([this] {
    try {
      state->server.listen_after_bind();
    } catch (const std::exception &) {
      // Without memory the page ends, and the run goes on.
    }
    state->ended = true;
  });
}

Server::~Server() {
  // Let pages receive the end of the run: streams close once they have sent all
  // messages. Do not wait longer for slow readers.
  if (Broadcast *events = state->handler.events())
    events->close();
  for (int i = 0; i < 100 && state->streams; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  // stop() has no effect before the server has begun to listen.
  while (!state->server.is_running() && !state->ended)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  state->server.endConnections();
  state->server.stop();
  state->thread.join();
}

int Server::port() const { return state->endpoint.port; }
const std::string &Server::token() const { return state->token; }

std::string Server::url() const { return address() + "?token=" + token(); }

const std::string &Server::urlFile() const { return state->urlFile->path(); }

std::string Server::address() const {
  const std::string &host = state->endpoint.host;
  // A browser cannot open a wildcard address.
  const bool isWildcard = host == "0.0.0.0" || host == "::";
  const std::string browserHost = isWildcard ? "localhost"
                                  : host.find(':') != host.npos
                                      ? "[" + host + "]"
                                      : host;
  return "http://" + browserHost + ":" + std::to_string(port()) + "/";
}

} // namespace brew::monitor

//===- BoundedServer.cpp - HTTP server with limits ------------------------===//

#include "tools/monitor/BoundedServer.h"

#include "tools/monitor/BoundedStream.h"

#include "support/ThreadWithoutSignals.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace brew::monitor {
namespace {

using namespace std::chrono_literals;

/// Maximum number of open connections; fewer if the process may open few files.
constexpr std::size_t kMaxConnections = 32;
constexpr rlim_t kFilesPerConnection = 8;
/// File descriptors that connections leave to the run, for its snapshots.
constexpr rlim_t kSpareFiles = 32;
constexpr std::size_t kMaxPathBytes = 1 << 10;
constexpr int kRequestsPerConnection = 100;
constexpr std::chrono::milliseconds kIdleTime = 2s;
/// Pause after a refused connection. Further clients wait in the system's
/// queue, so that they cannot occupy a core.
constexpr std::chrono::milliseconds kRefusalPause = 10ms;

/// Whether the current task must close its connection without serving it.
thread_local bool isRefusing = false;

rlim_t maxFiles() {
  rlimit limit;
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

std::size_t maxConnections() {
  return static_cast<std::size_t>(
      std::clamp<rlim_t>(maxFiles() / kFilesPerConnection, 2, kMaxConnections));
}

/// Whether many file descriptors are free. The system assigns the lowest one.
bool hasSpareFiles() {
  const int lowest = ::fcntl(0, F_DUPFD_CLOEXEC, 0);
  if (lowest < 0)
    return errno == EBADF; // standard input is closed
  ::close(lowest);
  return static_cast<rlim_t>(lowest) + std::min(kSpareFiles, maxFiles() / 4) <
         maxFiles();
}

/// Returns the value of Content-Length; nullopt if it is missing or invalid.
std::optional<std::size_t> bodyBytes(const httplib::Request &request) {
  const std::string text = request.get_header_value("Content-Length");
  if (text.empty() || text.size() > 18 ||
      !std::all_of(text.begin(), text.end(),
                   [](unsigned char c) { return std::isdigit(c); }))
    return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

// The parameters of Server::process_request() depend on the version of the
// library.
using Setup = std::function<void(httplib::Request &)>;
using Process = bool (httplib::Server::*)(httplib::Stream &, bool, bool &,
                                          const Setup &);
using ProcessWithAddresses = bool (httplib::Server::*)(httplib::Stream &,
                                                       const std::string &, int,
                                                       const std::string &, int,
                                                       bool, bool &,
                                                       const Setup &);
using ProcessWithUpgrade = bool (httplib::Server::*)(httplib::Stream &,
                                                     const std::string &, int,
                                                     const std::string &, int,
                                                     bool, bool &,
                                                     const Setup &, bool *);

[[maybe_unused]] bool processRequest(httplib::Server &server, Process process,
                                     BoundedStream &stream, bool isLast,
                                     bool &closed, const Setup &setup) {
  return (server.*process)(stream, isLast, closed, setup);
}
[[maybe_unused]] bool processRequest(httplib::Server &server,
                                     ProcessWithAddresses process,
                                     BoundedStream &stream, bool isLast,
                                     bool &closed, const Setup &setup) {
  return (server.*process)(stream, "", 0, "", 0, isLast, closed, setup);
}
[[maybe_unused]] bool processRequest(httplib::Server &server,
                                     ProcessWithUpgrade process,
                                     BoundedStream &stream, bool isLast,
                                     bool &closed, const Setup &setup) {
  bool upgraded = false;
  return (server.*process)(stream, "", 0, "", 0, isLast, closed, setup,
                           &upgraded);
}

} // namespace

/// Passes accepted connections to the server's threads, which outlive it.
class BoundedServer::Queue final : public httplib::TaskQueue {
public:
  explicit Queue(BoundedServer &owner) : server(owner) {}
  // Newer versions of the library return whether the task was queued.
  using Result = decltype(std::declval<httplib::TaskQueue &>().enqueue({}));
  Result enqueue(Task task) override {
    server.refuseOrQueue(std::move(task));
    return Result(true);
  }
  void shutdown() override {}

private:
  BoundedServer &server;
};

BoundedServer::BoundedServer(int threads) {
  new_task_queue = [this] { return new Queue(*this); };
  set_payload_max_length(kMaxBodyBytes);
  try {
    // push_back() must not fail with a running thread.
    workers.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i)
      workers.push_back(startThreadWithoutSignals([this] { work(); }));
  } catch (...) {
    joinWorkers();
    throw;
  }
}

BoundedServer::~BoundedServer() {
  endConnections();
  joinWorkers();
}

void BoundedServer::joinWorkers() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  for (std::thread &worker : workers)
    worker.join();
  workers.clear();
}

void BoundedServer::endConnections() {
  ended = true;
  std::lock_guard<std::mutex> lock(mutex);
  for (const socket_t socket : sockets)
    ::shutdown(socket, SHUT_RDWR);
}

std::optional<BoundedServer::Refusal>
BoundedServer::refusalOf(const httplib::Request &request) {
  const bool hasLength = request.has_header("Content-Length");
  const std::optional<std::size_t> length = bodyBytes(request);
  if (request.method != "GET" && request.method != "HEAD" &&
      request.method != "POST")
    return Refusal{405, "the method is not GET, HEAD or POST"};
  if (request.path.size() > kMaxPathBytes)
    return Refusal{414, "the path is longer than 1 KiB"};
  if (request.has_header("Transfer-Encoding") ||
      (request.method == "POST" && !hasLength))
    return Refusal{411, "the request has no Content-Length"};
  if (hasLength &&
      (!length || request.get_header_value_count("Content-Length") > 1))
    return Refusal{400, "Content-Length is invalid"};
  if (length.value_or(0) > kMaxBodyBytes)
    return Refusal{413, "the request is larger than 64 KiB"};
  if (request.has_header("Content-Encoding") ||
      request.is_multipart_form_data())
    return Refusal{415, "the body is compressed or has several parts"};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

/// Whether another connection may be opened. Requires the lock.
bool BoundedServer::mayAccept() const {
  return !ended && !stopping && unfinished < maxConnections() &&
         hasSpareFiles();
}

/// Called by the thread that accepts connections. `task` serves one and closes
/// it.
void BoundedServer::refuseOrQueue(Task task) {
  try {
    std::lock_guard<std::mutex> lock(mutex);
    if (mayAccept()) {
      queue.push_back(task);
      ++unfinished;
      changed.notify_one();
      return;
    }
  } catch (const std::bad_alloc &) {
    // Close the connection.
  }
  isRefusing = true;
  task();
  isRefusing = false;
  std::this_thread::sleep_for(kRefusalPause);
}

void BoundedServer::work() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return stopping || !queue.empty(); });
    if (queue.empty())
      return;
    {
      const Task task = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      task();
    }
    lock.lock();
    --unfinished;
  }
}

bool BoundedServer::process_and_close_socket(socket_t socket) {
  bool isServed = false;
  // No failure of a connection may end the run.
  try {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (!isRefusing && !ended)
        isServed = sockets.insert(socket).second;
    }
    if (isServed)
      isServed = serve(socket);
  } catch (...) {
    isServed = false;
  }
  std::lock_guard<std::mutex> lock(mutex);
  sockets.erase(socket);
  ::close(socket);
  return isServed;
}

bool BoundedServer::serve(socket_t socket) {
  BoundedStream stream(socket);
  for (int i = kRequestsPerConnection;
       i && stream.waitForRequest(kIdleTime, kMaxHeaderBytes) && !ended; --i) {
    bool isClosed = false, isRefused = false;
    const bool isProcessed = processRequest(
        *this, &BoundedServer::process_request, stream, /*isLast=*/i == 1,
        isClosed, [&](httplib::Request &request) {
          isRefused = refusalOf(request).has_value();
          if (!isRefused)
            return stream.allow(bodyBytes(request).value_or(0));
          request.headers.erase("Connection");
          request.set_header("Connection", "close");
        });
    if (!isProcessed || isRefused)
      stream.finish();
    if (!isProcessed || isRefused || isClosed)
      return isProcessed;
  }
  return true;
}

} // namespace brew::monitor

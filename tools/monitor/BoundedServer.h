//===- BoundedServer.h - HTTP server with limits ----------------*- C++ -*-===//
//
// cpp-httplib limits neither the headers of a request, nor a body without a
// length, nor the number of connections. A page must not cost the run memory,
// threads or file descriptors, whatever clients send, so this class sets the
// limits below the library: it reads and writes the sockets.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <httplib.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace brew::monitor {

/// An HTTP server whose clients share a fixed number of threads, connections
/// and bytes. It serves GET, HEAD and POST, and ignores Range headers.
class BoundedServer : public httplib::Server {
public:
  static constexpr std::size_t kMaxHeaderBytes = 16 << 10; ///< of a request
  static constexpr std::size_t kMaxBodyBytes = 64 << 10;   ///< of a request

  /// Starts `threads` threads, each of which serves one connection at a time.
  /// Throws Error (3) if the system cannot create them.
  explicit BoundedServer(int threads);
  ~BoundedServer() override;

  struct Refusal {
    int status; ///< of HTTP
    std::string text;
  };
  /// Returns why a request is refused before its body is read; nullopt if it is
  /// served.
  static std::optional<Refusal> refusalOf(const httplib::Request &request);

  /// Closes all connections, now and from now on. Thread-safe.
  void endConnections();

private:
  class Queue;
  using Task = std::function<void()>;

  bool process_and_close_socket(socket_t socket) override;
  bool serve(socket_t socket);
  void refuseOrQueue(Task task);
  bool mayAccept() const;
  void work();
  void joinWorkers();

  std::atomic<bool> ended{false};
  std::mutex mutex; ///< guards the members below
  std::condition_variable changed;
  std::deque<Task> queue;     ///< connections that wait for a thread
  std::size_t unfinished = 0; ///< connections that wait or are served
  std::set<socket_t> sockets; ///< of the connections that are served
  bool stopping = false;
  std::vector<std::thread> workers;
};

} // namespace brew::monitor

//===- BoundedStream.h - Connection of an HTTP client -----------*- C++ -*-===//
#pragma once

#include <httplib.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace brew::monitor {

/// Reads the requests of a connection and writes the responses, within limits
/// on the bytes of a request and on the time that the server waits for the
/// client. Does not own the socket.
class BoundedStream final : public httplib::Stream {
public:
  explicit BoundedStream(socket_t socket) : descriptor(socket) {}

  /// Waits for the first byte of a request, at most for `timeout`. Returns
  /// whether there is one. Renews the limits; a request has at most `bytes`
  /// bytes. Reads its headers and removes Range headers: the library parses
  /// them with recursion that needs megabytes, and several ranges multiply the
  /// size of a response. Discards headers that do not end within the limits.
  bool waitForRequest(std::chrono::milliseconds timeout, std::size_t bytes);
  /// Allows the request `bytes` more bytes.
  void allow(std::size_t bytes) { bytesLeft += bytes; }
  /// Ends the response, then discards what the client still sends, for a short
  /// time: closing a socket with unread bytes can discard the response.
  void finish();

  // The functions that the versions of the library require differ, so none is
  // marked as override.
  bool is_readable() const;
  bool wait_readable() const { return is_readable(); }
  bool is_writable() const;
  bool wait_writable() const { return is_writable(); }
  ssize_t read(char *data, std::size_t size);
  ssize_t write(const char *data, std::size_t size);
  void get_remote_ip_and_port(std::string &ip, int &port) const;
  void get_local_ip_and_port(std::string &ip, int &port) const;
  socket_t socket() const { return descriptor; }
  time_t duration() const { return 0; }

private:
  using Milliseconds = std::chrono::milliseconds;
  bool wait(short event, Milliseconds &left) const;
  ssize_t receive();
  void readHeaders();

  const socket_t descriptor;
  std::size_t bytesLeft = 0;
  /// Time that the server may still wait for the client.
  mutable Milliseconds readTimeLeft{0}, writeTimeLeft{0};
  std::string buffer;       ///< received bytes
  std::size_t position = 0; ///< of the first one that is not read yet
};

} // namespace brew::monitor

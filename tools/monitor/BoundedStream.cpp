//===- BoundedStream.cpp - Connection of an HTTP client -------------------===//

#include "tools/monitor/BoundedStream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <utility>

namespace brew::monitor {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// Limits of the total time that the server waits for the client during a
/// request and during a response. An event stream waits only if its client
/// reads slowly.
constexpr milliseconds kReadTime(5000), kWriteTime(30000);
/// Limits of what finish() discards.
constexpr milliseconds kDiscardTime(500);
constexpr int kDiscardedBuffers = 64;
constexpr char kHeaderEnd[] = "\r\n\r\n", kRange[] = "range:";

} // namespace

/// Waits for an event of the socket, at most for `left`, and subtracts the
/// time. Returns whether it happened.
bool BoundedStream::wait(short event, Milliseconds &left) const {
  pollfd entry = {descriptor, event, 0};
  int result = ::poll(&entry, 1, 0);
  if (result == 0 && left.count() > 0) {
    const Clock::time_point begin = Clock::now();
    result = ::poll(&entry, 1, static_cast<int>(left.count()));
    // Count at least a millisecond, so that many short waits also end.
    left -= std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(
                                          Clock::now() - begin));
  }
  return result > 0 && (entry.revents & event);
}

/// Appends what the client has sent to the buffer. Returns the number of bytes,
/// 0 at the end of the connection, or -1.
ssize_t BoundedStream::receive() {
  char bytes[4096];
  const ssize_t count = ::recv(descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count > 0)
    buffer.append(bytes, static_cast<std::size_t>(count));
  return count;
}

bool BoundedStream::waitForRequest(milliseconds timeout, std::size_t bytes) {
  bytesLeft = bytes;
  readTimeLeft = kReadTime;
  writeTimeLeft = kWriteTime;
  buffer.erase(0, std::exchange(position, 0));
  if (buffer.empty() && !wait(POLLIN, timeout))
    return false;
  readHeaders();
  return true;
}

void BoundedStream::readHeaders() {
  std::size_t end;
  while ((end = buffer.find(kHeaderEnd)) == buffer.npos &&
         buffer.size() < bytesLeft && wait(POLLIN, readTimeLeft) &&
         receive() > 0)
    ;
  if (end == buffer.npos) {
    // The rest could contain Range headers. The library reads only the request
    // line and responds that the request is invalid.
    buffer.resize(buffer.find('\n') + 1); // npos + 1 == 0
    bytesLeft = buffer.size();
    return;
  }
  for (std::size_t line = buffer.find('\n'); line < end;
       line = buffer.find('\n', line + 1)) {
    while (::strncasecmp(buffer.c_str() + line + 1, kRange,
                         sizeof kRange - 1) == 0) {
      const std::size_t next = buffer.find('\n', line + 1);
      const std::size_t count = std::min(next, buffer.size() - 1) - line;
      buffer.erase(line + 1, count);
      end -= std::min(end, count);
    }
  }
}

void BoundedStream::finish() {
  ::shutdown(descriptor, SHUT_WR);
  milliseconds left = kDiscardTime;
  for (int i = 0; i < kDiscardedBuffers && wait(POLLIN, left); ++i) {
    buffer.clear();
    if (receive() <= 0)
      return;
  }
}

bool BoundedStream::is_readable() const {
  return !buffer.empty() || wait(POLLIN, readTimeLeft);
}

bool BoundedStream::is_writable() const {
  if (!wait(POLLOUT, writeTimeLeft))
    return false;
  char next;
  const ssize_t peeked = ::recv(descriptor, &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return peeked > 0 ||
         (peeked < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

ssize_t BoundedStream::read(char *data, std::size_t size) {
  if (size == 0)
    return 0;
  if (bytesLeft == 0)
    return -1;
  if (buffer.empty()) {
    if (!is_readable())
      return -1;
    if (const ssize_t received = receive(); received <= 0)
      return received;
  }
  const std::size_t count =
      std::min({size, buffer.size() - position, bytesLeft});
  std::memcpy(data, buffer.data() + position, count);
  position += count;
  bytesLeft -= count;
  if (position == buffer.size()) {
    buffer.clear();
    position = 0;
  }
  return static_cast<ssize_t>(count);
}

ssize_t BoundedStream::write(const char *data, std::size_t size) {
  if (!wait(POLLOUT, writeTimeLeft))
    return -1;
  const ssize_t sent =
      ::send(descriptor, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
             ? 0
             : sent;
}

// No response depends on addresses.
void BoundedStream::get_remote_ip_and_port(std::string &ip, int &port) const {
  ip.clear();
  port = 0;
}

void BoundedStream::get_local_ip_and_port(std::string &ip, int &port) const {
  ip.clear();
  port = 0;
}

} // namespace brew::monitor

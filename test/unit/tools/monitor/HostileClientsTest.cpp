//===- HostileClientsTest.cpp - Limits of the monitor's server ------------===//
#include "tools/monitor/BoundedServer.h"
#include "tools/monitor/Server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace brew::monitor;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

class EmptyHandler : public RequestHandler {
public:
  Json get(const std::string &, const Query &) override {
    return Json::object();
  }
  Json post(const std::string &, const Json &) override {
    return Json::object();
  }
  Broadcast *events() override { return &broadcast; }
  Broadcast broadcast{4};
};

/// A TCP connection to a port of this machine.
class Connection {
public:
  explicit Connection(int port) : fd(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(
        connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
  }
  Connection(Connection &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  ~Connection() {
    if (fd >= 0)
      close(fd);
  }

  /// Returns whether the server accepted all bytes.
  bool send(const std::string &bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t count =
          ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0)
        return false;
      sent += static_cast<std::size_t>(count);
    }
    return true;
  }
  /// Returns all bytes until the server closes the connection or sends nothing
  /// for `seconds`.
  std::string receive(int seconds = 10) {
    std::string received;
    char buffer[65536];
    pollfd entry = {fd, POLLIN, 0};
    while (::poll(&entry, 1, seconds * 1000) > 0) {
      const ssize_t count = ::recv(fd, buffer, sizeof buffer, 0);
      if (count <= 0) {
        isClosed = true;
        break;
      }
      received.append(buffer, static_cast<std::size_t>(count));
    }
    return received;
  }

  int fd;
  bool isClosed = false; ///< by the server, as receive() saw
};

class HostileClients : public testing::Test {
protected:
  static Endpoint anyPort() {
    Endpoint endpoint;
    endpoint.port = 0;
    return endpoint;
  }
  std::string head(const std::string &line) const {
    return line + " HTTP/1.1\r\nHost: x\r\nX-Brew-Token: " + server->token() +
           "\r\n";
  }
  std::string answerTo(const std::string &request) {
    Connection connection(server->port());
    connection.send(request);
    return connection.receive();
  }
  /// Returns the status of the response to a request; 0: no response.
  int statusOf(const std::string &request) {
    const std::string answer = answerTo(request);
    return answer.rfind("HTTP/1.1 ", 0) == 0 ? std::atoi(answer.c_str() + 9)
                                             : 0;
  }
  void expectService() {
    EXPECT_EQ(statusOf(head("GET /api/state") + "Connection: close\r\n\r\n"),
              200);
  }

  EmptyHandler handler;
  std::unique_ptr<Server> server = std::make_unique<Server>(anyPort(), handler);
};

} // namespace

TEST_F(HostileClients, BodiesNeedALength) {
  const std::string post = head("POST /api/set");
  EXPECT_EQ(statusOf(post + "\r\n{}"), 411);
  EXPECT_EQ(statusOf(post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"),
            411);
  EXPECT_EQ(statusOf(post + "Content-Length: -1\r\n\r\n{}"), 400);
  EXPECT_EQ(statusOf(post + "Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}"),
            400);
  EXPECT_EQ(statusOf(post + "Content-Length: 65537\r\n\r\n"), 413);
  EXPECT_EQ(statusOf(post + "Content-Length: 99999999999999\r\n\r\n"), 413);
  EXPECT_EQ(statusOf(post + "Content-Length: 2\r\nContent-Encoding: gzip"
                            "\r\n\r\n{}"),
            415);
  EXPECT_EQ(statusOf(post + "Content-Length: 2\r\nContent-Type: "
                            "multipart/form-data; boundary=x\r\n\r\n{}"),
            415);
  EXPECT_EQ(statusOf(head("PUT /api/set") + "Content-Length: 2\r\n\r\n{}"),
            405);
  EXPECT_EQ(statusOf(head("GET /api/" + std::string(2000, 'a')) + "\r\n"), 414);
  EXPECT_EQ(statusOf(post + "Content-Length: 2\r\nConnection: close\r\n\r\n{}"),
            200);
}

TEST_F(HostileClients, TheServerStopsToReadLongRequests) {
  for (const std::string &start :
       {std::string("GET /"), std::string("GET / HTTP/1.1\r\n"),
        head("POST /api/set") + "\r\n",
        head("POST /api/set") + "Transfer-Encoding: chunked\r\n\r\n"}) {
    Connection connection(server->port());
    connection.send(start);
    const std::string line = "a: b\r\n";
    std::string lines;
    while (lines.size() < 1 << 20)
      lines += start == "GET /" ? "aaaaaaaa" : line;
    int megabytes = 0;
    while (megabytes < 64 && connection.send(lines))
      ++megabytes;
    EXPECT_LT(megabytes, 64) << start;
  }
  expectService();
}

TEST_F(HostileClients, RangesDoNotMultiplyTheResponse) {
  std::string ranges = "Range: bytes=0-";
  for (int i = 0; i < 1200; ++i)
    ranges += ",0-99999";
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close"
                              "\r\n";
  const std::string page = answerTo(request + "\r\n");
  const std::string answer = answerTo(request + ranges + "\r\n\r\n");
  EXPECT_LE(answer.size(), page.size());
  EXPECT_EQ(answerTo(request + "Range: bytes=0-9,5-20\r\n\r\n").size(),
            page.size());
  // The end of the headers is beyond the limit, or comes too late.
  const std::string tooLong = request + "Range: " + std::string(17000, 'a') +
                              "\r\n" + ranges + "\r\n\r\n";
  EXPECT_LE(answerTo(tooLong).size(), page.size());
  Connection slow(server->port());
  slow.send(request);
  std::this_thread::sleep_for(std::chrono::seconds(6));
  slow.send(ranges + "\r\n\r\n");
  EXPECT_LE(slow.receive().size(), page.size());
}

TEST_F(HostileClients, ConnectionsAreLimited) {
  std::vector<Connection> connections;
  for (int i = 0; i < 100; ++i) {
    connections.emplace_back(server->port());
    connections.back().send("GET /"); // the rest never arrives
  }
  // Refused connections are closed without a response. Those that wait for a
  // thread stay open.
  int refused = 0;
  for (int round = 0; round < 100 && refused < 100 - 32; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    refused = 0;
    for (const Connection &connection : connections) {
      pollfd entry = {connection.fd, POLLIN, 0};
      refused += ::poll(&entry, 1, 0) > 0;
    }
  }
  EXPECT_GE(refused, 100 - 32);
  connections.clear();
  expectService();
}

TEST_F(HostileClients, ConnectionsLeaveDescriptorsForTheRun) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<Connection> connections;
  for (int i = 0; i < 20; ++i)
    connections.emplace_back(server->port());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const int lowest = dup(0);
  close(lowest);
  rlimit limit = before;
  limit.rlim_cur = static_cast<rlim_t>(lowest) + 8;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  // A quarter of the descriptors must stay free, so this client is refused.
  Connection late(server->port());
  late.send(head("GET /api/state") + "\r\n");
  EXPECT_EQ(late.receive(5), "");
  EXPECT_TRUE(late.isClosed);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  connections.clear();
  expectService();
}

TEST_F(HostileClients, SlowRequestsEnd) {
  Connection connection(server->port());
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < std::chrono::seconds(20) &&
         connection.send("a"))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(15));
}

TEST_F(HostileClients, TheEndDoesNotWaitForClients) {
  std::vector<Connection> connections;
  for (int i = 0; i < 30; ++i) {
    connections.emplace_back(server->port());
    connections.back().send(i % 3 == 0 ? ""
                            : i % 3 == 1
                                ? "GET / HTTP/1.1\r\n"
                                : "GET /api/events?token=" + server->token() +
                                      " HTTP/1.1\r\nHost: x\r\n\r\n");
    if (i % 2)
      ::shutdown(connections.back().fd, SHUT_WR);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const Clock::time_point begin = Clock::now();
  server.reset();
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(2500));
}

TEST_F(HostileClients, OnlyTheUserReadsTheUrl) {
  const std::string path = server->urlFile();
  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  std::string url;
  std::getline(std::ifstream(path), url);
  EXPECT_EQ(url, server->url());
  EXPECT_EQ(server->address().find(server->token()), std::string::npos);
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

//===- ServerTest.cpp - The monitor's requests ----------------------------===//
#include "tools/monitor/Server.h"

#include <brew/brew.hpp>

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <random>
#include <thread>

using namespace brew::monitor;
using Json = nlohmann::json;

namespace {

class CountingHandler : public RequestHandler {
public:
  Json get(const std::string &name, const Query &query) override {
    if (name == "state")
      return {{"net", "bytes \xff"}, {"parameters", query.size()}};
    throw HttpError(404, "there is no '" + name + "'");
  }
  Json post(const std::string &name, const Json &body) override {
    if (name == "set")
      body.at("name").get<std::string>();
    if (name == "bad")
      throw brew::api::Error(BREW_USAGE, "no such field");
    ++changes;
    return Json::object();
  }
  Broadcast *events() override { return &broadcast; }

  std::atomic<int> changes{0};
  Broadcast broadcast{4};
};

class MonitorServer : public testing::Test {
protected:
  Endpoint anyPort() {
    Endpoint endpoint;
    endpoint.port = 0;
    return endpoint;
  }
  httplib::Headers tokenHeader(const std::string &token) {
    return {{"X-Brew-Token", token}};
  }
  int post(const std::string &path, const std::string &body,
           const httplib::Headers &headers) {
    const auto result =
        client.Post(path.c_str(), headers, body, "application/json");
    return result ? result->status : -1;
  }

  CountingHandler handler;
  Server server{anyPort(), handler};
  httplib::Client client{"127.0.0.1", server.port()};
};

} // namespace

TEST_F(MonitorServer, ServesAPageThatLoadsNothingElse) {
  const auto page = client.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->body.find("src=\"http"), std::string::npos);
  EXPECT_EQ(page->body.find(server.token()), std::string::npos);
  EXPECT_NE(page->get_header_value("Content-Security-Policy")
                .find("default-src 'none'"),
            std::string::npos);
  EXPECT_EQ(page->get_header_value("Referrer-Policy"), "no-referrer");
  EXPECT_NE(server.url().find("/?token=" + server.token()), std::string::npos);
}

TEST_F(MonitorServer, AnswersWithTheToken) {
  const auto state = client.Get("/api/state?a=1", tokenHeader(server.token()));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->status, 200);
  EXPECT_EQ(Json::parse(state->body)["parameters"], 1);
  EXPECT_EQ(post("/api/pause", "{}", tokenHeader(server.token())), 200);
  EXPECT_EQ(handler.changes, 1);
}

TEST_F(MonitorServer, ChangesNothingWithoutTheToken) {
  for (const std::string &token :
       {std::string(), std::string("x"), server.token() + "0",
        server.token().substr(1), std::string(server.token().size(), '0')}) {
    EXPECT_EQ(post("/api/pause", "{}", tokenHeader(token)), 401);
    const auto state = client.Get("/api/state", tokenHeader(token));
    EXPECT_EQ(state ? state->status : -1, 401);
    const auto stream = client.Get(("/api/events?token=" + token).c_str());
    EXPECT_EQ(stream ? stream->status : -1, 401);
  }
  // In the URL, the token is accepted only for the stream.
  EXPECT_EQ(post("/api/pause?token=" + server.token(), "{}", {}), 401);
  EXPECT_EQ(handler.changes, 0);
}

TEST_F(MonitorServer, RejectsPagesOfOtherOrigins) {
  for (const char *origin :
       {"http://example.com", "null", "https://127.0.0.1"}) {
    httplib::Headers headers = tokenHeader(server.token());
    headers.emplace("Origin", origin);
    EXPECT_EQ(post("/api/pause", "{}", headers), 403) << origin;
  }
  httplib::Headers headers = tokenHeader(server.token());
  headers.emplace("Sec-Fetch-Site", "cross-site");
  EXPECT_EQ(post("/api/pause", "{}", headers), 403);
  EXPECT_EQ(handler.changes, 0);
  headers = tokenHeader(server.token());
  headers.emplace("Origin",
                  "http://127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(post("/api/pause", "{}", headers), 200);
}

TEST_F(MonitorServer, RejectsInvalidRequests) {
  const httplib::Headers allowed = tokenHeader(server.token());
  EXPECT_EQ(post("/api/pause", "", allowed), 400);
  EXPECT_EQ(post("/api/pause", "[]", allowed), 400);
  EXPECT_EQ(post("/api/pause", std::string(60000, '['), allowed), 400);
  EXPECT_EQ(post("/api/set", "{\"name\": 1}", allowed), 400);
  EXPECT_EQ(post("/api/set", "{}", allowed), 400);
  EXPECT_EQ(post("/api/bad", "{}", allowed), 400);
  EXPECT_EQ(post("/api/../x", "{}", allowed), 404);
  EXPECT_EQ(post("/", "{}", allowed), 404);
  EXPECT_EQ(post("/api/pause", std::string(70000, ' ') + "{}", allowed), 413);
  const auto nowhere = client.Get("/api/nowhere", allowed);
  EXPECT_EQ(nowhere ? nowhere->status : -1, 404);
  EXPECT_EQ(handler.changes, 0);
}

TEST_F(MonitorServer, SurvivesRandomBytes) {
  std::mt19937 random(1);
  const char *fragments[] = {"POST /api/set HTTP/1.1\r\n",
                             "GET /api/events",
                             "Content-Length: ",
                             "X-Brew-Token: ",
                             "\r\n\r\n",
                             "{\"name\":",
                             "Transfer-Encoding: chunked\r\n"};
  for (int round = 0; round < 30; ++round) {
    std::string bytes;
    for (int i = 0; i < 8; ++i)
      if (random() % 2)
        bytes += fragments[random() % std::size(fragments)];
      else
        for (unsigned n = random() % 20; n; --n)
          bytes += static_cast<char>(random());
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(
        connect(socket, reinterpret_cast<sockaddr *>(&address), sizeof address),
        0);
    (void)!write(socket, bytes.data(), bytes.size());
    close(socket);
  }
  EXPECT_EQ(handler.changes, 0);
  const auto state = client.Get("/api/state", tokenHeader(server.token()));
  EXPECT_EQ(state ? state->status : -1, 200);
}

TEST_F(MonitorServer, StreamsAndResumes) {
  for (int i = 0; i < 10; ++i)
    handler.broadcast.send("{\"n\":" + std::to_string(i) + "}");
  std::string received;
  client.Get(("/api/events?token=" + server.token()).c_str(),
             httplib::Headers{{"Last-Event-ID", "3"}},
             [&](const char *data, std::size_t size) {
               received.append(data, size);
               return received.find("id: 10") == std::string::npos;
             });
  // The broadcast keeps four of the messages 3 to 9.
  EXPECT_NE(received.find("event: missed\ndata: 3\n"), std::string::npos)
      << received;
  EXPECT_EQ(received.find("{\"n\":5}"), std::string::npos) << received;
  EXPECT_NE(received.find("data: {\"n\":6}\n\n"), std::string::npos)
      << received;
  EXPECT_NE(received.find("data: {\"n\":9}\n\n"), std::string::npos)
      << received;
}

TEST_F(MonitorServer, ManyStreamsLeaveRoomForRequests) {
  std::vector<std::thread> readers;
  std::atomic<int> refused{0};
  std::atomic<bool> isFinished{false};
  // Eight streams are served; the other four are refused.
  for (int i = 0; i < 12; ++i)
    readers.emplace_back([&] {
      httplib::Client streamClient("127.0.0.1", server.port());
      const auto result = streamClient.Get(
          ("/api/events?token=" + server.token()).c_str(),
          [&](const char *, std::size_t) { return !isFinished; });
      if (result && result->status == 503)
        ++refused;
    });
  while (refused < 4)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(post("/api/pause", "{}", tokenHeader(server.token())), 200);
  isFinished = true;
  for (std::thread &reader : readers)
    reader.join();
  EXPECT_EQ(refused, 4);
}

TEST_F(MonitorServer, ReportsAPortInUse) {
  Endpoint taken;
  taken.port = server.port();
  CountingHandler secondHandler;
  try {
    Server second(taken, secondHandler);
    FAIL() << "two servers on one port";
  } catch (const brew::api::Error &error) {
    EXPECT_EQ(error.status(), BREW_UNAVAILABLE);
    EXPECT_NE(std::string(error.what()).find("cannot listen on 127.0.0.1:"),
              std::string::npos);
  }
}

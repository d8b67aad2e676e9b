//===- ComponentsTest.cpp - Tests of the monitor's components -------------===//
#include "tools/monitor/Broadcast.h"
#include "tools/monitor/Curves.h"
#include "tools/monitor/Endpoint.h"
#include "tools/monitor/NetGraph.h"
#include "tools/monitor/Server.h"
#include "tools/monitor/TensorViews.h"
#include "tools/monitor/TrainingThreadQueue.h"

#include <brew/brew.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

using namespace brew::monitor;
using namespace std::chrono_literals;
using Json = nlohmann::json;

TEST(MonitorEndpoint, ReadsHostsAndPorts) {
  EXPECT_EQ(Endpoint::parse(":7000", "--monitor").host, "127.0.0.1");
  EXPECT_EQ(Endpoint::parse("7000", "--monitor").port, 7000);
  EXPECT_EQ(Endpoint::parse("0.0.0.0:1", "--monitor").host, "0.0.0.0");
  EXPECT_EQ(Endpoint::parse("[::1]:80", "--monitor").host, "::1");
  for (const char *text : {"", ":", "host", "host:", ":65536", ":-1", ":1x",
                           "::1:80", ":99999999999999999999"})
    EXPECT_THROW(Endpoint::parse(text, "--monitor"), brew::api::Error) << text;
}

TEST(MonitorBroadcast, ReportsMissedMessages) {
  Broadcast broadcast(3);
  EXPECT_TRUE(broadcast.wait(0, 0ms).messages.empty());
  for (int i = 0; i < 10; ++i)
    broadcast.send(std::to_string(i));
  Broadcast::Batch batch = broadcast.wait(2, 0ms);
  EXPECT_EQ(batch.messages, (std::vector<std::string>{"7", "8", "9"}));
  EXPECT_EQ(batch.missed, 5u);
  EXPECT_EQ(batch.next, 10u);
  broadcast.send("10");
  batch = broadcast.wait(batch.next, 0ms);
  EXPECT_EQ(batch.messages, std::vector<std::string>{"10"});
  EXPECT_EQ(batch.missed, 0u);
  // A client may send a position of an earlier run, beyond the end.
  EXPECT_TRUE(broadcast.wait(1000, 0ms).messages.empty());
}

TEST(MonitorBroadcast, ClosingEndsWaiting) {
  Broadcast broadcast(3);
  std::thread closer([&] { broadcast.close(); });
  EXPECT_TRUE(broadcast.wait(0, 1min).closed);
  closer.join();
  broadcast.send("late");
  EXPECT_TRUE(broadcast.wait(0, 0ms).messages.empty());
}

TEST(MonitorCurves, StayBoundedAndKeepTheMean) {
  Curves curves(8, 2);
  for (int i = 0; i < 1000; ++i)
    curves.add("a", i, i);
  curves.add("a", 1000, NAN);
  curves.add("b", 1, 2);
  curves.add("c", 1, 2); // one too many
  const Json json = curves.json();
  EXPECT_EQ(json.size(), 2u);
  EXPECT_LE(json["a"].size(), 8u);
  EXPECT_GE(json["a"].size(), 4u);
  for (const Json &point : json["a"])
    EXPECT_EQ(point[0], point[1]);
  EXPECT_EQ(json["b"], Json::parse("[[1.0, 2.0]]"));
}

TEST(MonitorViews, HistogramsCountAllValues) {
  const Json json = histogramOf({0, 1, 1, NAN, INFINITY});
  EXPECT_EQ(json["non_finite"], 2);
  EXPECT_EQ(json["count"], 5);
  EXPECT_EQ(json["bins"].front(), 1);
  EXPECT_EQ(json["bins"].back(), 2);
  EXPECT_NEAR(json["mean"].get<double>(), 2.0 / 3, 1e-9);
  EXPECT_EQ(histogramOf({})["max"], 0);
}

TEST(MonitorViews, DrawsFiltersAsTilesAndMatricesAsOneImage) {
  std::vector<float> filters(70 * 2 * 2);
  filters[1] = 2;
  Json json = imagesOf(filters, {70, 1, 2, 2});
  EXPECT_EQ(json["tiles"].size(), 64u);
  EXPECT_EQ(json["left"], 6);
  EXPECT_EQ(json["tiles"][0], Json::parse("[0, 255, 0, 0]"));
  // The channels of a colour are contiguous.
  json = imagesOf({0, 1, 2, 3, 4, 255}, {1, 3, 1, 2});
  EXPECT_EQ(json["tiles"][0], Json::parse("[0, 2, 4, 1, 3, 255]"));
  json = imagesOf(std::vector<float>(300 * 1000, 1), {300, 1000});
  EXPECT_EQ(json["tiles"].size(), 1u);
  EXPECT_LE(json["width"], 128);
  EXPECT_LE(json["height"], 128);
  EXPECT_EQ(imagesOf({}, {0, 1, 2, 2})["tiles"].size(), 0u);
  EXPECT_EQ(imagesOf({1}, {})["tiles"].size(), 1u);
}

TEST(MonitorNetGraph, FollowsTheBuffersOfTheForwardPass) {
  const Json graph = netGraphOf(Json::parse(R"({"buffers": [
        {"arena": "TRANSIENT", "dims": [2, 3]}, {"arena": "PARAMETERS", "dims": [3]},
        {"arena": "TRANSIENT", "dims": [2, 4]}, {"arena": "TRANSIENT", "dims": []}],
        "programs": [{"name": "p", "data_inputs": [{"layer": "in", "type": "Data", "buffers": [0]}],
        "steps": [{"action": "product", "layers": ["ip+relu"], "backward": false, "operands": [
                    {"buffer": 0, "access": "read"}, {"buffer": 1, "access": "read"}, {"buffer": 2, "access": "write"}]},
                  {"action": "kernel", "layers": ["loss"], "backward": false, "operands": [
                    {"buffer": 2, "access": "read"}, {"buffer": 1, "access": "read"}, {"buffer": 3, "access": "write"}]},
                  {"action": "back", "layers": ["ip"], "backward": true, "operands": [{"buffer": 2, "access": "read"}]}]}]})"),
                                "p");
  EXPECT_EQ(graph["nodes"].size(), 3u);
  EXPECT_EQ(graph["nodes"][1]["layers"], Json::parse(R"(["ip", "relu"])"));
  EXPECT_EQ(graph["nodes"][1]["shape"], "2 × 4");
  EXPECT_EQ(graph["edges"], Json::parse("[[0, 1], [1, 2]]"));
}

TEST(MonitorTrainingThreadQueue, RunsRequestsOnTheTrainingThread) {
  TrainingThreadQueue queue;
  const auto trainingThread = std::this_thread::get_id();
  std::thread requester([&] {
    EXPECT_EQ(queue.run(TrainingThreadQueue::Kind::Control,
                        [&] {
                          return Json(std::this_thread::get_id() ==
                                      trainingThread);
                        }),
              Json(true));
    EXPECT_THROW(queue.run(TrainingThreadQueue::Kind::Control,
                           []() -> Json { throw HttpError(404, "none"); }),
                 HttpError);
    queue.close();
    EXPECT_THROW(
        queue.run(TrainingThreadQueue::Kind::Control, [] { return Json(); }),
        HttpError);
  });
  std::atomic<bool> done{false};
  std::thread joiner([&] {
    requester.join();
    done = true;
  });
  while (!done)
    queue.work(false);
  joiner.join();
}

TEST(MonitorTrainingThreadQueue, LimitsTheTimeForReads) {
  TrainingThreadQueue queue;
  queue.addReadCost(1s);
  EXPECT_FALSE(queue.mayRead(false));
  EXPECT_TRUE(queue.mayRead(true));
  std::atomic<bool> wasRead{false};
  std::thread requester([&] {
    EXPECT_THROW(queue.run(TrainingThreadQueue::Kind::Read,
                           [&] {
                             wasRead = true;
                             return Json();
                           }),
                 HttpError);
  });
  for (int i = 0; i < 50; ++i) {
    queue.work(false);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_FALSE(wasRead);
  queue.close();
  requester.join();
}

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

/// Returns a dense buffer of `count` f32 elements.
Json bufferOf(const std::string &arena, int offset, int count, int lastStep) {
  return {{"arena", arena},
          {"offset", offset},
          {"size", 4 * count},
          {"dims", Json::array({count})},
          {"strides", Json::array({1})},
          {"last_step", lastStep}};
}

/// Returns a forward step; `accesses` are pairs of buffer and access.
Json stepOf(const std::string &layer, const Json &accesses) {
  Json operands = Json::array();
  for (const Json &access : accesses)
    operands.push_back({{"buffer", access[0]}, {"access", access[1]}});
  return {{"action", "kernel"},
          {"layers", Json::array({layer})},
          {"backward", false},
          {"operands", operands}};
}

Json graphOf(const Json &buffers, const Json &steps) {
  const Json input = {
      {"layer", "in"}, {"type", "Data"}, {"buffers", Json::array({0})}};
  const Json program = {
      {"name", "p"}, {"data_inputs", Json::array({input})}, {"steps", steps}};
  return netGraphOf(
      {{"buffers", buffers}, {"programs", Json::array({program})}}, "p");
}

TEST(MonitorNetGraph, FollowsTheBuffersOfTheForwardPass) {
  Json back = stepOf("ip", {{2, "read"}});
  back["backward"] = true;
  const Json graph = graphOf(
      {bufferOf("TRANSIENT", 0, 6, 2), bufferOf("PARAMETERS", 0, 3, 9),
       bufferOf("TRANSIENT", 64, 8, 2), bufferOf("TRANSIENT", 128, 1, 2)},
      {stepOf("ip+relu", {{0, "read"}, {1, "read"}, {2, "write"}}),
       stepOf("loss", {{2, "read"}, {1, "read"}, {3, "write"}}), back});
  EXPECT_EQ(graph["nodes"].size(), 3u);
  EXPECT_EQ(graph["nodes"][1]["layers"], Json::parse(R"(["ip", "relu"])"));
  EXPECT_EQ(graph["nodes"][1]["shape"], "8");
  EXPECT_EQ(graph["edges"], Json::parse("[[0, 1], [1, 2]]"));
  EXPECT_EQ(graph["steps"], Json::parse("[[1, false], [2, false], [1, true]]"));
}

TEST(MonitorNetGraph, FindsActivationsInTheArenaOfTheGradients) {
  // The second step's result reuses the memory of the input.
  const Json graph =
      graphOf({bufferOf("TRANSIENT", 0, 6, 0), bufferOf("GRADIENTS", 0, 6, 1),
               bufferOf("TRANSIENT", 0, 6, 2), bufferOf("TRANSIENT", 64, 6, 2)},
              {stepOf("a", {{0, "read"}, {1, "write"}}),
               stepOf("b", {{1, "read"}, {2, "write"}}),
               stepOf("c", {{2, "read"}, {3, "write"}})});
  EXPECT_EQ(graph["edges"], Json::parse("[[0, 1], [1, 2], [2, 3]]"));
}

TEST(MonitorNetGraph, FollowsSlicesOfConcatenatedBlobs) {
  // Rows of 3 elements: slice 1 has the first, slice 2 the other two.
  Json concatenated = bufferOf("TRANSIENT", 64, 12, 3);
  Json first = bufferOf("TRANSIENT", 64, 10, 3);
  first["dims"] = {4, 1};
  first["strides"] = {3, 1};
  Json second = bufferOf("TRANSIENT", 68, 11, 3);
  second["dims"] = {4, 2};
  second["strides"] = {3, 1};
  const Json graph = graphOf({bufferOf("TRANSIENT", 0, 6, 1), first, second,
                              concatenated, bufferOf("TRANSIENT", 128, 6, 3),
                              bufferOf("TRANSIENT", 192, 6, 3)},
                             {stepOf("a", {{0, "read"}, {1, "write"}}),
                              stepOf("b", {{0, "read"}, {2, "write"}}),
                              stepOf("whole", {{3, "read"}, {4, "write"}}),
                              stepOf("slice", {{1, "read"}, {5, "write"}})});
  EXPECT_EQ(graph["edges"],
            Json::parse("[[0, 1], [0, 2], [1, 3], [2, 3], [1, 4]]"));
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

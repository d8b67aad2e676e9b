//===- EmbeddingViewTest.cpp - Tests of the embedding page ----------------===//
#include "tools/monitor/EmbeddingView.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

using namespace brew::monitor;
using Json = nlohmann::json;

namespace {

constexpr double kNoDivergence = std::numeric_limits<double>::quiet_NaN();

Json lastEvent(EmbeddingView &view) {
  const auto batch = view.events()->wait(0, std::chrono::milliseconds(0));
  return batch.messages.empty() ? Json() : Json::parse(batch.messages.back());
}

} // namespace

TEST(MonitorEmbeddingView, ReturnsTheStateSoFar) {
  EmbeddingView view("ip1", "t-SNE");
  Json state = view.get("state", {});
  EXPECT_EQ(state["kind"], "embedding");
  EXPECT_EQ(state["blob"], "ip1");
  EXPECT_TRUE(state["layout"].is_null());
  EXPECT_FALSE(state.contains("samples"));
  view.setSamples("LeNet", {{"a", "b", "c"}, {1, 0, -1}, {"cat", "dog"}});
  state = view.get("state", {});
  EXPECT_EQ(state["net"], "LeNet");
  EXPECT_EQ(state["samples"], 3);
  EXPECT_EQ(state["names"], Json({"a", "b", "c"}));
  EXPECT_EQ(state["classes"], Json({1, 0, -1}));
  EXPECT_EQ(state["class_names"], Json({"cat", "dog"}));
}

TEST(MonitorEmbeddingView, SendsLayoutsWithOneScale) {
  EmbeddingView view("ip1", "t-SNE");
  view.setSamples("", {{"a", "b"}, {0, 1}, {}});
  const float first[] = {0, 1e-4f, -2e-4f, 0}, second[] = {50, 0, -100, 25};
  view.show(first, 2, 0, 750, 5.5, false);
  view.show(second, 2, 750, 750, 1.25, true);
  const Json layout = lastEvent(view);
  EXPECT_EQ(layout["type"], "layout");
  EXPECT_EQ(layout["points"], Json::parse("[[0.5, 0.0], [-1.0, 0.25]]"));
  EXPECT_EQ(layout["finished"], true);
  const Json state = view.get("state", {});
  EXPECT_EQ(state["layout"], layout);
  EXPECT_EQ(state["curves"]["KL divergence"],
            Json::parse("[[0.0, 5.5], [750.0, 1.25]]"));
}

TEST(MonitorEmbeddingView, ComponentsHaveNoDivergence) {
  EmbeddingView view("ip1", "principal components");
  view.setSamples("", {{"a", "b"}, {}, {}});
  const float scores[] = {0, 0, 9, 0, 0, 9}; // two samples of three components
  view.show(scores, 3, 0, 0, kNoDivergence, true);
  EXPECT_TRUE(lastEvent(view)["divergence"].is_null());
  EXPECT_EQ(lastEvent(view)["points"], Json::parse("[[0.0, 0.0], [0.0, 0.0]]"));
  EXPECT_EQ(view.get("state", {})["classes"], Json({-1, -1}));
  EXPECT_TRUE(view.get("state", {})["curves"].empty());
}

TEST(MonitorEmbeddingView, ShowsASubsetOfManySamples) {
  EmbeddingView view("ip1", "t-SNE", 3);
  std::vector<float> values;
  Samples samples;
  for (int i = 0; i < 7; ++i) {
    samples.names.push_back(std::to_string(i));
    samples.classes.push_back(i);
    values.insert(values.end(), {float(i), 0});
  }
  view.setSamples("", samples);
  view.show(values.data(), 2, 50, 100, 2, false);
  EXPECT_EQ(view.get("state", {})["names"], Json({"0", "3", "6"}));
  EXPECT_EQ(view.get("state", {})["samples"], 7);
  EXPECT_EQ(lastEvent(view)["points"],
            Json::parse("[[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]]"));
}

TEST(MonitorEmbeddingView, KeepsOnlyTheLastLayouts) {
  EmbeddingView view("ip1", "t-SNE");
  view.setSamples("", {{"a"}, {0}, {}});
  const float point[] = {1, 1};
  for (int i = 0; i < 10; ++i)
    view.show(point, 2, i, 10, 1, false);
  EXPECT_LE(
      view.events()->wait(0, std::chrono::milliseconds(0)).messages.size(), 2u);
  EXPECT_EQ(lastEvent(view)["iteration"], 9);
}

TEST(MonitorEmbeddingView, RejectsUnknownRequests) {
  EmbeddingView view("ip1", "t-SNE");
  EXPECT_THROW(view.get("updates", {}), HttpError);
  EXPECT_THROW(view.post("pause", Json::object()), HttpError);
}

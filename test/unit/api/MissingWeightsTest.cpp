//===- MissingWeightsTest.cpp - Weight files that lack layers -------------===//
#include <brew/brew.hpp>
#include <brew/compiler.hpp>

#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <string>

using namespace brew::api;

namespace {

/// Returns an inference net x -> LAYER -> LAYER ... of inner products with one
/// output each, whose weights are filled with 2.
std::string chainNet(const std::vector<std::string> &layers) {
  std::string text = "layer { name: 'x' type: 'Input' top: 'x'\n"
                     "  input_param { shape { dim: 1 dim: 1 } } }\n";
  std::string bottom = "x";
  for (const std::string &layer : layers) {
    text += "layer { name: '" + layer + "' type: 'InnerProduct' bottom: '" +
            bottom + "' top: '" + layer +
            "'\n  inner_product_param { num_output: 1\n"
            "    weight_filler { type: 'constant' value: 2 } } }\n";
    bottom = layer;
  }
  return text;
}

Compilation compile(const std::string &net,
                    const CompilerOptions &options = {}) {
  return Compilation::ofText(net, "net.prototxt", options);
}

Plan planOf(const std::string &net) {
  const Compilation compilation = compile(net);
  EXPECT_TRUE(compilation.succeeded()) << compilation.message();
  return Plan(compilation.plan().data(), compilation.plan().size(), "net.plan");
}

/// Returns the message of the error that `body` throws, "" without one. Checks
/// that the status is BREW_BAD_INPUT.
template <typename Body> std::string badInputOf(Body &&body) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), BREW_BAD_INPUT) << error.what();
    return error.what();
  }
  return "";
}

class MissingWeights : public testing::Test {
protected:
  MissingWeights() {
    for (const auto &[file, layers] :
         {std::pair<const char *, std::vector<std::string>>{"a", {"a"}},
          {"bc", {"b", "c"}}}) {
      const Plan plan = planOf(chainNet(layers));
      Session session(plan);
      session.initialise();
      session.saveWeights(path(file));
    }
  }
  std::string path(const std::string &name) const {
    return folder / (name + ".caffemodel");
  }

  brew::test::TempFolder folder;
  Plan plan = planOf(chainNet({"a", "b", "c"}));
};

} // namespace

TEST_F(MissingWeights, AreRejected) {
  Session session(plan);
  const std::string message =
      badInputOf([&] { session.initialise({path("a")}); });
  EXPECT_EQ(message, path("a") +
                         ": no weights for 2 layers of the net "
                         "(--allow-missing-weights leaves them to fillers): "
                         "b, c");
  session.initialise({path("a"), path("bc")});
}

TEST_F(MissingWeights, AreAllowedWithAWarning) {
  SessionOptions options;
  options.options.set("allow-missing-weights");
  std::string warnings;
  options.listener = [&](const brew_event &event) {
    if (event.kind == BREW_EVENT_LOG && event.severity == BREW_LOG_WARNING)
      warnings += event.text;
  };
  Session session(plan, options);
  session.initialise({path("a")});
  EXPECT_EQ(warnings, path("a") + ": no weights for 2 layers of the net, left "
                                  "to fillers: b, c");
}

TEST_F(MissingWeights, DoNotIncludeLayersThatHaveValues) {
  Session session(plan);
  session.initialise();
  EXPECT_NE(badInputOf([&] { session.loadWeights({path("bc")}); }), "");
  for (int i = 0; i < 2; ++i)
    session.write(session.parameter("a", i), std::vector<float>{3});
  session.loadWeights({path("bc")});
  session.loadWeights({path("a")}); // keeps the values of b and c
  session.initialise();             // all layers from fillers
  EXPECT_NE(badInputOf([&] { session.loadWeights({path("a")}); }), "");
}

TEST_F(MissingWeights, AreRejectedByTheCompiler) {
  const std::string net = chainNet({"a", "b", "c"});
  CompilerOptions options;
  options.set("weights", path("a"));
  const Compilation rejected = compile(net, options);
  EXPECT_EQ(rejected.status(), BREW_BAD_INPUT);
  EXPECT_NE(std::string(rejected.message())
                .find("no weights for 2 layers of the net "
                      "(--allow-missing-weights leaves them to fillers): b, c"),
            std::string::npos)
      << rejected.message();
  options.set("allow-missing-weights");
  const Compilation allowed = compile(net, options);
  EXPECT_TRUE(allowed.succeeded()) << allowed.message();
}

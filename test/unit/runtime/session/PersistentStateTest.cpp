//===- PersistentStateTest.cpp - State that runs leave to later runs ------===//
#include "runtime/session/PersistentState.h"
#include "TestPlan.h"
#include "caffe/weights/BufferLayout.h"
#include "runtime/caffe_log/CaffeLog.h"
#include "test/common/TestFiles.h"
#include "test/unit/runtime/log/LogLines.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace brew;
using namespace brew::runtime;

namespace {

class PersistentStateTest : public testing::Test {
protected:
  /// The linear model's plan with a loss scale and a persistent 2 x 3 state
  /// that is transposed in memory.
  static plan::Manifest model() {
    plan::Manifest manifest =
        test::linearModel("name: 'd' type: 'Input' top: 'x' top: 'target'",
                          "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1");
    addPersistent(manifest, test::makeBuffer("loss_scale.value", 1, 128, {}));
    addPersistent(manifest, test::makeBuffer("loss_scale.good", 1, 192, {}));
    addPersistent(manifest, test::makeBuffer("rnn", 1, 256, {2, 3}, {1, 2}));
    return manifest;
  }
  static void addPersistent(plan::Manifest &manifest,
                            const plan::Buffer &buffer) {
    plan::NamedBuffer &persistent = *manifest.add_persistent();
    persistent.set_name(buffer.name());
    persistent.set_buffer_index(
        static_cast<std::uint32_t>(manifest.buffers_size()));
    *manifest.add_buffers() = buffer;
  }

  static std::vector<float> readState(Executor &executor, int position) {
    const std::uint32_t index =
        executor.manifest().persistent(position).buffer_index();
    const plan::Buffer &buffer =
        executor.manifest().buffers(static_cast<int>(index));
    std::vector<float> result(
        static_cast<std::size_t>(plan::elementCount(buffer)));
    executor.read(index, [&](const std::byte *bytes) {
      caffe::load(buffer, bytes, result.data());
    });
    return result;
  }

  static caffe::SolverState stateOf(const std::string &name,
                                    const std::string &values) {
    return test::parse<caffe::SolverState>("brew_persistent { name: '" + name +
                                           "' values { " + values + " } }");
  }

  PersistentStateTest() { events.add(CaffeLog()); }

  test::LogLines log;
  Events events;
};

using Values = std::vector<float>;

} // namespace

TEST_F(PersistentStateTest, RestoresSavedState) {
  Executor executor(test::loadPlan(model()));
  PersistentState persistent(executor, &events);
  persistent.setLossScale(4096);
  persistent.restore(stateOf("rnn", "shape { dim: 2 dim: 3 } data: 1 data: 2 "
                                    "data: 3 data: 4 data: 5 data: 6"),
                     "s");
  caffe::SolverState state;
  persistent.save(state);
  ASSERT_EQ(state.brew_persistent_size(), 3);

  Executor resumed(test::loadPlan(model()));
  EXPECT_EQ(readState(resumed, 0), (Values{0}));
  PersistentState(resumed, &events).restore(state, "s");
  EXPECT_EQ(readState(resumed, 0), (Values{4096}));
  EXPECT_EQ(readState(resumed, 1), (Values{0}));
  EXPECT_EQ(readState(resumed, 2), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(log.texts("State").empty());
}

TEST_F(PersistentStateTest, AnotherScaleRestartsTheCount) {
  Executor executor(test::loadPlan(model()));
  PersistentState persistent(executor, &events);
  EXPECT_TRUE(persistent.hasLossScale());
  persistent.restore(stateOf("loss_scale.good", "shape {} data: 17"), "s");
  EXPECT_EQ(readState(executor, 1), (Values{17}));
  persistent.setLossScale(2);
  EXPECT_EQ(readState(executor, 0), (Values{2}));
  EXPECT_EQ(readState(executor, 1), (Values{0}));
  for (double wrong : {0.0, 0.5, 3.0, -2.0, 33554432.0, double(NAN)})
    test::expectError(ExitStatus::Usage, "a power of two",
                      [&] { persistent.setLossScale(wrong); });
}

TEST_F(PersistentStateTest, StateWithoutCounterpartIsUnchanged) {
  plan::Manifest small = model();
  small.mutable_persistent()->DeleteSubrange(0, 2);
  Executor executor(test::loadPlan(small));
  PersistentState persistent(executor, &events);
  EXPECT_FALSE(persistent.hasLossScale());
  persistent.restore(stateOf("loss_scale.value", "shape {} data: 64"), "s");
  EXPECT_EQ(readState(executor, 0), Values(6));
  EXPECT_TRUE(log.texts("State").empty());
  persistent.restore(stateOf("rnn", "shape { dim: 1 dim: 2 } data: 1 data: 2"),
                     "s");
  EXPECT_EQ(readState(executor, 0), Values(6));
  EXPECT_EQ(log.texts("State 'rnn' is not restored").size(), 1u);
}

TEST_F(PersistentStateTest, RefusesDamagedValues) {
  Executor executor(test::loadPlan(model()));
  PersistentState persistent(executor, &events);
  test::expectError(ExitStatus::BadInput, "is not a valid loss scale: 3", [&] {
    persistent.restore(stateOf("loss_scale.value", "shape {} data: 3"), "s");
  });
  test::expectError(ExitStatus::BadInput, "'rnn'", [&] {
    persistent.restore(stateOf("rnn", "shape { dim: 2 dim: 3 } data: 1"), "s");
  });
}

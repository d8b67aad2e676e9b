//===- ManySessionsTest.cpp - Concurrent sessions -------------------------===//
//
// The tests must be clean under ThreadSanitizer (CMake preset tsan).
//
//===----------------------------------------------------------------------===//
#include "TrainingFixture.h"

#include "runtime/cpu/WorkerPool.h"

#include <atomic>
#include <thread>

using namespace brew;
using namespace brew::runtime;
using test::expectError;

namespace {

constexpr int kSessions = 4;

class ManySessionsTest : public test::TrainingFixture {
protected:
  ManySessionsTest()
      : manifest(test::linearModel(
            feed(), solver("base_lr: 0.3 lr_policy: 'fixed' momentum: 0.9 "
                           "iter_size: 2 max_iter: 20 test_iter: 2 "
                           "test_interval: 5 snapshot_after_train: false"))),
        plan(test::loadPlan(manifest, folder / "net.plan")) {}

  /// Trains a session of the shared plan and returns its weights.
  std::vector<float> train(SessionOptions options) const {
    options.device.threads = 2;
    Session session(plan, options);
    TrainerOptions training;
    training.solver = solverOf(manifest);
    Trainer trainer(session, training);
    trainer.solve();
    return weights(trainer);
  }

  /// Calls `work(i)` in one thread per session.
  static void runInThreads(const std::function<void(int)> &work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kSessions; ++i)
      threads.emplace_back(work, i);
    for (std::thread &thread : threads)
      thread.join();
  }

  /// Trains all sessions concurrently. Expects the weights of a single session.
  void trainConcurrently(const SessionOptions &options) {
    const std::vector<float> expected = train({});
    std::vector<std::vector<float>> results(kSessions);
    runInThreads([&](int i) { results[std::size_t(i)] = train(options); });
    for (const auto &result : results)
      EXPECT_EQ(result, expected); // to the bit
  }

  plan::Manifest manifest;
  std::shared_ptr<const plan::PlanFile> plan;
};

} // namespace

TEST_F(ManySessionsTest, EachSessionHasItsOwnThreads) { trainConcurrently({}); }

TEST_F(ManySessionsTest, SessionsShareOneWorkerPool) {
  SessionOptions options;
  options.device.pool = std::make_shared<WorkerPool>(2);
  trainConcurrently(options);
}

TEST_F(ManySessionsTest, OneModelServesSeveralThreads) {
  Session owner(plan);
  owner.initialise();
  const TensorName bias{TensorKind::Parameter, "ip", 0, 1, 0};
  const float biasValue = 4;
  owner.write(bias, &biasValue, 1);
  SessionOptions options;
  options.shareParameters = &owner;
  options.device.threads = 2;
  runInThreads([&](int i) {
    Session session(plan, options);
    const int program = session.program("test_0");
    const std::vector<float> x(12), target(4, float(i));
    session.dataPipeline(program).set("x", x.data(), 12);
    session.dataPipeline(program).set("target", target.data(), 4);
    for (int run = 0; run < 50; ++run) {
      session.feedAndRun(program);
      EXPECT_EQ(session.loss(program), (4 - i) * (4 - i) / 2.0);
    }
  });
}

TEST_F(ManySessionsTest, RunsVendorCallsConcurrently) {
  // A program of one oneDNN call, x . w^T + b.
  const int y = manifest.buffers_size();
  *manifest.add_buffers() = test::makeBuffer("y", 0, 256, {4, 1});
  plan::Program &program = *manifest.add_programs();
  program = manifest.programs(2);
  program.set_name("vendor");
  program.clear_outputs();
  plan::Step &step = *program.mutable_steps(0);
  step.mutable_inner_product()->set_direction(plan::FORWARD);
  // Keep x, w and b of x, target, w, b, prediction and loss.
  step.mutable_operands()->DeleteSubrange(4, 2);
  step.mutable_operands(1)->set_buffer_index(step.operands(2).buffer_index());
  step.mutable_operands(2)->set_buffer_index(static_cast<std::uint32_t>(y));
  step.mutable_operands(2)->set_access(plan::Operand::WRITE);
  plan::NamedBuffer &blob = *program.add_blobs();
  blob.set_name("y");
  blob.set_buffer_index(static_cast<std::uint32_t>(y));
  plan = test::loadPlan(manifest, folder / "net.plan");

  runInThreads([&](int i) {
    SessionOptions options;
    options.device.threads = 2;
    Session session(plan, options);
    const int vendor = session.program("vendor");
    const float weights[3] = {1, 2, float(i)}, bias = 4;
    session.write({TensorKind::Parameter, "ip", 0, 0, 0}, weights, 3);
    session.write({TensorKind::Parameter, "ip", 0, 1, 0}, &bias, 1);
    const std::vector<float> ones(12, 1);
    session.dataPipeline(vendor).set("x", ones.data(), 12);
    session.dataPipeline(vendor).set("target", ones.data(), 4);
    for (int run = 0; run < 20; ++run) {
      session.feedAndRun(vendor);
      float values[4] = {};
      session.read({TensorKind::Blob, "y", vendor, 0, 0}, values, 4);
      EXPECT_EQ(values[3], float(7 + i));
    }
  });
}

TEST_F(ManySessionsTest, AcceptsRequestsFromAnotherThread) {
  Session session(plan);
  TrainerOptions training;
  training.solver = solverOf(manifest);
  training.solver.set_max_iter(1000000);
  Trainer trainer(session, training);
  std::atomic<int> iterations = 0;
  session.events().add([&](const Event &event) {
    if (std::holds_alternative<event::IterationDone>(event))
      ++iterations;
  });
  std::thread requester([&] {
    TrainerControl &control = trainer.control();
    for (int i = 0; i < 20; ++i) {
      control.pause();
      control.set("base_lr", std::to_string(0.01 * (i + 1)));
      control.resume();
      const int before = iterations;
      while (iterations == before)
        std::this_thread::yield();
    }
    control.stop();
  });
  trainer.solve();
  requester.join();
  EXPECT_TRUE(trainer.stopped());
  EXPECT_FLOAT_EQ(float(trainer.learningRate()), 0.2f);
}

TEST(WorkerPool, RethrowsExceptionsOfJobs) {
  WorkerPool pool(1);
  int runs = 0;
  pool.run([&] { ++runs; });
  expectError(ExitStatus::BadInput, "no good",
              [&] { pool.run([] { throw badInput("no good"); }); });
  pool.run([&] { ++runs; });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(pool.threads(), 1);
}

TEST(WorkerPool, RunsJobsOfOneThreadOnIt) {
  WorkerPool pool(1);
  std::thread::id used;
  const auto job = [&] { used = std::this_thread::get_id(); };
  pool.run(job);
  EXPECT_EQ(used, std::this_thread::get_id());
  // From here on, a thread of the pool runs the jobs of all threads.
  std::thread([&] {
    pool.run(job);
    EXPECT_NE(used, std::this_thread::get_id());
  }).join();
  const std::thread::id ofPool = used;
  EXPECT_NE(ofPool, std::this_thread::get_id());
  pool.run(job);
  EXPECT_EQ(used, ofPool);
}

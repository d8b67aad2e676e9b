//===- TrainerGraphsTest.cpp - CUDA graphs of a training run --------------===//
//
// Counts the graph launches of a trainer on the simulator: the first run of
// every sequence of programs is enqueued step by step, all later runs are
// graphs.
//
//===----------------------------------------------------------------------===//
#include "OnSimulator.h"
#include "TrainingFixture.h"

#include <dlfcn.h>

using namespace brew;
using test::LogLines;

namespace {

class TrainerGraphs : public test::TrainingFixture {
protected:
  /// Returns the number of graph launches in a run of `iterations`.
  unsigned long long countLaunches(const std::string &solver, int iterations) {
    LogLines log;
    auto trainer = make("base_lr: 0.1 lr_policy: 'fixed' " + solver);
    void *driver = dlopen(CUDASIM_FOLDER "/libcuda.so.1", RTLD_NOW);
    auto count = reinterpret_cast<unsigned long long (*)()>(
        dlsym(driver, "cudasim_graph_launches"));
    EXPECT_NE(count, nullptr);
    const unsigned long long start = count();
    trainer->step(iterations);
    const unsigned long long result = count() - start;
    dlclose(driver);
    return result;
  }

  test::OnSimulator simulator;
};

} // namespace

TEST_F(TrainerGraphs, AnIterationIsOneGraph) {
  EXPECT_EQ(countLaunches("display: 2 max_iter: 9", 9), 8u);
}

TEST_F(TrainerGraphs, ClippingSplitsAnIterationIntoTwoGraphs) {
  EXPECT_EQ(countLaunches("clip_gradients: 0.1 max_iter: 5", 5), 4u + 4u);
}

TEST_F(TrainerGraphs, AccumulationRepeatsTheFirstOfTwo) {
  EXPECT_EQ(countLaunches("iter_size: 3 max_iter: 4", 4), 11u + 3u);
}

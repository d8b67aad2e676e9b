// Tests objects across forks. A child reports by its exit status.
#include "support/PerProcess.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace brew;

namespace {

int destroyed = 0;

struct Worker {
  int process = getpid();
  ~Worker() { ++destroyed; }
};

std::unique_ptr<Worker> makeWorker() { return std::make_unique<Worker>(); }

/// Returns the result of `body` in a forked child.
template <typename Body> int inChild(Body &&body) {
  const pid_t child = fork();
  if (child == 0)
    _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

} // namespace

TEST(ForkCount, CountsTheForksOfAProcess) {
  const int before = forkCount();
  EXPECT_EQ(inChild([&] {
              const int inner = forkCount() - before;
              return 10 * inner + inChild([&] { return forkCount() - before; });
            }),
            12);
  EXPECT_EQ(forkCount(), before);
}

TEST(PerProcess, ChildrenCreateTheirOwnObject) {
  destroyed = 0;
  int statusOfChild = 0;
  {
    PerProcess<Worker> worker(makeWorker);
    EXPECT_EQ(worker.find(), nullptr);
    EXPECT_EQ(worker.get().process, getpid());
    EXPECT_EQ(&worker.get(), worker.find());
    statusOfChild = inChild([&] {
      if (worker.find() != nullptr)
        return 1;
      if (worker.get().process != getpid())
        return 2;
      return &worker.get() == worker.find() ? 0 : 3;
    });
  }
  EXPECT_EQ(statusOfChild, 0);
  EXPECT_EQ(destroyed, 1);
}

TEST(PerProcess, ChildrenLeakTheObjectOfTheirParent) {
  destroyed = 0;
  EXPECT_EQ(inChild([] {
              auto worker = std::make_unique<PerProcess<Worker>>(makeWorker);
              worker->get();
              const int leaked = inChild([&] {
                worker.reset();
                return destroyed;
              });
              const int own = inChild([&] {
                worker->get();
                worker.reset();
                return destroyed;
              });
              worker.reset();
              return 100 * leaked + 10 * own + destroyed;
            }),
            11);
}

TEST(PerProcess, ThreadsGetTheSameObject) {
  PerProcess<Worker> worker(makeWorker);
  std::vector<Worker *> found(8);
  std::vector<std::thread> threads;
  for (Worker *&object : found)
    threads.emplace_back([&] { object = &worker.get(); });
  for (std::thread &thread : threads)
    thread.join();
  for (Worker *object : found)
    EXPECT_EQ(object, worker.find());
}

TEST(DeleteUnlessForked, LeaksInAChild) {
  destroyed = 0;
  std::unique_ptr<Worker, DeleteUnlessForked> worker(new Worker);
  EXPECT_EQ(inChild([&] {
              worker.reset();
              return destroyed;
            }),
            0);
  worker.reset();
  EXPECT_EQ(destroyed, 1);
}

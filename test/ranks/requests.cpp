//===- requests.cpp - Requests of one rank's threads to all ranks ---------===//
//
// mpirun -n 2 requests PLAN: a thread of rank 1 pauses training, sets a field
// of the solver and resumes; then a thread of rank 0 requests a stop. All ranks
// follow each request after the same iteration. Prints nothing on success.
//
//===----------------------------------------------------------------------===//
#include <brew/brew.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

using namespace brew;

namespace {

constexpr auto kPause = std::chrono::milliseconds(300);
constexpr auto kPollInterval = std::chrono::milliseconds(1);

void require(bool condition, const char *failure) {
  if (condition)
    return;
  std::fprintf(stderr, "requests: failed: %s\n", failure);
  std::_Exit(1);
}

} // namespace

int main(int count, char **arguments) {
  require(count == 2, "usage: requests PLAN");
  api::Communicator ranks;
  api::Plan plan(arguments[1]);
  api::SessionOptions options;
  options.communicator = &ranks;
  options.options.set("threads", 1);
  api::Session session(plan, options);
  std::atomic<bool> paused{false};
  session.addListener([&](const brew_event &event) {
    if (event.kind == BREW_EVENT_PAUSED)
      paused = true;
  });
  api::Trainer trainer(session);
  std::atomic<int> lastIteration{0};
  trainer.setActionFunction([&] {
    lastIteration = trainer.iteration();
    return BREW_ACTION_NONE;
  });
  auto waitFor = [&](int iteration) {
    while (lastIteration < iteration)
      std::this_thread::sleep_for(kPollInterval);
  };
  std::thread requester([&] {
    waitFor(3);
    if (ranks.rank() == 1) {
      trainer.pause();
      while (!paused)
        std::this_thread::sleep_for(kPollInterval);
      const int before = lastIteration;
      std::this_thread::sleep_for(kPause);
      require(lastIteration == before, "training does not pause");
      trainer.setField("base_lr", "0.25");
      trainer.resume();
      return;
    }
    while (trainer.field("base_lr") != "0.25")
      std::this_thread::sleep_for(kPollInterval);
    waitFor(lastIteration + 3);
    trainer.stop();
  });
  trainer.step(1 << 28);
  requester.join();
  require(trainer.stopped(), "training was not stopped");
  require(trainer.field("base_lr") == "0.25", "the field has another value");
  require(trainer.learningRate() == 0.25,
          "the learning rate has another value");
  ranks.close();
  return 0;
}

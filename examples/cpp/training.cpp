// Trains the net of ../c/line_solver.prototxt iteration by iteration, and reads
// the gradient before each update.
//
//   brewc ../c/line_solver.prototxt -o line.plan
//   c++ -std=c++17 training.cpp -lbrew_runtime -o training
//   ./training line.plan

#include <brew/brew.hpp>

#include <cmath>
#include <cstdio>
#include <random>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: training LINE.plan\n");
    return BREW_USAGE;
  }
  try {
    brew::api::checkAbiVersion();
    const brew::api::Plan plan(argv[1]);
    brew::api::Session session(plan);
    const int program = plan.program("forward_backward");

    std::minstd_rand random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> x(32), y(16);
    brew::api::Trainer trainer(session, {{"base-lr", 0.2}});
    double loss = 0;
    for (int i = 0; i < 200; ++i) {
      for (std::size_t row = 0; row < y.size(); ++row) {
        x[2 * row] = uniform(random);
        x[2 * row + 1] = uniform(random);
        y[row] = 2 * x[2 * row] - 3 * x[2 * row + 1] + 1;
      }
      session.setInput(program, "x", x);
      session.setInput(program, "y", y);
      loss = trainer.forward();
      trainer.backward();
      if (i % 50 == 0) {
        const auto gradient =
            session.read(session.parameterGradient("line", 0));
        std::printf("iteration %d: loss %.6f, gradient %.4f %.4f\n", i, loss,
                    gradient[0], gradient[1]);
      }
      trainer.update();
    }
    const auto weights = session.read(session.parameter("line", 0));
    const auto bias = session.read(session.parameter("line", 1));
    std::printf("y = %.2f a + %.2f b + %.2f\n", weights[0], weights[1],
                bias[0]);
    return std::abs(weights[0] - 2) + std::abs(weights[1] + 3) +
                       std::abs(bias[0] - 1) <
                   0.05f
               ? BREW_OK
               : BREW_BAD_INPUT;
  } catch (const brew::api::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.status();
  }
}

//===- LogTest.cpp - Lines that Caffe's scripts can read ------------------===//
#include "TrainingFixture.h"

#include <map>
#include <regex>

using namespace brew;
using test::LogLines;

TEST(Log, PrefixMatchesGlog) {
  LogLines log;
  log::write(log::Severity::Info, log::site::iteration,
             "Iteration 100, lr = 0.01");
  log::write(log::Severity::Warning, log::site::brew, "w");
  log::write(log::Severity::Error, log::site::brew, "e");
  ASSERT_EQ(log.lines.size(), 3u);
  const std::regex pattern(
      R"(I(\d{2})(\d{2}) (\d{2}):(\d{2}):(\d{2})\.(\d{6}) +\d+ solver\.cpp:239\] Iteration 100, lr = 0\.01)");
  EXPECT_TRUE(std::regex_match(log.lines[0], pattern)) << log.lines[0];
  EXPECT_EQ(log.lines[1][0], 'W');
  EXPECT_EQ(log.lines[2][0], 'E');
}

TEST(Log, NumbersAreFormattedLikeStreams) {
  EXPECT_EQ(log::number(0.25), "0.25");
  EXPECT_EQ(log::number(2.302585), "2.30259");
  EXPECT_EQ(log::number(1e-7), "1e-07");
  EXPECT_EQ(log::number(1234567), "1.23457e+06");
  EXPECT_EQ(log::number(0.01f), "0.01");
  EXPECT_EQ(log::number(0), "0");
}

namespace {

/// Parses a log by the rules of Caffe's own parser. Rows begin after a line
/// with "Solving". Each line begins with date and time. "Iteration N" applies
/// to the lines after it, "lr = X" sets the rate of the following rows, and
/// "Train|Test net output #N: NAME = X" is a value of a row.
struct ParsedLog {
  struct Row {
    double iteration, seconds, rate;
    std::map<std::string, double> outputs;
  };
  std::vector<Row> train, test;
  bool started = false;

  static double secondsOf(const std::string &line) {
    int month, day, hour, minute, second, micro;
    char severity;
    if (std::sscanf(line.c_str(), "%c%2d%2d %d:%d:%d.%6d", &severity, &month,
                    &day, &hour, &minute, &second, &micro) != 7)
      throw std::runtime_error("no date and time: " + line);
    return hour * 3600 + minute * 60 + second + micro * 1e-6;
  }

  explicit ParsedLog(const std::vector<std::string> &lines) {
    const std::regex iteration(R"(Iteration (\d+))");
    const std::regex rate(R"(lr = ([-+]?[0-9]*\.?[0-9]+([eE]?[-+]?[0-9]+)?))");
    const std::regex output(
        R"((Train|Test) net output #(\d+): (\S+) = ([.\deE+-]+))");
    double start = 0, current = -1, learningRate = NAN;
    for (const std::string &line : lines) {
      std::smatch match;
      if (!started) {
        if (line.find("Solving") != line.npos) {
          start = secondsOf(line);
          started = true;
        }
        continue;
      }
      if (std::regex_search(line, match, iteration))
        current = std::stod(match[1]);
      if (current < 0)
        continue;
      const double seconds = secondsOf(line) - start;
      if (std::regex_search(line, match, rate))
        learningRate = std::stod(match[1]);
      if (!std::regex_search(line, match, output))
        continue;
      std::vector<Row> &rows = match[1] == "Train" ? train : test;
      if (rows.empty() || rows.back().iteration != current)
        rows.push_back({current, seconds, learningRate, {}});
      rows.back().outputs[match[3]] = std::stod(match[4]);
    }
  }
};

using LogFormat = test::TrainingFixture;

} // namespace

TEST_F(LogFormat, CaffesParserFindsEveryRow) {
  LogLines log;
  auto trainer = make("base_lr: 0.01 lr_policy: 'step' gamma: 0.5 stepsize: 4 "
                      "display: 2 max_iter: 10 test_iter: 2 test_interval: 5");
  log::write(log::Severity::Info, {"caffe.cpp", 248},
             "Starting Optimization"); // as brew-run does
  trainer->solve();
  const ParsedLog parsed(log.lines);
  EXPECT_TRUE(parsed.started);
  ASSERT_EQ(parsed.train.size(), 5u); // 0, 2, 4, 6, 8
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(parsed.train[i].iteration, 2.0 * double(i));
    EXPECT_EQ(parsed.train[i].outputs.count("loss"), 1u);
    EXPECT_GE(parsed.train[i].seconds, 0);
  }
  // A rate is printed after its iteration's outputs.
  EXPECT_EQ(parsed.train[3].rate, 0.005);
  ASSERT_EQ(parsed.test.size(), 3u); // 0, 5, 10
  EXPECT_EQ(parsed.test[1].iteration, 5);
  EXPECT_EQ(parsed.test[2].outputs.size(), 2u); // loss and prediction
}

TEST_F(LogFormat, DisplayLineHasCaffesWords) {
  LogLines log;
  make("base_lr: 0.01 lr_policy: 'fixed' display: 1 max_iter: 1")->step(1);
  const auto lines = log.texts("iter/s");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(std::regex_match(
      lines[0],
      std::regex(
          R"(Iteration 0 \([\d.e+-]+ iter/s, [\d.e+-]+s/1 iters\), loss = [\d.e+-]+)")))
      << lines[0];
  const auto outputs = log.texts("Train net output");
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(std::regex_match(
      outputs[0],
      std::regex(
          R"(    Train net output #0: loss = [\d.e+-]+ \(\* 1 = [\d.e+-]+ loss\))")))
      << outputs[0];
}

//===- Reporters.cpp - Hooks that report metrics --------------------------===//

#include "runtime/train/hooks/HookAction.h"

#include "runtime/log/Log.h"
#include "support/NumberText.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

std::string durationText(double seconds) {
  if (seconds < 60)
    return log::number(seconds) + " s";
  const auto total = static_cast<long long>(std::llround(seconds));
  std::string text;
  for (const auto &[unit, size] :
       {std::pair("d", 86400), std::pair("h", 3600), std::pair("min", 60)})
    if (total >= size)
      text += std::to_string(total / size %
                             (size == 86400  ? 1 << 30
                              : size == 3600 ? 24
                                             : 60)) +
              " " + unit + " ";
  return text + std::to_string(total % 60) + " s";
}

std::vector<MetricName> nextMetrics(ActionWords &words,
                                    const MetricScope &scope) {
  std::vector<MetricName> metrics;
  do
    metrics.push_back(words.nextMetric(scope));
  while (words.take(","));
  return metrics;
}

/// Reports the last values of metrics.
class Report : public HookAction {
public:
  explicit Report(std::vector<MetricName> reported)
      : reported(std::move(reported)) {}
  DeferredWork run(HookCall &call) override {
    std::string line = linePrefix(call);
    const char *separator = "";
    for (const MetricName &metric : reported) {
      const std::optional<double> value = call.values.value(metric);
      line += separator + metric.text +
              (value ? " = " + log::number(*value) : " was not measured yet");
      separator = ", ";
    }
    if (!call.background)
      if (const auto first = call.values.value(reported.front()))
        call.values.setHook(call.name, *first);
    return logLine(std::move(line));
  }
  bool isReadOnly() const override { return true; }
  std::vector<MetricName> metrics() const override { return reported; }

private:
  std::vector<MetricName> reported;
};

/// Reports mean, minimum and maximum of a metric since the last report, sampled
/// after every iteration.
class Accumulate : public HookAction {
public:
  explicit Accumulate(MetricName metric) : metric(std::move(metric)) {}
  DeferredWork run(HookCall &call) override {
    if (count == 0)
      return logLine(linePrefix(call) + metric.text + " was not measured");
    const double mean = sum / double(count);
    if (!call.background)
      call.values.setHook(call.name, mean);
    std::string line = linePrefix(call) + "mean of " + metric.text + " = " +
                       log::number(mean) + " (minimum " + log::number(minimum) +
                       ", maximum " + log::number(maximum) + ", " +
                       std::to_string(count) +
                       (count == 1 ? " iteration)" : " iterations)");
    clear();
    return logLine(std::move(line));
  }
  bool isReadOnly() const override { return true; }
  std::vector<MetricName> metrics() const override { return {metric}; }
  bool wantsSamples() const override { return true; }
  void sample(const MetricValues &values) override {
    const std::optional<double> value = values.value(metric);
    if (!value)
      return;
    minimum = count ? std::min(minimum, *value) : *value;
    maximum = count ? std::max(maximum, *value) : *value;
    sum += *value;
    ++count;
  }
  void restart(int, double) override { clear(); }

private:
  void clear() {
    sum = 0;
    count = 0;
  }

  MetricName metric;
  double sum = 0, minimum = 0, maximum = 0;
  long long count = 0;
};

/// Reports the time per iteration and the time left.
class ReportTime : public HookAction {
public:
  DeferredWork run(HookCall &call) override {
    const int iterations = call.iteration - lastIteration;
    std::string line =
        linePrefix(call) + durationText(call.seconds) + " since training began";
    if (iterations > 0 && call.seconds > lastSeconds) {
      const double secondsPerIteration =
          (call.seconds - lastSeconds) / iterations;
      line += ", " + log::number(secondsPerIteration * 1000) +
              " ms for each of the last " + std::to_string(iterations) +
              " iterations";
      const int iterationsLeft =
          call.trainer.solver().max_iter() - call.iteration;
      if (iterationsLeft > 0)
        line += ", " + durationText(secondsPerIteration * iterationsLeft) +
                " left to max_iter";
      if (!call.background)
        call.values.setHook(call.name, secondsPerIteration);
    }
    lastIteration = call.iteration;
    lastSeconds = call.seconds;
    return logLine(std::move(line));
  }
  bool isReadOnly() const override { return true; }
  void restart(int iteration, double seconds) override {
    lastIteration = iteration;
    lastSeconds = seconds;
  }

private:
  int lastIteration = 0;
  double lastSeconds = 0;
};

/// Reports the epoch, the iteration and max_iter.
class ReportProgress : public HookAction {
public:
  DeferredWork run(HookCall &call) override {
    const int maxIteration = call.trainer.solver().max_iter();
    const auto epoch =
        call.values.value({MetricName::Epoch, 0, "", 0, "", "epoch"});
    std::string line = linePrefix(call);
    if (epoch)
      line += "epoch " + log::number(*epoch + 1) + ", ";
    line += std::to_string(call.iteration) + " of " +
            std::to_string(maxIteration) + " iterations";
    if (maxIteration > 0)
      line +=
          " (" + fixedText(100.0 * call.iteration / maxIteration, 1) + " %)";
    return logLine(std::move(line));
  }
  bool isReadOnly() const override { return true; }
  std::vector<MetricName> metrics() const override {
    return {{MetricName::Epoch, 0, "", 0, "", "epoch"}};
  }
};

} // namespace

std::unique_ptr<HookAction> makeReport(ActionWords &words,
                                       const ActionContext &context) {
  return std::make_unique<Report>(nextMetrics(words, context.scope));
}

std::unique_ptr<HookAction> makeAccumulate(ActionWords &words,
                                           const ActionContext &context) {
  return std::make_unique<Accumulate>(words.nextMetric(context.scope));
}

std::unique_ptr<HookAction> makeReportTime(ActionWords &,
                                           const ActionContext &) {
  return std::make_unique<ReportTime>();
}

std::unique_ptr<HookAction> makeReportProgress(ActionWords &) {
  return std::make_unique<ReportProgress>();
}

} // namespace brew::runtime

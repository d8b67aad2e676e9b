//===- ChromeTrace.cpp - Chrome trace of timed steps ----------------------===//
//
// Times are measured in seconds, converted to integral nanoseconds and written
// in microseconds, so that rounding preserves the nesting of spans.
//
//===----------------------------------------------------------------------===//
#include "ChromeTrace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace brew::run {

using nlohmann::ordered_json;

namespace {

/// Maximum size that viewers load in reasonable time.
constexpr std::size_t kMaxBytes = 50'000'000;
/// Times with the maximum number of digits, to estimate the size of the file.
constexpr double kLateSeconds = 86400.123456789, kLongSeconds = 1234.567890123;

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

double microseconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e3;
}

std::string textOf(const ordered_json &json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string layersOf(const ordered_json &step) {
  std::string text;
  for (const ordered_json &layer : step["layers"])
    text += (text.empty() ? "" : "+") + layer.get<std::string>();
  return text.empty() ? "(internal)" : text;
}

/// Returns the bytes of the transient arena in use at each step. Buffers may
/// share bytes: in-place results and slices of concatenated blobs.
std::vector<std::uint64_t> liveBytes(const ordered_json &plan,
                                     const ordered_json &program) {
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  const std::size_t count = program["steps"].size();
  // Ranges by the step where they become live and after their last step.
  std::vector<std::vector<Range>> begins(count), ends(count + 1);
  for (const ordered_json &buffer : plan["buffers"]) {
    if (buffer["arena"] != "TRANSIENT" || !buffer.contains("first_step") ||
        buffer.value("program", "") != program["name"])
      continue;
    const auto begin = buffer["offset"].get<std::uint64_t>();
    const Range range = {begin, begin + buffer["size"].get<std::uint64_t>()};
    const auto first = buffer["first_step"].get<std::size_t>();
    const auto last = buffer.value("last_step", std::size_t{0});
    if (first > last || first >= count)
      continue;
    begins[first].push_back(range);
    ends[std::min(last + 1, count)].push_back(range);
  }
  std::multiset<Range> alive;
  std::vector<std::uint64_t> bytes;
  for (std::size_t step = 0; step < count; ++step) {
    for (const Range &range : ends[step])
      alive.erase(alive.find(range));
    alive.insert(begins[step].begin(), begins[step].end());
    std::uint64_t sum = 0, end = 0;
    for (const auto &[first, last] : alive) {
      if (last > end)
        sum += last - std::max(first, end);
      end = std::max(end, last);
    }
    bytes.push_back(sum);
  }
  return bytes;
}

} // namespace

void ChromeTrace::readSteps(const Session &session, int program, int threads) {
  const ordered_json plan = ordered_json::parse(session.plan.describe());
  const ordered_json &programJson =
      plan["programs"][static_cast<std::size_t>(program)];
  const std::vector<std::uint64_t> live = liveBytes(plan, programJson);
  std::map<std::string, const ordered_json *> kernels;
  for (const ordered_json &kernel : plan["kernels"])
    kernels["kernel " + kernel["symbol"].get<std::string>()] = &kernel;
  for (const ordered_json &step : programJson["steps"]) {
    const auto action = step["action"].get<std::string>();
    Step &traceStep = steps.emplace_back();
    traceStep.layers = layersOf(step);
    traceStep.backward = step["backward"].get<bool>();
    traceStep.liveBytes = live[steps.size() - 1];
    traceStep.arguments = {{"step", steps.size() - 1},
                           {"implementation", action},
                           {"bytes", step["bytes"]},
                           {"flops", step["flops"]}};
    // A host layer uses one thread.
    const auto maxThreads = static_cast<std::uint64_t>(threads);
    traceStep.threads = action.rfind("host ", 0) == 0 ? 1 : maxThreads;
    const auto kernel = kernels.find(action);
    if (kernel == kernels.end())
      continue;
    const ordered_json &kernelJson = *kernel->second;
    if (kernelJson.contains("blocks")) {
      traceStep.threads = kernelJson["blocks"].get<std::uint64_t>() *
                          kernelJson["threads"].get<std::uint64_t>();
      continue;
    }
    // A CPU kernel uses at most one thread per `grain` loop iterations.
    const auto domain = kernelJson["domain"].get<std::uint64_t>();
    const auto grain =
        std::max<std::uint64_t>(1, kernelJson["grain"].get<std::uint64_t>());
    traceStep.threads =
        std::clamp<std::uint64_t>((domain + grain - 1) / grain, 1, maxThreads);
  }
}

ChromeTrace::ChromeTrace(const std::string &path, const Session &session,
                         int program, int iterations, int threads)
    : file(path), remaining(1) {
  readSteps(session, program, threads);
  add(kLateSeconds, kLongSeconds,
      std::vector<double>(steps.size(), kLongSeconds));
  const std::size_t iterationBytes = events.size();
  if (iterationBytes > kMaxBytes / static_cast<std::size_t>(iterations))
    throw usage(
        "--profile: " + std::to_string(iterations) +
        " iterations would take about " +
        std::to_string(iterationBytes * static_cast<std::size_t>(iterations) /
                       1'000'000) +
        " MB, and no more than " + std::to_string(kMaxBytes / 1'000'000) +
        " MB are written; give fewer --iterations");
  events.clear();
  added = 0;
  end = 0;
  remaining = iterations;
  const ordered_json device = session.onGpu()
                                  ? "GPU " + std::to_string(session.gpu)
                                  : std::to_string(threads) + " threads";
  const auto info = session.plan.programInfo(program);
  programName = info.name;
  addEvent({{"name", "process_name"},
            {"ph", "M"},
            {"pid", 1},
            {"args",
             {{"name", std::string("brew-run: ") + session.plan.info().net}}}});
  addEvent({{"name", "thread_name"},
            {"ph", "M"},
            {"pid", 1},
            {"tid", 1},
            {"args",
             {{"name",
               std::string(info.name) + ", " + device.get<std::string>()}}}});
}

void ChromeTrace::addEvent(ordered_json fields) {
  events += (events.empty() ? "" : ",\n") + textOf(fields);
}

void ChromeTrace::addSpan(const std::string &name, const char *category,
                          std::int64_t begin, std::int64_t duration,
                          ordered_json arguments) {
  addEvent({{"name", name},
            {"cat", category},
            {"ph", "X"},
            {"ts", microseconds(begin)},
            {"dur", microseconds(duration)},
            {"pid", 1},
            {"tid", 1},
            {"args", std::move(arguments)}});
}

void ChromeTrace::addCounters(std::int64_t time, std::uint64_t bytes,
                              std::uint64_t threads) {
  addEvent({{"name", "arena"},
            {"ph", "C"},
            {"ts", microseconds(time)},
            {"pid", 1},
            {"args", {{"live bytes", bytes}}}});
  addEvent({{"name", "threads"},
            {"ph", "C"},
            {"ts", microseconds(time)},
            {"pid", 1},
            {"args", {{"threads", threads}}}});
}

void ChromeTrace::add(double begin, double wall,
                      const std::vector<double> &seconds) {
  if (remaining == 0)
    return;
  --remaining;
  ++added;
  std::vector<std::int64_t> times;
  std::int64_t sum[2] = {0, 0}; // forward, backward
  for (std::size_t i = 0; i < steps.size(); ++i) {
    times.push_back(nanoseconds(seconds[i]));
    sum[steps[i].backward] += times.back();
  }
  // GPU and host clocks differ, so prevent iterations from overlapping.
  const std::int64_t start = std::max(nanoseconds(begin), end);
  const std::int64_t duration = std::max(nanoseconds(wall), sum[0] + sum[1]);
  addSpan("iteration " + std::to_string(added), "iteration", start, duration,
          ordered_json::object());
  std::int64_t time = start;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step &step = steps[i];
    if (i == 0 || steps[i - 1].backward != step.backward)
      addSpan(step.backward ? "backward" : "forward", "pass", time,
              sum[step.backward], ordered_json::object());
    addCounters(time, step.liveBytes, step.threads);
    addSpan(step.layers, step.backward ? "backward" : "forward", time, times[i],
            step.arguments);
    time += times[i];
  }
  addCounters(time, 0, 0);
  end = start + duration;
}

void ChromeTrace::write() {
  file.write("{\"displayTimeUnit\": \"ms\", \"otherData\": " +
             textOf(ordered_json{{"program", programName}}) +
             ", \"traceEvents\": [\n" + events + "\n]}\n");
  file.commit();
}

} // namespace brew::run

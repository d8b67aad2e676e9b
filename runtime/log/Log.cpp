//===- Log.cpp - Log lines in Caffe's format ------------------------------===//

#include "runtime/log/Log.h"

#include "runtime/log/GlogSettings.h"
#include "runtime/log/LogFiles.h"
#include "support/Caller.h"
#include "support/PrintableText.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <unistd.h>

namespace brew::log {
namespace {

/// glog's layout: severity letter, month and day, time with microseconds,
/// thread, file:line.
constexpr const char *kPattern = "%L%m%d %H:%M:%S.%f %5t %s:%#] %v";
constexpr const char *kPatternWithoutPrefix = "%v";

Severity severityOf(spdlog::level::level_enum level) {
  return level >= spdlog::level::critical ? Severity::Fatal
         : level >= spdlog::level::err    ? Severity::Error
         : level >= spdlog::level::warn   ? Severity::Warning
                                          : Severity::Info;
}

/// glog's log files, and standard error with an optional status line kept below
/// the log lines.
class StatusSink : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit StatusSink(const GlogSettings &settings)
      : settings(settings), files(settings),
        terminal(isatty(STDERR_FILENO) != 0 &&
                 settings.isLogged(Severity::Info) &&
                 settings.isOnStderr(Severity::Info)) {}

  bool showsStatus() const { return terminal; }

  void setStatus(std::string_view text) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!terminal)
      return;
    statusText.assign(text);
    eraseLine();
    std::fwrite(statusText.data(), 1, statusText.size(), stderr);
    std::fflush(stderr);
  }

  void setRedirect(std::function<void(std::string_view)> target) {
    std::lock_guard<std::mutex> lock(mutex_);
    redirected = std::move(target);
  }

protected:
  void sink_it_(const spdlog::details::log_msg &message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (redirected) {
      redirected(std::string_view(line.data(), line.size()));
      return;
    }
    line.push_back('\n');
    const Severity severity = severityOf(message.level);
    if (severity == Severity::Fatal && settings.hasPrefix)
      line[0] = 'F'; // spdlog's letter is C
    files.write(severity, std::string_view(line.data(), line.size()));
    if (!settings.isOnStderr(severity))
      return;
    if (!statusText.empty())
      eraseLine();
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fwrite(statusText.data(), 1, statusText.size(), stderr);
  }
  void flush_() override { std::fflush(stderr); }

private:
  void eraseLine() { std::fputs("\r\x1b[2K", stderr); }

  const GlogSettings settings;
  LogFiles files;
  const bool terminal; ///< shows a status line
  std::string statusText;
  std::function<void(std::string_view)> redirected;
};

struct Logger {
  const GlogSettings settings = GlogSettings::fromEnvironment();
  std::atomic<int> minimumSeverity = settings.minimumSeverity;
  std::shared_ptr<StatusSink> sink = std::make_shared<StatusSink>(settings);
  spdlog::logger logger{"brew", sink};

  Logger() {
    logger.set_formatter(std::make_unique<spdlog::pattern_formatter>(
        settings.hasPrefix ? kPattern : kPatternWithoutPrefix,
        spdlog::pattern_time_type::local, /*eol=*/""));
    logger.flush_on(spdlog::level::info);
  }
};

Logger &logger() {
  static Logger instance;
  return instance;
}

spdlog::level::level_enum level(Severity severity) {
  switch (severity) {
  case Severity::Info:
    return spdlog::level::info;
  case Severity::Warning:
    return spdlog::level::warn;
  case Severity::Error:
    return spdlog::level::err;
  case Severity::Fatal:
    return spdlog::level::critical;
  }
  return spdlog::level::err;
}

} // namespace

void setMinimumSeverity(int severity) { logger().minimumSeverity = severity; }

void write(Severity severity, Site site, std::string_view text) {
  if (static_cast<int>(severity) < logger().minimumSeverity)
    return;
  const std::string shown = severity == Severity::Info
                                ? printableText(text)
                                : messageForCaller(std::string(text));
  logger().logger.log(spdlog::source_loc{site.file, site.line, ""},
                      level(severity), spdlog::string_view_t(shown));
}

std::string number(double value) { return fmt::format("{:g}", value); }

void showStatusLine(std::string_view text) { logger().sink->setStatus(text); }

bool hasStatusLine() { return logger().sink->showsStatus(); }

void redirect(std::function<void(std::string_view)> sink) {
  logger().sink->setRedirect(std::move(sink));
}

} // namespace brew::log

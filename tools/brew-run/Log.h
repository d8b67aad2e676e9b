//===- Log.h - Log lines of brew-run ----------------------------*- C++ -*-===//
//
// A line that Caffe's tool also writes has the source location (file and line)
// of the logging statement in Caffe.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/brew.hpp>

#include <cstdio>
#include <string>

namespace brew::run::log {

struct Site {
  const char *file;
  int line;
};

namespace site {
inline constexpr Site deviceQuery{"caffe.cpp", 138};
inline constexpr Site useCpu{"caffe.cpp", 211};
inline constexpr Site useGpus{"caffe.cpp", 218};
inline constexpr Site gpuName{"caffe.cpp", 223};
inline constexpr Site startOptimization{"caffe.cpp", 248};
inline constexpr Site trainDone{"caffe.cpp", 259};
inline constexpr Site testUseGpu{"caffe.cpp", 275};
inline constexpr Site testGpuName{"caffe.cpp", 279};
inline constexpr Site testUseCpu{"caffe.cpp", 284};
inline constexpr Site testRunning{"caffe.cpp", 290};
inline constexpr Site testBatch{"caffe.cpp", 313};
inline constexpr Site testLoss{"caffe.cpp", 318};
inline constexpr Site testScore{"caffe.cpp", 330};
inline constexpr Site timeUseGpu{"caffe.cpp", 348};
inline constexpr Site timeUseCpu{"caffe.cpp", 352};
inline constexpr Site timeForward{"caffe.cpp", 360};
inline constexpr Site timeInitialLoss{"caffe.cpp", 365};
inline constexpr Site timeBackward{"caffe.cpp", 366};
inline constexpr Site timeBegin{"caffe.cpp", 374};
inline constexpr Site timeIterations{"caffe.cpp", 375};
inline constexpr Site timeIteration{"caffe.cpp", 403};
inline constexpr Site timePerLayer{"caffe.cpp", 406};
inline constexpr Site timeForwardLayer{"caffe.cpp", 409};
inline constexpr Site timeBackwardLayer{"caffe.cpp", 412};
inline constexpr Site timeForwardTotal{"caffe.cpp", 417};
inline constexpr Site timeBackwardTotal{"caffe.cpp", 419};
inline constexpr Site timeBothTotal{"caffe.cpp", 421};
inline constexpr Site timeTotal{"caffe.cpp", 423};
inline constexpr Site timeEnd{"caffe.cpp", 424};
inline constexpr Site deviceProperty{"common.cpp", 183};
/// For lines without a counterpart in Caffe.
inline constexpr Site brew{"brew.cpp", 1};
} // namespace site

inline void info(Site site, const std::string &text) {
  brew_log(BREW_LOG_INFO, site.file, site.line, text.c_str());
}
inline void warning(Site site, const std::string &text) {
  brew_log(BREW_LOG_WARNING, site.file, site.line, text.c_str());
}
/// Writes an error that ends the program to the log files. The caller prints
/// it.
inline void fatal(const std::string &text) {
  brew_log(BREW_LOG_FATAL, site::brew.file, site::brew.line, text.c_str());
}

/// Formats a number as C++ streams do by default, as in Caffe's log.
inline std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

} // namespace brew::run::log

//===- Log.h - Log lines in Caffe's format ----------------------*- C++ -*-===//
//
// Lines go to standard error and, with log_dir, to glog's log files
// (GlogSettings.h). They have glog's prefix,
//   I1121 13:35:56.474978 16020 solver.cpp:239] text
// because scripts that parse Caffe's logs rely on it. For the same reason, file
// and line refer to the statement in Caffe 1.0 that writes such a line, not to
// Brew's code.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace brew::log {

/// Fatal lines go only to log files: the program that ends prints the error
/// itself.
enum class Severity { Info, Warning, Error, Fatal };

/// The source location that a log line reports.
struct Site {
  const char *file;
  int line;
};

/// Statements of Caffe 1.0 whose lines Brew also writes.
namespace site {
inline constexpr Site finetune{"caffe.cpp", 155};
inline constexpr Site resume{"caffe.cpp", 242};

inline constexpr Site solverParameters{"solver.cpp", 44};
inline constexpr Site trainNetParam{"solver.cpp", 73};
inline constexpr Site trainNetFile{"solver.cpp", 77};
inline constexpr Site trainGenericParam{"solver.cpp", 82};
inline constexpr Site trainGenericFile{"solver.cpp", 87};
inline constexpr Site testNet{"solver.cpp", 172};
inline constexpr Site scaffoldingDone{"solver.cpp", 56};
inline constexpr Site iteration{"solver.cpp", 239};
inline constexpr Site trainOutput{"solver.cpp", 258};
inline constexpr Site solving{"solver.cpp", 293};
inline constexpr Site ratePolicy{"solver.cpp", 294};
inline constexpr Site stoppedEarly{"solver.cpp", 315};
inline constexpr Site finalLoss{"solver.cpp", 331};
inline constexpr Site optimizationDone{"solver.cpp", 336};
inline constexpr Site testing{"solver.cpp", 351};
inline constexpr Site testInterrupted{"solver.cpp", 400};
inline constexpr Site testNetLoss{"solver.cpp", 405};
inline constexpr Site testOutput{"solver.cpp", 418};
inline constexpr Site snapshotBinary{"solver.cpp", 468};
inline constexpr Site snapshotHdf5{"solver.cpp", 478};
inline constexpr Site multistep{"sgd_solver.cpp", 46};
inline constexpr Site plateauStep{"sgd_solver.cpp", 76};    // SSD's
inline constexpr Site plateauMinimum{"sgd_solver.cpp", 83}; // SSD's
inline constexpr Site clipping{"sgd_solver.cpp", 92};
inline constexpr Site learningRate{"sgd_solver.cpp", 112};
inline constexpr Site stateBinary{"sgd_solver.cpp", 280};
inline constexpr Site stateHdf5{"sgd_solver.cpp", 290};
inline constexpr Site restoreHistory{"sgd_solver.cpp", 325};

inline constexpr Site factoryLayer{"layer_factory.hpp", 77};
inline constexpr Site netLayer{"net.cpp", 84};
inline constexpr Site netSettingUp{"net.cpp", 122};
inline constexpr Site netTopShape{"net.cpp", 129};
inline constexpr Site netLossWeight{"net.cpp", 132};
inline constexpr Site netMemory{"net.cpp", 137};
inline constexpr Site netBackward{"net.cpp", 198};
inline constexpr Site netNoBackward{"net.cpp", 200};
inline constexpr Site netOutput{"net.cpp", 242};
inline constexpr Site netDone{"net.cpp", 255};
inline constexpr Site netRule{"net.cpp", 294};
inline constexpr Site netTopInPlace{"net.cpp", 367};
inline constexpr Site netTop{"net.cpp", 380};
inline constexpr Site netBottom{"net.cpp", 406};
inline constexpr Site netSharing{"net.cpp", 468};
inline constexpr Site debugAllParams{"net.cpp", 544};
inline constexpr Site debugForwardTop{"net.cpp", 593};
inline constexpr Site debugForwardParam{"net.cpp", 605};
inline constexpr Site debugBackwardBottom{"net.cpp", 624};
inline constexpr Site debugBackwardParam{"net.cpp", 636};
inline constexpr Site ignoreLayer{"net.cpp", 744};
inline constexpr Site hdf5List{"hdf5_data_layer.cpp", 80};
inline constexpr Site hdf5Count{"hdf5_data_layer.cpp", 94};
inline constexpr Site meanFile{"data_transformer.cpp", 25};
inline constexpr Site imageList{"image_data_layer.cpp", 38};
inline constexpr Site imageShuffle{"image_data_layer.cpp", 53};
inline constexpr Site imageCount{"image_data_layer.cpp", 63};
inline constexpr Site imageSkip{"image_data_layer.cpp", 71};
inline constexpr Site windowLayer{"window_data_layer.cpp", 47};
inline constexpr Site windowImages{"window_data_layer.cpp", 147};
inline constexpr Site windowClass{"window_data_layer.cpp", 151};
inline constexpr Site windowPad{"window_data_layer.cpp", 155};
inline constexpr Site windowMode{"window_data_layer.cpp", 158};
inline constexpr Site openDatabase{"db_lmdb.cpp", 35};
inline constexpr Site databaseWrapped{"data_layer.cpp", 73};
inline constexpr Site waitingForData{"blocking_queue.cpp", 49};

/// The site of lines without a counterpart in Caffe.
inline constexpr Site brew{"brew.cpp", 1};
} // namespace site

/// Changes the minimum severity of later entries (`minloglevel`).
void setMinimumSeverity(int severity);

/// Writes one log entry, unless `minloglevel` drops its severity. Further lines
/// of a text with newlines get no prefix, as with glog. May be called from any
/// thread.
void write(Severity severity, Site site, std::string_view text);

/// Formats a number as C++ streams print a float by default (six significant
/// digits), as in Caffe's lines.
std::string number(double value);

/// Shows `text` on a line that the next status replaces and that stays below
/// log lines. Does nothing unless standard error is a terminal that shows all
/// log lines.
void showStatusLine(std::string_view text);
/// Returns whether showStatusLine() has an effect.
bool hasStatusLine();

/// Sends complete lines (without the newline) to `sink` instead of standard
/// error; an empty function restores standard error. For tests.
void redirect(std::function<void(std::string_view)> sink);

} // namespace brew::log

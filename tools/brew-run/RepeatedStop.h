//===- RepeatedStop.h - End by a second SIGINT ------------------*- C++ -*-===//
#pragma once

namespace brew::run {

/// Returns whether a SIGINT must end the process at once, because an earlier
/// signal has already requested its end. Repetitions within half a second do
/// not count: programs between the terminal and this process may forward the
/// same Ctrl-C. The first call starts the clock. Callable from signal handlers.
bool isRepeatedStop(int signal);

/// The same at the time `now`, in milliseconds of a monotonic clock, not 0.
bool isRepeatedStop(int signal, long long now);

/// Forgets earlier signals.
void forgetStops();

} // namespace brew::run

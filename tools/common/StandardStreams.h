//===- StandardStreams.h - Log and results of the tools ---------*- C++ -*-===//
//
// A log that cannot be written (a closed pipe, a full disk) never ends a tool.
// Results that cannot be written do.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace brew::tools {

/// Keeps writes to a closed pipe from ending the process, and this process's
/// files from taking the place of a closed standard stream. Programs that the
/// process starts inherit both. To be called first in main().
void protectStandardStreams();

/// Flushes standard output and returns whether all results so far were written.
/// If the reader of its pipe is gone, ends the process by SIGPIPE, as programs
/// end by default.
bool flushResults();

} // namespace brew::tools

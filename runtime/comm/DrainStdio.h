//===- DrainStdio.h - Standard output before a process ends -----*- C++ -*-===//
#pragma once

namespace brew::runtime::comm {

/// Waits, for at most a second, until the output of this process to standard
/// output and standard error has been read: a launcher that ends all ranks
/// discards output that it has not read yet.
void drainStdio();

} // namespace brew::runtime::comm

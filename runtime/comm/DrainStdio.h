//===- DrainStdio.h - What a process has written before it ends --*- C++ -*-===//
#pragma once

namespace brew::runtime::comm {

/// Waits until what this process has written to standard output and error was
/// read, for a second at most: a launcher that ends all ranks drops what it has
/// not yet taken from them.
void drainStdio();

} // namespace brew::runtime::comm

//===- TemporaryName.h - Names of unfinished files --------------*- C++ -*-===//
//
// A name contains its writer: TARGET.tmp-HOST-NAMESPACE-PID-START-NUMBER. Other
// machines, and containers with a process namespace of their own, may share the
// folder and have processes of the same number. NAMESPACE is a hash of the
// machine's start and of the process namespace.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace brew {

/// Returns a name beside `path` that no other process or thread uses.
std::string temporaryName(const std::string &path);

/// Whether `path` is the name of an unfinished file whose writer has ended: a
/// process of this machine since its start that no longer runs, or another
/// process that has not written to the file for a day.
bool isAbandoned(const std::string &path);

} // namespace brew

//===- TableOptions.h - Flags from the table of options ---------*- C++ -*-===//
#pragma once

#include <brew/brew.hpp>

#include <CLI/CLI.hpp>

namespace brew::run {

/// Declares a flag for each row of the runtime's table that `command` takes;
/// parsing a flag sets its option in `options`.
void addTableOptions(CLI::App &command, api::Options &options);

} // namespace brew::run

//===- PrintableText.h - Text without control characters --------*- C++ -*-===//
#pragma once

#include <string>
#include <string_view>

namespace brew {

/// Replaces control characters, except line feeds and tabs, by escapes such as
/// "\x1b". Names in nets and files may contain any bytes, and a terminal would
/// execute its control sequences.
std::string printableText(std::string_view text);

} // namespace brew

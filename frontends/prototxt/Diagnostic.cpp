//===- Diagnostic.cpp - Placed errors, warnings and notes -----------------===//

#include "frontends/prototxt/Diagnostic.h"

#include "formats/Error.h"

#include <utility>

namespace brew::prototxt {

std::string SourceLocation::str() const {
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

Diagnostic &Diagnostic::note(SourceLocation at, std::string noteText) {
  notes.push_back({std::move(at), std::move(noteText)});
  return *this;
}

std::string Diagnostic::str() const {
  std::string out = where.str();
  out += severity == Severity::Error ? ": error: " : ": warning: ";
  out += text + "\n";
  for (const Note &each : notes)
    out += each.where.str() + ": note: " + each.text + "\n";
  return out;
}

Diagnostic &Diagnostics::error(SourceLocation where, std::string text) {
  ++errors;
  list.push_back({Severity::Error, std::move(where), std::move(text), {}});
  return list.back();
}

Diagnostic &Diagnostics::warning(SourceLocation where, std::string text) {
  list.push_back({Severity::Warning, std::move(where), std::move(text), {}});
  return list.back();
}

void Diagnostics::erase(size_t index) {
  errors -= list.at(index).severity == Severity::Error;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

std::string Diagnostics::str() const {
  std::string out;
  for (const Diagnostic &each : list)
    out += each.str();
  return out;
}

void Diagnostics::throwIfErrors() const {
  if (!hasErrors())
    return;
  std::string text = str();
  text.pop_back();
  throw badInput(text);
}

} // namespace brew::prototxt

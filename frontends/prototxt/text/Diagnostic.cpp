//===- Diagnostic.cpp - Errors, warnings and notes with locations ---------===//

#include "frontends/prototxt/text/Diagnostic.h"

#include "support/Error.h"

#include <utility>

namespace brew::prototxt {

std::string SourceLocation::str() const {
  if (file.empty() || !isValid())
    return file;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

LayerText::LayerText(std::string name, const std::string &type)
    : layer(std::move(name)) {
  text =
      "layer '" + layer + "'" + (type.empty() ? "" : " (" + type + ")") + ": ";
}

namespace {

std::string formatLine(const SourceLocation &where, const char *severity,
                       const std::string &text) {
  const std::string location = where.str();
  return location + (location.empty() ? "" : ": ") + severity + ": " + text +
         "\n";
}

const char *severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    break;
  }
  return "note";
}

} // namespace

Diagnostic &Diagnostic::note(SourceLocation noteLocation,
                             std::string noteText) {
  notes.push_back({std::move(noteLocation), std::move(noteText)});
  return *this;
}

std::string Diagnostic::str() const {
  std::string out = formatLine(where, severityName(severity), text);
  for (const Note &note : notes)
    out += formatLine(note.where, "note", note.text);
  return out;
}

Diagnostic &Diagnostics::error(SourceLocation where, std::string text) {
  ++errors;
  list.push_back({Severity::Error, std::move(where), std::move(text)});
  return list.back();
}

Diagnostic &Diagnostics::warning(SourceLocation where, std::string text) {
  list.push_back({Severity::Warning, std::move(where), std::move(text)});
  return list.back();
}

ExitStatus Diagnostics::exitStatus() const {
  for (const Diagnostic &diagnostic : list)
    if (diagnostic.severity == Severity::Error)
      return diagnostic.status;
  return ExitStatus::Success;
}

void Diagnostics::erase(size_t index) {
  errors -= list.at(index).severity == Severity::Error;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

Diagnostic &Diagnostics::error(SourceLocation where, LayerText message) {
  Diagnostic &result = error(std::move(where), std::move(message.text));
  result.layer = std::move(message.layer);
  return result;
}

Diagnostic &Diagnostics::warning(SourceLocation where, LayerText message) {
  Diagnostic &result = warning(std::move(where), std::move(message.text));
  result.layer = std::move(message.layer);
  return result;
}

void Diagnostics::add(const Diagnostic &diagnostic) {
  errors += diagnostic.severity == Severity::Error;
  list.push_back(diagnostic);
}

std::string Diagnostics::str() const {
  std::string out;
  for (const Diagnostic &diagnostic : list)
    out += diagnostic.str();
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

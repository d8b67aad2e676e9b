//===- LayerLines.cpp - Prototxt text of layers ---------------------------===//
#include "compiler/report/Page.h"

#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"

namespace brew::compiler {
namespace {

/// Longer layers, for example with blobs inside, are cut.
constexpr size_t kMaxLines = 60;

/// Returns the protobuf message that begins in line `first` (from 1), up to its
/// closing brace. Ignores braces in strings and comments.
std::string messageAt(llvm::ArrayRef<llvm::StringRef> lines, size_t first) {
  std::string found;
  int depth = 0;
  for (size_t i = first - 1; i < lines.size(); ++i) {
    if (i - (first - 1) == kMaxLines)
      return found + "...\n";
    const int before = depth;
    char quote = 0;
    bool ends = false;
    for (size_t c = 0; c < lines[i].size() && !ends; ++c) {
      const char each = lines[i][c];
      if (quote && each == '\\')
        ++c;
      else if (quote)
        quote = each == quote ? 0 : quote;
      else if (each == '"' || each == '\'')
        quote = each;
      else if (each == '#')
        break;
      else if (each == '{')
        ++depth;
      else if (each == '}')
        ends = --depth <= 0;
    }
    found += lines[i].rtrim().str() + "\n";
    if (ends || (before == 0 && depth == 0 && i >= first))
      break;
  }
  return found;
}

} // namespace

LayerLines::LayerLines(const NetGraph &layers,
                       const prototxt::SourceText &source) {
  struct File {
    std::string text;
    llvm::SmallVector<llvm::StringRef> lines;
  };
  std::map<std::string, File> files;
  auto fileOf = [&](const std::string &name) -> const File & {
    auto [found, isNew] = files.try_emplace(name);
    File &file = found->second;
    if (isNew) {
      try {
        file.text =
            name == source.name ? source.text : prototxt::readTextFile(name);
      } catch (const Error &) {
        // The file has disappeared since: show the location only.
      }
      llvm::StringRef(file.text).split(file.lines, '\n');
    }
    return file;
  };
  for (const ProgramGraph &program : layers)
    for (const GraphNode &node : program.nodes) {
      // FILE:LINE:COL; the file name may contain colons.
      auto [place, column] = llvm::StringRef(node.source).rsplit(':');
      auto [file, number] = place.rsplit(':');
      size_t line = 0;
      if (node.layers.empty() || number.getAsInteger(10, line) || !line)
        continue;
      auto [found, isNew] =
          lines.try_emplace({program.name, node.layers.front()});
      if (isNew)
        found->second = {place.str(),
                         messageAt(fileOf(file.str()).lines, line)};
    }
}

const LayerLines::Excerpt *LayerLines::find(const std::string &program,
                                            const std::string &layer) const {
  auto found = lines.find({program, layer});
  return found == lines.end() ? nullptr : &found->second;
}

} // namespace brew::compiler

//===- LayerLines.cpp - Prototxt text of layers ---------------------------===//
#include "compiler/report/Page.h"

#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"

namespace brew::compiler {
namespace {

/// Longer layers, such as those with weights inside, are truncated.
constexpr size_t kMaxLines = 60;

/// Returns the protobuf message that begins in line `first` (from 1), up to its
/// closing brace. Ignores braces in strings and comments.
std::string messageAt(llvm::ArrayRef<llvm::StringRef> lines, size_t first) {
  std::string message;
  int depth = 0;
  for (size_t i = first - 1; i < lines.size(); ++i) {
    if (i - (first - 1) == kMaxLines)
      return message + "...\n";
    const int depthBefore = depth;
    char quote = 0;
    bool isComplete = false;
    for (size_t c = 0; c < lines[i].size() && !isComplete; ++c) {
      const char ch = lines[i][c];
      if (quote && ch == '\\')
        ++c;
      else if (quote)
        quote = ch == quote ? 0 : quote;
      else if (ch == '"' || ch == '\'')
        quote = ch;
      else if (ch == '#')
        break;
      else if (ch == '{')
        ++depth;
      else if (ch == '}')
        isComplete = --depth <= 0;
    }
    message += lines[i].rtrim().str() + "\n";
    if (isComplete || (depthBefore == 0 && depth == 0 && i >= first))
      break;
  }
  return message;
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
        // The file is no longer readable: show only the location.
      }
      llvm::StringRef(file.text).split(file.lines, '\n');
    }
    return file;
  };
  for (const ProgramGraph &program : layers)
    for (const GraphNode &node : program.nodes) {
      // FILE:LINE:COL; the file name may contain colons.
      auto [fileAndLine, column] = llvm::StringRef(node.source).rsplit(':');
      auto [file, number] = fileAndLine.rsplit(':');
      size_t line = 0;
      if (node.layers.empty() || number.getAsInteger(10, line) || !line)
        continue;
      auto [found, isNew] =
          lines.try_emplace({program.name, node.layers.front()});
      if (isNew)
        found->second = {fileAndLine.str(),
                         messageAt(fileOf(file.str()).lines, line)};
    }
}

const LayerLines::Excerpt *LayerLines::find(const std::string &program,
                                            const std::string &layer) const {
  auto found = lines.find({program, layer});
  return found == lines.end() ? nullptr : &found->second;
}

} // namespace brew::compiler

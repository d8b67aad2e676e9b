//===- LayerLines.cpp - The prototxt's lines of layers --------------------===//
#include "compiler/report/Page.h"

#include "formats/Error.h"

#include "llvm/ADT/StringExtras.h"

namespace brew::compiler {
namespace {

/// A layer that is longer, by its weights perhaps, is cut.
constexpr size_t kMostLines = 60;

/// The message that begins in line `first` (from 1 on): to the brace that ends
/// it, those in strings and comments aside.
std::string messageAt(llvm::StringRef text, size_t first) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  std::string found;
  int depth = 0;
  for (size_t i = first - 1; i < lines.size(); ++i) {
    if (i - (first - 1) == kMostLines)
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
  std::map<std::string, std::string> texts = {{source.name, source.text}};
  for (const ProgramGraph &program : layers)
    for (const GraphNode &node : program.nodes) {
      // FILE:LINE:COL; a file's name may have colons.
      auto [place, column] = llvm::StringRef(node.source).rsplit(':');
      auto [file, number] = place.rsplit(':');
      size_t line = 0;
      if (node.layers.empty() || number.getAsInteger(10, line) || !line)
        continue;
      auto [text, isNew] = texts.try_emplace(file.str());
      if (isNew) {
        try {
          text->second = prototxt::readTextFile(file.str());
        } catch (const Error &) {
          // It was there when it was read: only the place is told.
        }
      }
      lines.try_emplace({program.name, node.layers.front()},
                        Lines{place.str(), messageAt(text->second, line)});
    }
}

const LayerLines::Lines *LayerLines::find(const std::string &program,
                                          const std::string &layer) const {
  auto found = lines.find({program, layer});
  return found == lines.end() ? nullptr : &found->second;
}

} // namespace brew::compiler

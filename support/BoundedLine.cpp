//===- BoundedLine.cpp - Lines of bounded memory --------------------------===//
#include "support/BoundedLine.h"

namespace brew {

bool readBoundedLine(std::istream &file, std::size_t maxBytes,
                     BoundedLine &line) {
  line = {};
  char buffer[1 << 14];
  while (!line.isComplete) {
    file.getline(buffer, sizeof buffer);
    const auto bytes = static_cast<std::size_t>(file.gcount());
    line.bytes += bytes;
    // The function counts the end of the line, but does not store it, and fails
    // if the buffer is full.
    const bool isPart = file.fail() && !file.eof() && bytes > 0;
    line.isComplete = !file.fail() && !file.eof();
    line.text.append(buffer, bytes - (line.isComplete ? 1 : 0));
    line.isTooLong |= line.text.size() > maxBytes;
    if (line.isTooLong && line.text.size() > BoundedLine::kTailBytes)
      line.text.erase(0, line.text.size() - BoundedLine::kTailBytes);
    if (!isPart)
      break;
    file.clear();
  }
  return line.bytes > 0;
}

} // namespace brew

//===- TensorBoardProjector.cpp - Files for TensorBoard's projector -------===//

#include "TensorBoardProjector.h"

#include "Session.h"
#include "support/AtomicFile.h"
#include "support/Utf8.h"

#include <charconv>
#include <filesystem>

namespace brew::run {
namespace {

/// Returns `text` for a column of a .tsv file: replaces separators of columns
/// and lines with spaces.
std::string tsvCell(std::string text) {
  text = replaceInvalidUtf8(text);
  for (char &c : text)
    if (c == '\t' || c == '\n' || c == '\r')
      c = ' ';
  return text;
}

/// Quotes a string for Protocol Buffers' text format.
std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : replaceInvalidUtf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += '\\';
    if (byte >= ' ') {
      result += c;
      continue;
    }
    for (int shift : {6, 3, 0})
      (shift == 6 ? result += '\\' : result) +=
          static_cast<char>('0' + (byte >> shift & 7));
  }
  return result + '"';
}

std::string toTsv(const ProjectorTensor &tensor) {
  std::string text;
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    char number[32];
    text.append(
        number,
        std::to_chars(number, number + sizeof number, tensor.values[i]).ptr);
    text += (i + 1) % tensor.columns ? '\t' : '\n';
  }
  return text;
}

std::string configEntry(const ProjectorTensor &tensor,
                        const std::string &file) {
  return "embeddings {\n  tensor_name: " + quoted(tensor.name) +
         "\n  tensor_shape: " +
         std::to_string(tensor.values.size() / tensor.columns) +
         "\n  tensor_shape: " + std::to_string(tensor.columns) +
         "\n  tensor_path: \"" + file +
         "\"\n  metadata_path: \"metadata.tsv\"\n}\n";
}

} // namespace

void writeTensorBoardProjector(const std::string &folder,
                               const ProjectorTensor &points,
                               const ProjectorTensor &features,
                               const std::vector<std::string> &names,
                               const std::vector<std::string> &classes) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw unavailable(folder + ": cannot make the folder: " + error.message());
  const std::filesystem::path folderPath = folder;
  auto write = [&](const char *name, std::string_view bytes) {
    writeFileAtomically(folderPath / name, bytes);
  };
  write("tensors.tsv", toTsv(points));
  write("features.bytes",
        {reinterpret_cast<const char *>(features.values.data()),
         features.values.size() * sizeof(float)});
  // TensorBoard expects a header line only if there are several columns.
  std::string metadata = classes.empty() ? "" : "name\tclass\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    metadata += tsvCell(names[i]) +
                (classes.empty() ? "" : "\t" + tsvCell(classes[i])) + "\n";
  write("metadata.tsv", metadata);
  write("projector_config.pbtxt", configEntry(points, "tensors.tsv") +
                                      configEntry(features, "features.bytes"));
}

} // namespace brew::run

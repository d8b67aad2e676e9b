//===- ContentKind.cpp - Kinds of files by their content ------------------===//
#include "formats/ContentKind.h"

#include "formats/Database.h"
#include "formats/ProtoFields.h"
#include "formats/caffe.pb.h"
#include "formats/hdf5/Hdf5.h"
#include "formats/image/ImageSignature.h"
#include "plan/PlanFormat.h"
#include "support/Error.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace brew::formats {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

bool isText(std::string_view head) {
  return !head.empty() && std::none_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && !std::strchr("\t\n\v\f\r", c);
  });
}

/// Returns the name of the first field of a prototxt, or "" if the text does
/// not begin with a field.
std::string firstField(std::string_view text) {
  while (!text.empty() &&
         (std::isspace(static_cast<unsigned char>(text[0])) || text[0] == '#'))
    text.remove_prefix(text[0] == '#' ? std::min(text.find('\n'), text.size())
                                      : 1);
  const auto isName = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  size_t end = 0;
  while (end < text.size() && isName(text[end]))
    ++end;
  const size_t next = text.find_first_not_of(" \t\r\n", end);
  const bool isField =
      next != text.npos && (text[next] == ':' || text[next] == '{');
  return isField ? std::string(text.substr(0, end)) : "";
}

ContentKind textKindOf(std::string_view head) {
  if (startsWith(head, "version https://git-lfs."))
    return ContentKind::LfsPointer;
  std::string start(head.substr(0, std::min<size_t>(head.size(), 256)));
  std::transform(start.begin(), start.end(), start.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  start.erase(0, std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  if (startsWith(start, "<!doctype html") || startsWith(start, "<html"))
    return ContentKind::Html;
  const std::string field = firstField(head);
  if (caffe::NetParameter::descriptor()->FindFieldByName(field))
    return ContentKind::NetText;
  if (caffe::SolverParameter::descriptor()->FindFieldByName(field))
    return ContentKind::SolverText;
  return ContentKind::Text;
}

//===----------------------------------------------------------------------===//
// Binary files
//===----------------------------------------------------------------------===//

ContentKind hdf5KindOf(const std::string &path) {
  try {
    const Hdf5Reader file(path);
    if (file.has("iter"))
      return ContentKind::Hdf5SolverState;
    // The weights of a net are in /data/LAYER/INDEX.
    if (file.hasGroup("/data") && !file.datasets("/data").empty())
      return ContentKind::Hdf5Weights;
  } catch (const Error &) {
    // A damaged file remains an HDF5 file.
  }
  return ContentKind::Hdf5;
}

bool hasAnyField(const std::vector<ProtoField> &fields,
                 std::initializer_list<ProtoField> wanted) {
  return std::any_of(fields.begin(), fields.end(), [&](const ProtoField &f) {
    return std::find(wanted.begin(), wanted.end(), f) != wanted.end();
  });
}

/// Returns the kind of a binary protobuf file. The types of the fields
/// distinguish the messages, since these have no signature.
ContentKind protoKindOf(const std::string &path) {
  const std::vector<ProtoField> fields = listProtoFields(path);
  if (fitsMessage(fields, *caffe::NetParameter::descriptor()) &&
      hasAnyField(fields, {{caffe::NetParameter::kLayerFieldNumber, 2},
                           {caffe::NetParameter::kLayersFieldNumber, 2}}))
    return ContentKind::Weights;
  if (fitsMessage(fields, *caffe::SolverState::descriptor()) &&
      hasAnyField(fields, {{caffe::SolverState::kIterFieldNumber, 0}}) &&
      hasAnyField(fields, {{caffe::SolverState::kLearnedNetFieldNumber, 2},
                           {caffe::SolverState::kHistoryFieldNumber, 2}}))
    return ContentKind::SolverState;
  if (fitsMessage(fields, *caffe::BlobProto::descriptor()) &&
      hasAnyField(fields, {{caffe::BlobProto::kDataFieldNumber, 2},
                           {caffe::BlobProto::kDataFieldNumber, 5},
                           {caffe::BlobProto::kDoubleDataFieldNumber, 2}}))
    return ContentKind::BinaryProto;
  return ContentKind::Unknown;
}

ContentKind fileKindOf(const std::string &path) {
  const std::string head = firstBytes(path);
  constexpr size_t kLmdbMagicOffset = 16; // after the header of the first page
  if (startsWith(head, "\x89HDF"))
    return hdf5KindOf(path);
  if (startsWith(head, {plan::kMagic, sizeof plan::kMagic}))
    return ContentKind::Plan;
  if (startsWith(head, "\x93NUMPY"))
    return ContentKind::Npy;
  if (startsWith(head, "\0\0\x08\x01"sv) || startsWith(head, "\0\0\x08\x03"sv))
    return ContentKind::Idx;
  if (startsWith(head, "PK\3\4"))
    return ContentKind::Zip;
  if (startsWith(head, "\x1f\x8b"))
    return ContentKind::Gzip;
  if (head.size() > kLmdbMagicOffset &&
      startsWith(std::string_view(head).substr(kLmdbMagicOffset),
                 "\xde\xc0\xef\xbe"))
    return ContentKind::LmdbFile;
  if (imageFormatName(head.data(), head.size()))
    return ContentKind::Image;
  return isText(head) ? textKindOf(head) : protoKindOf(path);
}

} // namespace

std::string firstBytes(const std::string &path) {
  constexpr std::streamsize kHeadBytes = 4096;
  std::ifstream file(path, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), kHeadBytes);
  head.resize(static_cast<size_t>(file.gcount()));
  return head;
}

ContentKind contentKindOf(const std::string &path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored))
    return fileKindOf(path);
  if (!fs::is_directory(path, ignored))
    return ContentKind::Unknown;
  const std::optional<DbBackend> backend = detectBackend(path);
  if (!backend)
    return ContentKind::Folder;
  return *backend == DbBackend::Lmdb ? ContentKind::LmdbFolder
                                     : ContentKind::LevelDbFolder;
}

} // namespace brew::formats

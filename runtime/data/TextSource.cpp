//===- TextSource.cpp - Batches of sections of a text ---------------------===//

#include "caffe/RandomStream.h"
#include "caffe/weights/BufferLayout.h"
#include "formats/PathLookup.h"
#include "formats/image/ImageFile.h"
#include "runtime/data/BatchSource.h"
#include "support/Error.h"

#include <charconv>
#include <map>

namespace brew::runtime {
namespace {

/// Returns the UTF-16 code units of a text in UTF-8, without a byte order mark.
/// MyCaffe numbers these units. `layerText` begins the error about other texts.
std::u16string decodeUtf8(std::string_view bytes,
                          const std::string &layerText) {
  std::u16string units;
  for (std::size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                                             : 4;
    bool isValid = lead < 0x80 || (lead >= 0xc2 && lead < 0xf5);
    std::uint32_t code = lead < 0x80 ? lead : lead & (0x7fu >> length);
    for (std::size_t j = 1; j < length && isValid; ++j) {
      isValid = i + j < bytes.size() && (bytes[i + j] & 0xc0) == 0x80;
      code = code << 6 | (isValid ? bytes[i + j] & 0x3f : 0);
    }
    if (!isValid)
      throw badInput(layerText + ": the text is not UTF-8 at byte " +
                     std::to_string(i));
    if (code < 0x10000)
      units += static_cast<char16_t>(code);
    else {
      units += static_cast<char16_t>(0xd800 + ((code - 0x10000) >> 10));
      units += static_cast<char16_t>(0xdc00 + ((code - 0x10000) & 0x3ff));
    }
    i += length;
  }
  if (!units.empty() && units[0] == 0xfeff)
    units.erase(0, 1);
  return units;
}

/// Draws sections of a text at random. The tops are the numbers of the
/// characters in the sorted list of all characters of the text, their
/// positions in the section, and the numbers of the following characters.
class TextSource : public BatchSource {
public:
  explicit TextSource(const DataLayerInfo &info)
      : tops(info.tops),
        layerText("layer '" + info.layer.name() + "' (TokenizedData)"),
        stream(seedOf(info), "text " + info.stream) {
    const caffe::TokenizedDataParameter &settings =
        info.layer.tokenized_data_param();
    if (tops.size() != 3 || tops[0]->dims_size() != 2)
      throw badInput(layerText + ": the plan's buffers do not fit");
    items = tops[0]->dims(0), length = tops[0]->dims(1);
    const std::vector<std::int64_t> shape = {items, length};
    if (caffe::toVector(tops[2]->dims()) != shape ||
        plan::elementCount(*tops[1]) != length)
      throw badInput(layerText + ": the plan's buffers do not fit");
    const std::string file = formats::requirePath(
        settings.source(), info.folders, "text file of " + layerText);
    const std::u16string text =
        decodeUtf8(formats::readFileBytes(file), layerText);
    if (static_cast<std::int64_t>(text.size()) <= length + 1)
      throw badInput(
          layerText + ": " + file + " has " + std::to_string(text.size()) +
          " characters; sections of block_size " + std::to_string(length) +
          " need at least " + std::to_string(length + 2));
    numberCharacters(text);
    if (const std::optional<std::string> starts =
            formats::findPath(settings.debug_index_file(), info.folders);
        starts && !settings.debug_index_file().empty())
      readStarts(*starts);
  }

  void read(const std::vector<std::byte *> &memory) override {
    std::vector<float> section, following, positions;
    for (std::int64_t item = 0; item < items; ++item) {
      const std::int64_t start = startOf(sections++);
      section.insert(section.end(), tokens.begin() + start,
                     tokens.begin() + start + length);
      following.insert(following.end(), tokens.begin() + start + 1,
                       tokens.begin() + start + 1 + length);
    }
    for (std::int64_t i = 0; i < length; ++i)
      positions.push_back(static_cast<float>(i));
    const std::vector<float> *const values[] = {&section, &positions,
                                                &following};
    for (std::size_t top = 0; top < tops.size(); ++top)
      if (memory[top])
        caffe::store(*tops[top], values[top]->data(), memory[top]);
  }

  std::string identity() const override {
    return std::to_string(tokens.size()) + " " + std::to_string(vocabulary);
  }
  SourcePosition position() const override { return {sections, 0, 0}; }
  void seek(const SourcePosition &target) override {
    sections = target.records;
  }

private:
  /// Returns the layer's own seed, if it has one, or the run's.
  static std::uint64_t seedOf(const DataLayerInfo &info) {
    const caffe::TokenizedDataParameter &settings =
        info.layer.tokenized_data_param();
    if (!settings.has_seed())
      return info.seed.rankSeed();
    return static_cast<std::uint64_t>(settings.seed()) + info.seed.rank;
  }

  void numberCharacters(const std::u16string &text) {
    std::map<char16_t, float> numbers;
    for (char16_t unit : text)
      numbers[unit] = 0;
    for (auto &[unit, number] : numbers)
      number = static_cast<float>(vocabulary++);
    for (char16_t unit : text)
      tokens.push_back(numbers[unit]);
  }

  /// Reads the starts of sections, which are taken in turn, from lines
  /// "idx = START".
  void readStarts(const std::string &file) {
    const std::string text = formats::readFileBytes(file);
    constexpr std::string_view kPrefix = "idx = ";
    for (std::size_t line = text.find(kPrefix); line != std::string::npos;
         line = text.find(kPrefix, line + 1)) {
      std::int64_t start = -1;
      const char *number = text.data() + line + kPrefix.size();
      std::from_chars(number, text.data() + text.size(), start);
      if (start < 0 || start >= limit())
        throw badInput(layerText + ": " + file +
                       " has a start that is not from 0 to " +
                       std::to_string(limit() - 1));
      starts.push_back(start);
    }
    if (starts.empty())
      throw badInput(layerText + ": " + file + " has no line \"idx = START\"");
  }

  /// Returns the number of sections that MyCaffe draws from.
  std::int64_t limit() const {
    return static_cast<std::int64_t>(tokens.size()) - length - 1;
  }

  std::int64_t startOf(std::uint64_t section) const {
    if (!starts.empty())
      return starts[section % starts.size()];
    return static_cast<std::int64_t>(
        stream.below(section, static_cast<std::uint64_t>(limit())));
  }

  std::vector<const plan::Buffer *> tops;
  std::string layerText;
  caffe::RandomStream stream;
  std::int64_t items = 0, length = 0;
  std::vector<float> tokens; ///< of the text
  std::size_t vocabulary = 0;
  std::vector<std::int64_t> starts; ///< from a file; empty: random
  std::uint64_t sections = 0;       ///< read so far
};

std::unique_ptr<BatchSource> openTextSource(const DataLayerInfo &info) {
  return std::make_unique<TextSource>(info);
}

} // namespace

const SourceKind textSource = {caffe::DataLayerSource::Text, openTextSource};

} // namespace brew::runtime

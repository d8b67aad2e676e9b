//===- Npy.cpp - NumPy's array files --------------------------------------===//

#include "formats/Npy.h"

#include "formats/ExpectedFile.h"
#include "formats/InputFile.h"
#include "support/Error.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace brew::formats {
namespace {

/// Returns the text after 'key': in the header. The header is a Python
/// dictionary whose format NumPy defines.
std::string_view findField(std::string_view header, const std::string &key,
                           const std::string &path) {
  const std::size_t position = header.find("'" + key + "':");
  if (position == header.npos)
    throw badInput(path + ": damaged .npy file: its header has no '" + key +
                   "'");
  header.remove_prefix(position + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::vector<std::int64_t> parseDims(std::string_view text,
                                    const std::string &path) {
  std::vector<std::int64_t> dims;
  auto shapeError = [&] {
    return badInput(path + ": damaged .npy file: its shape is not a list of "
                           "extents, or is too large");
  };
  if (text.empty() || text[0] != '(')
    throw shapeError();
  text = text.substr(1, text.find(')') - 1);
  constexpr std::int64_t kMaxValues = std::int64_t(1) << 40;
  std::int64_t count = 1;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty())
      return dims;
    std::int64_t dim = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc() || dim < 0 || dim > kMaxValues ||
        (dim && count > kMaxValues / dim))
      throw shapeError();
    count *= dim;
    dims.push_back(dim);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

/// Reads and converts values block by block, so that a damaged shape does not
/// cause a larger allocation than the file's values need.
template <typename Stored>
void readValues(InputFile &file, std::int64_t count,
                std::vector<float> &values) {
  std::vector<Stored> block(1 << 14);
  while (count > 0) {
    const auto size =
        std::min<std::int64_t>(count, static_cast<std::int64_t>(block.size()));
    file.readExactly(block.data(),
                     static_cast<std::size_t>(size) * sizeof(Stored),
                     "the values");
    for (std::int64_t i = 0; i < size; ++i)
      values.push_back(static_cast<float>(block[static_cast<std::size_t>(i)]));
    count -= size;
  }
}

} // namespace

NpyArray readNpy(const std::string &path) {
  InputFile file(path);
  unsigned char head[8];
  file.readExactly(head, sizeof head, "its header");
  if (std::memcmp(head, "\x93NUMPY", 6) != 0 || head[6] < 1 || head[6] > 3) {
    refuseOtherKind(path, npyFile());
    throw badInput(path + ": is not a .npy file of format 1 to 3");
  }
  unsigned char sizeBytes[4] = {};
  file.readExactly(sizeBytes, head[6] == 1 ? 2 : 4, "its header");
  const std::uint32_t size = sizeBytes[0] | sizeBytes[1] << 8 |
                             sizeBytes[2] << 16 |
                             std::uint32_t(sizeBytes[3]) << 24;
  if (size > 1 << 20)
    throw badInput(path + ": damaged .npy file: its header has " +
                   std::to_string(size) + " bytes");
  std::string header(size, '\0');
  file.readExactly(header.data(), header.size(), "its header");

  NpyArray array;
  array.dims = parseDims(findField(header, "shape", path), path);
  if (array.dims.size() > 1 &&
      findField(header, "fortran_order", path).substr(0, 4) == "True")
    throw badInput(path + ": is in column order; write it with "
                          "numpy.ascontiguousarray");
  std::int64_t count = 1;
  for (std::int64_t dim : array.dims)
    count *= dim;
  const std::string_view typeField = findField(header, "descr", path);
  const std::string type(typeField.substr(0, typeField.find(',')));
  struct ElementType {
    const char *name;
    void (*read)(InputFile &, std::int64_t, std::vector<float> &);
  };
  for (const ElementType &elementType :
       {ElementType{"'<f4'", readValues<float>},
        ElementType{"'<f8'", readValues<double>},
        ElementType{"'|u1'", readValues<std::uint8_t>},
        ElementType{"'|i1'", readValues<std::int8_t>},
        ElementType{"'|b1'", readValues<std::uint8_t>},
        ElementType{"'<u2'", readValues<std::uint16_t>},
        ElementType{"'<i2'", readValues<std::int16_t>},
        ElementType{"'<u4'", readValues<std::uint32_t>},
        ElementType{"'<i4'", readValues<std::int32_t>},
        ElementType{"'<u8'", readValues<std::uint64_t>},
        ElementType{"'<i8'", readValues<std::int64_t>}})
    if (type == elementType.name) {
      elementType.read(file, count, array.values);
      return array;
    }
  throw badInput(path + ": contains values of type " + type +
                 "; floats of 4 or 8 bytes and integers are read");
}

} // namespace brew::formats

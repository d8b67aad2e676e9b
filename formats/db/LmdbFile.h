//===- LmdbFile.h - The bytes of an LMDB file -------------------*- C++ -*-===//
//
// LMDB 0.9's on-disk format (64-bit, little-endian), each access checked
// against the page and the file. Private to formats.
//
// The file is an array of pages. Pages 0 and 1 are two versions of the meta
// page; the one with the higher transaction number is current and points at the
// root of a B+tree. Branch pages hold keys and child page numbers, leaf pages
// keys and values; a value too large for a page lies in a run of overflow
// pages.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace brew::formats {

/// What a meta page says about the main tree.
struct LmdbTree {
  uint64_t root = 0;
  uint64_t entries = 0;
  unsigned depth = 0;
};

enum class LmdbPageKind { Branch, Leaf };

/// One entry of a page.
struct LmdbNode {
  std::string_view key;
  std::string_view value;    ///< the value, if it lies in the leaf itself
  uint64_t child = 0;        ///< branch: the child; overflow: its first page
  uint64_t overflowSize = 0; ///< leaf: size of a value that lies elsewhere
  bool overflow = false;
};

/// A page of the tree in memory, its header and pointer array checked.
struct LmdbPage {
  std::vector<char> bytes;
  uint64_t number = 0;
  LmdbPageKind kind = LmdbPageKind::Leaf;
  unsigned count = 0;
};

/// All members throw Error(1) on damage and Error(3) if the file cannot be
/// read. Safe to use from several threads.
class LmdbFile {
public:
  /// Opens FOLDER/data.mdb and reads its meta pages.
  explicit LmdbFile(const std::string &folder);
  ~LmdbFile();
  LmdbFile(const LmdbFile &) = delete;
  LmdbFile &operator=(const LmdbFile &) = delete;

  const LmdbTree &tree() const { return mainTree; }
  void readPage(uint64_t number, LmdbPageKind expected, LmdbPage &page) const;
  LmdbNode node(const LmdbPage &page, unsigned index) const;
  /// Fetches an overflow value into `value`.
  void readOverflow(const LmdbNode &node, std::vector<char> &value) const;

  [[noreturn]] void damaged(const std::string &what) const;

private:
  void readMeta();
  bool parseMeta(const std::vector<char> &page, uint64_t &transaction);
  void readAt(uint64_t offset, void *to, size_t size) const;

  std::string folder;
  int fd = -1;
  uint64_t fileSize = 0;
  uint32_t pageSize = 0;
  uint64_t lastPage = 0;
  LmdbTree mainTree;
};

} // namespace brew::formats

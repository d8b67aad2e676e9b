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
// Other programs may write to the database meanwhile. Brew reads the snapshot
// of the transaction that was newest at opening, N. LMDB writes to unused pages
// only. Unless a reader is registered, transaction T may use the pages that
// transactions up to T - 2 freed, so N + 3 is the first that overwrites pages
// of snapshot N. Before N + 3 begins, N + 2 replaces the meta page of N. So
// bytes belong to the snapshot if its meta page still has the number N after
// they were copied. That is checked after each copy.
//
// liblmdb's own way, to register in the reader table of lock.mdb, would keep
// the pages alive, but it has costs that Brew's readers must not have:
// - the folder must be writable
// - a process that also has the database open in liblmdb (as Python programs
//   do) loses its locks, or has its lock file reset
// - a training run, or one that was killed, lets the writer's file grow
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <optional>
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

/// A meta page.
struct LmdbMeta {
  uint64_t offset = 0; ///< where in the file it lies
  uint64_t transaction = 0;
  uint64_t lastPage = 0;
  uint32_t pageSize = 0;
  LmdbTree tree;
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
  const char *bytes() const { return buffer.data() + offset; }

  uint64_t number = 0;
  LmdbPageKind kind = LmdbPageKind::Leaf;
  unsigned count = 0;
  /// Pages from `firstPage` on, read at once; this one is at `offset`.
  std::vector<char> buffer;
  uint64_t firstPage = 0, pages = 0;
  size_t offset = 0;
};

/// All members throw Error(1) on damage, or if a writer may have overwritten
/// the snapshot, and Error(3) if the file cannot be read. Safe to use from
/// several threads.
class LmdbFile {
public:
  /// Opens FOLDER/data.mdb and reads its meta pages.
  explicit LmdbFile(const std::string &folder);
  ~LmdbFile();
  LmdbFile(const LmdbFile &) = delete;
  LmdbFile &operator=(const LmdbFile &) = delete;

  const LmdbTree &tree() const { return meta.tree; }
  /// `page` holds the one that was read last at its level, so that pages that
  /// follow each other are read together.
  void readPage(uint64_t number, LmdbPageKind expected, LmdbPage &page) const;
  LmdbNode node(const LmdbPage &page, unsigned index) const;
  /// Fetches an overflow value into `value`.
  void readOverflow(const LmdbNode &node, std::vector<char> &value) const;

  [[noreturn]] void damaged(const std::string &what) const;

private:
  void measure();
  void readMeta();
  std::optional<LmdbMeta> parseMeta(const char *page, uint64_t offset) const;
  void readAt(uint64_t offset, void *to, size_t size) const;
  void readSnapshot(uint64_t offset, void *to, size_t size) const;
  void fill(LmdbPage &page, uint64_t number) const;
  [[noreturn]] void overwritten() const;

  std::string folder;
  int fd = -1;
  uint64_t fileSize = 0;
  LmdbMeta meta; ///< of the snapshot
};

} // namespace brew::formats

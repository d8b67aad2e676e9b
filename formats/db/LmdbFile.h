//===- LmdbFile.h - Bounds-checked access to LMDB files ---------*- C++ -*-===//
//
// Reads LMDB 0.9's on-disk format (64-bit, little-endian) and checks each
// access against the page and the file. Private to formats.
//
// The file is an array of pages. Pages 0 and 1 are two versions of the meta
// page; the one with the higher transaction number is current and points at the
// root of a B+tree. Branch pages contain keys and child page numbers, leaf
// pages contain keys and values; a value too large for a page lies in a run of
// overflow pages.
//
// Other programs may write to the database concurrently. Brew reads the
// snapshot of the newest transaction at the time of opening, N. LMDB writes to
// unused pages only. Unless a reader is registered, transaction T may use the
// pages that transactions up to T - 2 freed, so N + 3 is the first that
// overwrites pages of snapshot N. Before N + 3 begins, N + 2 replaces the meta
// page of N. Therefore, bytes belong to the snapshot if its meta page still has
// the number N after they were copied. This is checked after each copy.
//
// liblmdb registers readers in the reader table of lock.mdb, which keeps the
// pages alive. Brew does not, because
// - the folder would have to be writable
// - a process that also has the database open in liblmdb (as Python programs
//   do) would lose its locks, or have its lock file reset
// - a training run, even one that was killed, would make the writer's file grow
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brew::formats {

/// The main tree, as described by a meta page.
struct LmdbTree {
  uint64_t root = 0;
  uint64_t entries = 0; ///< number of records
  unsigned depth = 0;
};

/// A meta page.
struct LmdbMeta {
  uint64_t offset = 0; ///< its offset in the file
  uint64_t transaction = 0;
  uint64_t lastPage = 0;
  uint32_t pageSize = 0;
  LmdbTree tree;
};

enum class LmdbPageKind { Branch, Leaf };

/// An entry of a page.
struct LmdbNode {
  std::string_view key;
  std::string_view value;    ///< empty if the value is in overflow pages
  uint64_t child = 0;        ///< number of the child or first overflow page
  uint64_t overflowSize = 0; ///< size of a value in overflow pages
  bool overflow = false;     ///< the value is in overflow pages
};

/// A page of the tree in memory, with a validated header and pointer array.
struct LmdbPage {
  const char *bytes() const { return buffer.data() + offset; }

  uint64_t number = 0;
  LmdbPageKind kind = LmdbPageKind::Leaf;
  unsigned count = 0; ///< number of entries
  /// The `pages` pages, starting with `firstPage`, that were read at once. This
  /// page begins at `offset` of the buffer.
  std::vector<char> buffer;
  uint64_t firstPage = 0, pages = 0;
  size_t offset = 0;
};

/// An LMDB file. All members throw Error(1) on damage, or if a writer may have
/// overwritten the snapshot, and Error(3) if the file cannot be read.
/// Thread-safe.
class LmdbFile {
public:
  /// Opens FOLDER/data.mdb and reads its meta pages.
  explicit LmdbFile(const std::string &folder);
  ~LmdbFile();
  LmdbFile(const LmdbFile &) = delete;
  LmdbFile &operator=(const LmdbFile &) = delete;

  const LmdbTree &tree() const { return meta.tree; }
  /// Reads a page. `page` contains the page read last at the same level of the
  /// tree, so that adjacent pages are read at once.
  void readPage(uint64_t number, LmdbPageKind expected, LmdbPage &page) const;
  /// Returns entry `index` of a page. Its views point into the page.
  LmdbNode node(const LmdbPage &page, unsigned index) const;
  /// Reads the value of `node` from overflow pages.
  void readOverflow(const LmdbNode &node, std::string &value) const;

  /// Throws Error(1) for a damaged database.
  [[noreturn]] void damaged(const std::string &problem) const;

private:
  void updateFileSize();
  void readMeta();
  std::optional<LmdbMeta> parseMeta(const char *page, uint64_t offset) const;
  void readAt(uint64_t offset, void *buffer, size_t size) const;
  void readSnapshot(uint64_t offset, void *buffer, size_t size) const;
  void readPagesFrom(LmdbPage &page, uint64_t number) const;
  [[noreturn]] void failOverwritten() const;

  std::string folder;
  int fd = -1;
  uint64_t fileSize = 0;
  LmdbMeta meta; ///< the meta page of the snapshot
};

} // namespace brew::formats

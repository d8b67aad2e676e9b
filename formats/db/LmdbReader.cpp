//===- LmdbReader.cpp - Readers of LMDB databases -------------------------===//
#include "formats/db/Backends.h"
#include "formats/db/LmdbFile.h"

namespace brew::formats {
namespace {

class LmdbCursor : public DbCursor {
public:
  explicit LmdbCursor(const LmdbFile &file) : file(file) {
    levels.resize(file.tree().depth);
    rewind();
  }

  void rewind() override {
    passedRecords = 0;
    isCounted = true;
    current.reset();
    lastKey.clear();
    descend(0, file.tree().root);
    enter();
  }

  void next() override {
    if (!current)
      return;
    size_t level = levels.size() - 1;
    while (++levels[level].index >= levels[level].page.count) {
      if (level == 0) {
        moveToEnd();
        return;
      }
      --level;
    }
    if (level + 1 < levels.size())
      descend(level + 1,
              file.node(levels[level].page, levels[level].index).child);
    enter();
  }

  bool find(std::string_view key) override {
    current.reset();
    isCounted = false; // the record's number is unknown
    uint64_t page = file.tree().root;
    for (size_t level = 0; level < levels.size(); ++level) {
      Level &position = levels[level];
      const bool isLeaf = level + 1 == levels.size();
      file.readPage(page, isLeaf ? LmdbPageKind::Leaf : LmdbPageKind::Branch,
                    position.page);
      position.index = lastNotAbove(position.page, isLeaf ? 0 : 1, key);
      if (!isLeaf)
        page = file.node(position.page, position.index).child;
    }
    const LmdbNode found = file.node(levels.back().page, levels.back().index);
    if (found.key != key)
      return false;
    current = found;
    hasReadOverflow = false;
    lastKey.assign(key);
    return true;
  }

  bool valid() const override { return current.has_value(); }
  std::string_view key() const override {
    return current ? current->key : std::string_view();
  }
  std::string_view value() override {
    if (!current)
      return {};
    if (!current->overflow)
      return current->value;
    if (!hasReadOverflow) {
      file.readOverflow(*current, overflow);
      hasReadOverflow = true;
    }
    return overflow;
  }
  void copyValue(std::string &target) override {
    if (current && current->overflow && !hasReadOverflow)
      file.readOverflow(*current, target);
    else
      target = value();
  }

private:
  struct Level {
    LmdbPage page;
    unsigned index = 0;
  };

  /// Sets the levels from `level` down to the leftmost path from a page.
  void descend(size_t level, uint64_t page) {
    for (;; ++level) {
      bool isLeaf = level + 1 == levels.size();
      file.readPage(page, isLeaf ? LmdbPageKind::Leaf : LmdbPageKind::Branch,
                    levels[level].page);
      levels[level].index = 0;
      if (isLeaf)
        return;
      page = file.node(levels[level].page, 0).child;
    }
  }

  /// Returns the index of the last entry of a page, from `first` on, whose key
  /// is not above `key`. If there is no such entry, returns the index before
  /// `first`, or 0. `first` is 1 for a branch page, whose first key is ignored.
  unsigned lastNotAbove(const LmdbPage &page, unsigned first,
                        std::string_view key) const {
    unsigned end = page.count;
    while (first < end) {
      const unsigned middle = first + (end - first) / 2;
      if (file.node(page, middle).key <= key)
        first = middle + 1;
      else
        end = middle;
    }
    return first ? first - 1 : 0;
  }

  /// Moves to the leaf entry that the levels point to. Keys must ascend, and
  /// there must not be more of them than the meta page says, so that iteration
  /// terminates even if pages form loops.
  void enter() {
    current = file.node(levels.back().page, levels.back().index);
    hasReadOverflow = false;
    if ((passedRecords > 0 || !isCounted) &&
        current->key <= std::string_view(lastKey))
      file.damaged("its keys are out of order");
    if (isCounted && ++passedRecords > file.tree().entries)
      file.damaged("it has more records than it says");
    lastKey.assign(current->key);
  }

  /// Moves past the end. Throws if the number of records is wrong.
  void moveToEnd() {
    current.reset();
    if (isCounted && passedRecords != file.tree().entries)
      file.damaged("it has " + std::to_string(passedRecords) +
                   " records, not " + std::to_string(file.tree().entries));
  }

  const LmdbFile &file;
  std::vector<Level> levels; ///< root to leaf
  std::optional<LmdbNode> current;
  std::string overflow;
  bool hasReadOverflow = false;
  std::string lastKey;
  uint64_t passedRecords = 0; ///< including the current record
  bool isCounted = true; ///< false after find(): `passedRecords` is unknown
};

class LmdbReader : public DbReader {
public:
  explicit LmdbReader(const std::string &path) : DbReader(path), file(path) {
    LmdbCursor cursor(file); // checks that the first record is readable
    cursor.value();
  }
  std::unique_ptr<DbCursor> newCursor() override {
    return std::make_unique<LmdbCursor>(file);
  }
  std::optional<uint64_t> count() const override { return file.tree().entries; }

private:
  LmdbFile file;
};

} // namespace

std::unique_ptr<DbReader> openLmdb(const std::string &path) {
  return std::make_unique<LmdbReader>(path);
}

} // namespace brew::formats

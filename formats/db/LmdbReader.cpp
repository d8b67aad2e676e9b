//===- LmdbReader.cpp - Walking an LMDB database --------------------------===//
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
    seen = 0;
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
        finish();
        return;
      }
      --level;
    }
    if (level + 1 < levels.size())
      descend(level + 1,
              file.node(levels[level].page, levels[level].index).child);
    enter();
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
    if (!fetched) {
      file.readOverflow(*current, overflow);
      fetched = true;
    }
    return {overflow.data(), overflow.size()};
  }

private:
  struct Level {
    LmdbPage page;
    unsigned index = 0;
  };

  /// Fills the levels from `level` down with the leftmost path from a page.
  void descend(size_t level, uint64_t page) {
    for (;; ++level) {
      bool leaf = level + 1 == levels.size();
      file.readPage(page, leaf ? LmdbPageKind::Leaf : LmdbPageKind::Branch,
                    levels[level].page);
      levels[level].index = 0;
      if (leaf)
        return;
      page = file.node(levels[level].page, 0).child;
    }
  }

  /// Stands on the leaf entry the levels point at. Keys must ascend and not
  /// outnumber what the meta page says: so even a file whose pages form loops
  /// comes to an end.
  void enter() {
    current = file.node(levels.back().page, levels.back().index);
    fetched = false;
    if (seen > 0 && current->key <= std::string_view(lastKey))
      file.damaged("its keys are out of order");
    if (++seen > file.tree().entries)
      file.damaged("it has more records than it says");
    lastKey.assign(current->key);
  }

  void finish() {
    current.reset();
    if (seen != file.tree().entries)
      file.damaged("it has " + std::to_string(seen) + " records, not " +
                   std::to_string(file.tree().entries));
  }

  const LmdbFile &file;
  std::vector<Level> levels; ///< root to leaf
  std::optional<LmdbNode> current;
  std::vector<char> overflow;
  bool fetched = false;
  std::string lastKey;
  uint64_t seen = 0;
};

class LmdbReader : public DbReader {
public:
  explicit LmdbReader(const std::string &path) : DbReader(path), file(path) {
    LmdbCursor first(file); // the first record at least must be there
    first.value();
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

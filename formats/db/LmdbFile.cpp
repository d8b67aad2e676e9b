//===- LmdbFile.cpp - Bounds-checked access to LMDB files -----------------===//
#include "formats/db/LmdbFile.h"

#include "support/AtomicFile.h"
#include "support/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace brew::formats {
namespace {

// Offsets in a page header: page number (8 bytes), unused (2), flags (2); then
// either the end of the pointer array (2) and the start of the nodes (2), or
// the number of pages of an overflow run (4).
constexpr unsigned headerBytes = 16;
constexpr unsigned flagsAt = 10, lowerAt = 12, upperAt = 14, runPagesAt = 12;
enum PageFlags : unsigned {
  branchPage = 1,
  leafPage = 2,
  overflowPage = 4,
  metaPage = 8,
  fixedSizePage = 0x20,
  subPage = 0x40
};

// Offsets in a meta page, which begins with the page header.
constexpr unsigned magicAt = 16, versionAt = 20, freeTreeAt = 40,
                   mainTreeAt = 88, lastPageAt = 136, transactionAt = 144,
                   metaBytes = 152;
constexpr uint32_t magicNumber = 0xBEEFC0DE, dataVersion = 1;

// Offsets in the description of a tree, relative to freeTreeAt or mainTreeAt.
constexpr unsigned treeFlagsAt = 4, treeDepthAt = 6, treeEntriesAt = 32,
                   treeRootAt = 40;
enum TreeFlags : unsigned {
  reverseKeys = 2,
  duplicateKeys = 4,
  integerKeys = 8
};
constexpr uint64_t noPage = ~uint64_t(0);
constexpr unsigned maximumDepth = 32; // the limit of liblmdb

// A node: the low 32 bits of the value's size or of the child's page number (4
// bytes), flags or the child's high 16 bits (2), size of the key (2), the key,
// the value. `nodeBytes` is the size of the node without key and value.
constexpr unsigned nodeBytes = 8;
enum NodeFlags : unsigned { bigValue = 1, subTree = 2, duplicates = 4 };

template <typename T> T load(const char *bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes + at, sizeof value);
  return value;
}

} // namespace

LmdbFile::LmdbFile(const std::string &folder) : folder(folder) {
  std::string path = folder + "/data.mdb";
  fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    throw unavailable(folder +
                      ": cannot read database: data.mdb: " + errnoText(errno));
  try {
    updateFileSize();
    readMeta();
    updateFileSize(); // a writer may have extended the file
  } catch (...) {
    close(fd);
    throw;
  }
}

LmdbFile::~LmdbFile() { close(fd); }

void LmdbFile::damaged(const std::string &problem) const {
  throw badInput(folder + ": damaged or truncated LMDB database: " + problem);
}

void LmdbFile::failOverwritten() const {
  throw badInput(folder +
                 ": the LMDB database was written to while it was read, and "
                 "its records as of opening may be overwritten by now; wait "
                 "until the writer is done, or read a copy made by mdb_copy");
}

void LmdbFile::updateFileSize() {
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    damaged("data.mdb is not a regular file");
  fileSize = static_cast<uint64_t>(info.st_size);
}

void LmdbFile::readAt(uint64_t offset, void *buffer, size_t size) const {
  if (offset > fileSize || size > fileSize - offset)
    damaged("it refers to bytes beyond the end of data.mdb");
  char *destination = static_cast<char *>(buffer);
  while (size > 0) {
    ssize_t n = pread(fd, destination, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      throw unavailable(folder + ": cannot read database: " + errnoText(errno));
    if (n == 0)
      damaged("data.mdb ends early");
    destination += n;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
}

/// Reads bytes of the snapshot's pages. Throws if a writer may have overwritten
/// them; see LmdbFile.h.
void LmdbFile::readSnapshot(uint64_t offset, void *buffer, size_t size) const {
  readAt(offset, buffer, size);
  uint64_t transaction;
  readAt(meta.offset + transactionAt, &transaction, sizeof transaction);
  if (transaction != meta.transaction)
    failOverwritten();
}

/// Returns the content of a meta page, or nullopt if the page is not a valid
/// one. Throws if it has an unsupported version or order of keys.
std::optional<LmdbMeta> LmdbFile::parseMeta(const char *page,
                                            uint64_t offset) const {
  if (!(load<uint16_t>(page, flagsAt) & metaPage) ||
      load<uint32_t>(page, magicAt) != magicNumber)
    return std::nullopt;
  uint32_t version = load<uint32_t>(page, versionAt);
  if (version != dataVersion)
    damaged("data format version " + std::to_string(version) +
            " (this reader knows version " + std::to_string(dataVersion) + ")");
  LmdbMeta parsed;
  parsed.offset = offset;
  parsed.pageSize = load<uint32_t>(page, freeTreeAt);
  if (parsed.pageSize < 256 || parsed.pageSize > 65536 ||
      (parsed.pageSize & (parsed.pageSize - 1)) != 0)
    return std::nullopt;
  parsed.transaction = load<uint64_t>(page, transactionAt);
  parsed.lastPage = load<uint64_t>(page, lastPageAt);
  unsigned flags = load<uint16_t>(page, mainTreeAt + treeFlagsAt);
  if (flags & (reverseKeys | duplicateKeys | integerKeys))
    throw badInput(folder + ": this LMDB database orders its keys in a way "
                            "that is not supported");
  parsed.tree.depth = load<uint16_t>(page, mainTreeAt + treeDepthAt);
  parsed.tree.entries = load<uint64_t>(page, mainTreeAt + treeEntriesAt);
  parsed.tree.root = load<uint64_t>(page, mainTreeAt + treeRootAt);
  return parsed;
}

/// Selects the snapshot of the newer meta page.
void LmdbFile::readMeta() {
  constexpr int maxReads = 1000;
  if (fileSize < metaBytes)
    damaged("data.mdb has " + std::to_string(fileSize) + " bytes");
  std::vector<char> pages(metaBytes), previousPages;
  readAt(0, pages.data(), metaBytes);
  auto first = parseMeta(pages.data(), 0);
  if (!first)
    throw badInput(folder + ": data.mdb is not an LMDB database");

  // A writer may be replacing one of the meta pages. They are complete if two
  // reads are equal. (The transaction's number is written last.)
  const uint64_t secondOffset = first->pageSize;
  pages.resize(2 * metaBytes);
  for (int reads = 0; reads == 0 || pages != previousPages; ++reads) {
    if (reads == maxReads)
      failOverwritten();
    previousPages = pages;
    readAt(0, pages.data(), metaBytes);
    readAt(secondOffset, pages.data() + metaBytes, metaBytes);
  }
  first = parseMeta(pages.data(), 0);
  const auto second = parseMeta(pages.data() + metaBytes, secondOffset);
  if (!first)
    throw badInput(folder + ": data.mdb is not an LMDB database");
  meta = *first;
  // If the newer page is invalid, the older one is used.
  if (second && second->pageSize == first->pageSize &&
      second->transaction >= first->transaction)
    meta = *second;

  if (meta.tree.root == noPage || meta.tree.entries == 0)
    throw badInput(folder + ": the database contains no records");
  if (meta.tree.depth == 0 || meta.tree.depth > maximumDepth)
    damaged("a tree of depth " + std::to_string(meta.tree.depth));
}

/// Reads page `number`, and later pages if its predecessor was read last: the
/// leaves of a database that was written in the order of its keys are adjacent.
/// The number of pages read at once doubles each time.
void LmdbFile::readPagesFrom(LmdbPage &page, uint64_t number) const {
  constexpr uint64_t maxPages = 16;
  uint64_t pages = 1;
  if (number == page.number + 1)
    pages = std::min({2 * page.pages, maxPages, meta.lastPage + 1 - number,
                      fileSize / meta.pageSize - number});
  pages = std::max<uint64_t>(pages, 1);
  page.pages = 0; // in case reading throws
  page.buffer.resize(pages * meta.pageSize);
  readSnapshot(number * meta.pageSize, page.buffer.data(), page.buffer.size());
  page.firstPage = number;
  page.pages = pages;
}

void LmdbFile::readPage(uint64_t number, LmdbPageKind expected,
                        LmdbPage &page) const {
  std::string name = "page " + std::to_string(number);
  if (number < 2 || number > meta.lastPage || number > fileSize / meta.pageSize)
    damaged("it refers to " + name + ", which is not there");
  if (number < page.firstPage || number - page.firstPage >= page.pages)
    readPagesFrom(page, number);
  page.offset = (number - page.firstPage) * meta.pageSize;
  page.number = number;
  page.kind = expected;
  unsigned flags = load<uint16_t>(page.bytes(), flagsAt);
  unsigned expectedFlag =
      expected == LmdbPageKind::Branch ? branchPage : leafPage;
  unsigned kindFlags =
      branchPage | leafPage | overflowPage | metaPage | fixedSizePage | subPage;
  if (load<uint64_t>(page.bytes(), 0) != number ||
      (flags & kindFlags) != expectedFlag)
    damaged(name + " is not the " +
            (expected == LmdbPageKind::Branch ? "branch" : "leaf") +
            " page it should be");
  unsigned lower = load<uint16_t>(page.bytes(), lowerAt);
  unsigned upper = load<uint16_t>(page.bytes(), upperAt);
  if (lower < headerBytes || lower > upper || upper > meta.pageSize ||
      lower % 2 != 0)
    damaged(name + " has no valid header");
  page.count = (lower - headerBytes) / 2;
  if (page.count == 0)
    damaged(name + " is empty");
}

LmdbNode LmdbFile::node(const LmdbPage &page, unsigned index) const {
  auto fail = [&] {
    damaged("entry " + std::to_string(index) + " of page " +
            std::to_string(page.number) + " makes no sense");
  };
  const char *bytes = page.bytes();
  size_t at = load<uint16_t>(bytes, headerBytes + 2 * size_t(index));
  size_t pointersEnd = headerBytes + 2 * size_t(page.count);
  if (at < pointersEnd || at + nodeBytes > meta.pageSize)
    fail();
  uint64_t low = load<uint16_t>(bytes, at);
  uint64_t high = load<uint16_t>(bytes, at + 2);
  unsigned flags = load<uint16_t>(bytes, at + 4);
  size_t keySize = load<uint16_t>(bytes, at + 6);
  size_t keyAt = at + nodeBytes;
  if (keySize > meta.pageSize - keyAt)
    fail();
  LmdbNode node;
  node.key = {bytes + keyAt, keySize};
  size_t valueAt = keyAt + keySize;
  if (page.kind == LmdbPageKind::Branch) {
    node.child = low | high << 16 | uint64_t(flags) << 32;
    return node;
  }
  if (flags & (subTree | duplicates))
    throw badInput(folder + ": the LMDB database holds named databases or "
                            "several values per key, which are not supported");
  uint64_t size = low | high << 16;
  if (flags & bigValue) {
    if (meta.pageSize - valueAt < sizeof(uint64_t))
      fail();
    node.overflow = true;
    node.child = load<uint64_t>(bytes, valueAt);
    node.overflowSize = size;
  } else {
    if (size > meta.pageSize - valueAt)
      fail();
    node.value = {bytes + valueAt, static_cast<size_t>(size)};
  }
  return node;
}

void LmdbFile::readOverflow(const LmdbNode &node, std::string &value) const {
  std::string name = "overflow page " + std::to_string(node.child);
  if (node.child < 2 || node.child > meta.lastPage ||
      node.child > fileSize / meta.pageSize)
    damaged("it refers to " + name + ", which is not there");
  char header[headerBytes];
  uint64_t offset = node.child * meta.pageSize;
  readSnapshot(offset, header, headerBytes);
  uint64_t runBytes =
      uint64_t(load<uint32_t>(header, runPagesAt)) * meta.pageSize;
  if (load<uint64_t>(header, 0) != node.child ||
      !(load<uint16_t>(header, flagsAt) & overflowPage) ||
      runBytes < headerBytes + node.overflowSize)
    damaged(name + " is not the page it should be");
  // This check comes before the allocation of memory for the value.
  if (node.overflowSize > fileSize - offset - headerBytes)
    damaged("a value goes beyond the end of data.mdb");
  value.resize(static_cast<size_t>(node.overflowSize));
  readSnapshot(offset + headerBytes, value.data(), value.size());
}

} // namespace brew::formats

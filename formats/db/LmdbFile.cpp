//===- LmdbFile.cpp - The bytes of an LMDB file ---------------------------===//
#include "formats/db/LmdbFile.h"

#include "formats/AtomicFile.h"
#include "formats/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace brew::formats {
namespace {

// Page header: 8 bytes page number, 2 unused, 2 flags, then 2 + 2 bytes end of
// the pointer array and start of the nodes, or 4 bytes length of an overflow
// run.
constexpr unsigned headerBytes = 16;
constexpr unsigned flagsAt = 10, lowerAt = 12, upperAt = 14, runAt = 12;
enum PageFlags : unsigned {
  branchPage = 1,
  leafPage = 2,
  overflowPage = 4,
  metaPage = 8,
  fixedSizePage = 0x20,
  subPage = 0x40
};

// Meta, from the header on.
constexpr unsigned magicAt = 16, versionAt = 20, freeTreeAt = 40,
                   mainTreeAt = 88, lastPageAt = 136, transactionAt = 144,
                   metaBytes = 152;
constexpr uint32_t magicNumber = 0xBEEFC0DE, dataVersion = 1;

// Tree record in a meta page.
constexpr unsigned treeFlagsAt = 4, treeDepthAt = 6, treeEntriesAt = 32,
                   treeRootAt = 40;
enum TreeFlags : unsigned {
  reverseKeys = 2,
  duplicateKeys = 4,
  integerKeys = 8
};
constexpr uint64_t noPage = ~uint64_t(0);
constexpr unsigned maximumDepth = 32; // liblmdb's own limit

// Node: 2 + 2 bytes low words of size or child, 2 flags or the child's high
// word, 2 key size, the key, the value.
constexpr unsigned nodeBytes = 8;
enum NodeFlags : unsigned { bigValue = 1, subTree = 2, duplicates = 4 };

template <typename T> T load(const std::vector<char> &bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

} // namespace

LmdbFile::LmdbFile(const std::string &folder) : folder(folder) {
  std::string path = folder + "/data.mdb";
  fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    throw machineLacks(folder +
                       ": cannot read database: data.mdb: " + errnoText(errno));
  try {
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
      damaged("data.mdb is no regular file");
    fileSize = static_cast<uint64_t>(info.st_size);
    readMeta();
  } catch (...) {
    close(fd);
    throw;
  }
}

LmdbFile::~LmdbFile() { close(fd); }

void LmdbFile::damaged(const std::string &what) const {
  throw badInput(folder + ": damaged or truncated LMDB database: " + what);
}

void LmdbFile::readAt(uint64_t offset, void *to, size_t size) const {
  if (offset > fileSize || size > fileSize - offset)
    damaged("it refers to bytes beyond the end of data.mdb");
  char *into = static_cast<char *>(to);
  while (size > 0) {
    ssize_t n = pread(fd, into, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      throw machineLacks(folder +
                         ": cannot read database: " + errnoText(errno));
    if (n == 0)
      damaged("data.mdb ends early");
    into += n;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
}

/// Takes over what a meta page says, if it is valid.
bool LmdbFile::parseMeta(const std::vector<char> &page, uint64_t &transaction) {
  if (!(load<uint16_t>(page, flagsAt) & metaPage) ||
      load<uint32_t>(page, magicAt) != magicNumber)
    return false;
  uint32_t version = load<uint32_t>(page, versionAt);
  if (version != dataVersion)
    damaged("data format version " + std::to_string(version) +
            " (this reader knows version " + std::to_string(dataVersion) + ")");
  uint32_t size = load<uint32_t>(page, freeTreeAt);
  if (size < 256 || size > 65536 || (size & (size - 1)) != 0)
    return false;
  pageSize = size;
  transaction = load<uint64_t>(page, transactionAt);
  lastPage = load<uint64_t>(page, lastPageAt);
  unsigned flags = load<uint16_t>(page, mainTreeAt + treeFlagsAt);
  if (flags & (reverseKeys | duplicateKeys | integerKeys))
    throw badInput(folder + ": this LMDB database orders its keys in a way "
                            "that is not supported");
  mainTree.depth = load<uint16_t>(page, mainTreeAt + treeDepthAt);
  mainTree.entries = load<uint64_t>(page, mainTreeAt + treeEntriesAt);
  mainTree.root = load<uint64_t>(page, mainTreeAt + treeRootAt);
  return true;
}

void LmdbFile::readMeta() {
  if (fileSize < metaBytes)
    damaged("data.mdb has " + std::to_string(fileSize) + " bytes");
  std::vector<char> first(metaBytes), second(metaBytes);
  readAt(0, first.data(), metaBytes);
  uint64_t firstTransaction = 0, secondTransaction = 0;
  if (!parseMeta(first, firstTransaction))
    throw badInput(folder + ": data.mdb is not an LMDB database");
  uint32_t size = pageSize;
  readAt(size, second.data(), metaBytes);
  // The older of the two serves when the newer was not written whole.
  if (!parseMeta(second, secondTransaction) || pageSize != size ||
      secondTransaction < firstTransaction)
    parseMeta(first, firstTransaction);

  if (mainTree.root == noPage || mainTree.entries == 0)
    throw badInput(folder + ": the database holds no records");
  if (mainTree.depth == 0 || mainTree.depth > maximumDepth)
    damaged("a tree of depth " + std::to_string(mainTree.depth));
}

void LmdbFile::readPage(uint64_t number, LmdbPageKind expected,
                        LmdbPage &page) const {
  std::string name = "page " + std::to_string(number);
  if (number < 2 || number > lastPage || number > fileSize / pageSize)
    damaged("it refers to " + name + ", which is not there");
  page.bytes.resize(pageSize);
  readAt(number * pageSize, page.bytes.data(), pageSize);
  page.number = number;
  page.kind = expected;
  unsigned flags = load<uint16_t>(page.bytes, flagsAt);
  unsigned wanted = expected == LmdbPageKind::Branch ? branchPage : leafPage;
  unsigned kinds =
      branchPage | leafPage | overflowPage | metaPage | fixedSizePage | subPage;
  if (load<uint64_t>(page.bytes, 0) != number || (flags & kinds) != wanted)
    damaged(name + " is not the " +
            (expected == LmdbPageKind::Branch ? "branch" : "leaf") +
            " page it should be");
  unsigned lower = load<uint16_t>(page.bytes, lowerAt);
  unsigned upper = load<uint16_t>(page.bytes, upperAt);
  if (lower < headerBytes || lower > upper || upper > pageSize ||
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
  const std::vector<char> &bytes = page.bytes;
  size_t at = load<uint16_t>(bytes, headerBytes + 2 * size_t(index));
  size_t pointersEnd = headerBytes + 2 * size_t(page.count);
  if (at < pointersEnd || at + nodeBytes > pageSize)
    fail();
  uint64_t low = load<uint16_t>(bytes, at);
  uint64_t high = load<uint16_t>(bytes, at + 2);
  unsigned flags = load<uint16_t>(bytes, at + 4);
  size_t keySize = load<uint16_t>(bytes, at + 6);
  size_t keyAt = at + nodeBytes;
  if (keySize > pageSize - keyAt)
    fail();
  LmdbNode node;
  node.key = {bytes.data() + keyAt, keySize};
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
    if (pageSize - valueAt < sizeof(uint64_t))
      fail();
    node.overflow = true;
    node.child = load<uint64_t>(bytes, valueAt);
    node.overflowSize = size;
  } else {
    if (size > pageSize - valueAt)
      fail();
    node.value = {bytes.data() + valueAt, static_cast<size_t>(size)};
  }
  return node;
}

void LmdbFile::readOverflow(const LmdbNode &node,
                            std::vector<char> &value) const {
  std::string name = "overflow page " + std::to_string(node.child);
  if (node.child < 2 || node.child > lastPage ||
      node.child > fileSize / pageSize)
    damaged("it refers to " + name + ", which is not there");
  std::vector<char> header(headerBytes);
  uint64_t offset = node.child * pageSize;
  readAt(offset, header.data(), headerBytes);
  uint64_t room = uint64_t(load<uint32_t>(header, runAt)) * pageSize;
  if (load<uint64_t>(header, 0) != node.child ||
      !(load<uint16_t>(header, flagsAt) & overflowPage) ||
      room < headerBytes + node.overflowSize)
    damaged(name + " is not the page it should be");
  // Before memory is taken for it: it must be there.
  if (node.overflowSize > fileSize - offset - headerBytes)
    damaged("a value goes beyond the end of data.mdb");
  value.resize(static_cast<size_t>(node.overflowSize));
  readAt(offset + headerBytes, value.data(), value.size());
}

} // namespace brew::formats

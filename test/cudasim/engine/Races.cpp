//===- Races.cpp - Detection of data races --------------------------------===//
//
// The slow path of device/Memory.h, for elements that were accessed before by
// another thread or before a barrier.
//
//===----------------------------------------------------------------------===//
#include "Engine.h"

#include <algorithm>
#include <cstdio>
#include <sys/mman.h>

namespace cudasim {

namespace {

/// The fields of a stamp.
struct StampFields {
  unsigned thread, warpEpoch, blockEpoch;
  ReaderSpan span;
  unsigned upper;

  explicit StampFields(Stamp stamp)
      : thread(stamp & kEpochMask), warpEpoch(stamp >> 10 & kEpochMask),
        blockEpoch(stamp >> 20 & kEpochMask),
        span(static_cast<ReaderSpan>(stamp >> kSpanShift & 3)),
        upper(static_cast<unsigned>(stamp >> 32)) {}
  unsigned warp() const { return thread / 32; }
};

constexpr unsigned kSharedShift = 32;

/// The relation between an earlier access and the current one.
enum class Relation {
  Ordered,    // by a barrier or counter, or by the same thread
  SameWarp,   // both since the warp's last barrier
  SameBlock,  // both since the block's last barrier
  OtherBlock, // in unordered blocks
};

/// Returns whether the block with stamps `upper` belongs to a stage before the
/// last barrier of all blocks.
bool precedesBarrier(unsigned upper) {
  constexpr unsigned kBlockMask = (1u << (kLaunchShift - 32)) - 1;
  return (upper & kBlockMask) < launchState.firstSinceBarrier;
}

/// `isShared` selects shared memory, whose stamps have other block numbers.
Relation relate(const StampFields &earlier, const StampFields &now,
                bool isShared) {
  if (!isShared && precedesBarrier(earlier.upper))
    return Relation::Ordered;
  if (earlier.span == Grid)
    return Relation::OtherBlock;
  if (earlier.upper != now.upper)
    return happensBefore(earlier.upper, earlier.blockEpoch)
               ? Relation::Ordered
               : Relation::OtherBlock;
  if (earlier.blockEpoch != now.blockEpoch)
    return Relation::Ordered;
  if (earlier.span == OneThread && earlier.thread == now.thread)
    return Relation::Ordered;
  if (earlier.span == OneBlock || earlier.warp() != now.warp())
    return Relation::SameBlock;
  return earlier.warpEpoch == now.warpEpoch ? Relation::SameWarp
                                            : Relation::Ordered;
}

Stamp currentGlobalStamp() {
  return cudasim_context.globalBlock | cudasim_context.self;
}
Stamp currentSharedStamp() {
  return cudasim_context.sharedBlock | cudasim_context.self;
}

/// Returns whether a stamp is from an earlier launch or, for shared memory,
/// from an earlier block.
bool isOlder(Stamp stamp, Stamp now, unsigned shift) {
  return (stamp ^ now) >> shift != 0;
}

/// Formats the other thread or threads of a stamp.
struct OtherThreads {
  char text[96];
  OtherThreads(Stamp stamp, Relation relation) {
    StampFields fields(stamp);
    if (fields.span != OneThread)
      std::snprintf(text, sizeof(text), "other threads");
    else if (relation == Relation::OtherBlock)
      std::snprintf(text, sizeof(text), "thread %s of another block",
                    ThreadName(fields.thread).text);
    else
      std::snprintf(text, sizeof(text), "thread %s",
                    ThreadName(fields.thread).text);
  }
};

[[noreturn]] void reportRace(const char *memory, const char *name,
                             long long index, bool nowWrites, Stamp other,
                             bool otherWrote, Relation relation) {
  reportFinding(
      "race on %s%s[%lld]: this thread %s it and %s %s it, with no barrier "
      "between",
      memory, name, index, nowWrites ? "writes" : "reads",
      OtherThreads(other, relation).text, otherWrote ? "wrote" : "read");
}

void checkWrite(const char *memory, const char *name, long long index,
                Stamp writer, Stamp reader, Stamp now, unsigned shift) {
  StampFields current(now);
  for (bool wrote : {true, false}) {
    Stamp other = wrote ? writer : reader;
    if (isOlder(other, now, shift))
      continue;
    StampFields fields(other);
    // A stamp of several readers includes threads other than this one.
    Relation relation = relate(fields, current, shift == kSharedShift);
    if (relation != Relation::Ordered)
      reportRace(memory, name, index, true, other, wrote, relation);
  }
}

void checkRead(const char *memory, const char *name, long long index,
               Stamp writer, Stamp *reader, Stamp now, unsigned shift) {
  StampFields current(now);
  if (!isOlder(writer, now, shift)) {
    Relation relation =
        relate(StampFields(writer), current, shift == kSharedShift);
    if (relation != Relation::Ordered)
      reportRace(memory, name, index, false, writer, true, relation);
  }
  if (isOlder(*reader, now, shift)) {
    *reader = now;
    return;
  }
  Relation relation =
      relate(StampFields(*reader), current, shift == kSharedShift);
  ReaderSpan span = relation == Relation::Ordered     ? OneThread
                    : relation == Relation::SameWarp  ? OneWarp
                    : relation == Relation::SameBlock ? OneBlock
                                                      : Grid;
  *reader = now | static_cast<Stamp>(span) << kSpanShift;
}

} // namespace

extern "C" {

void cudasim_check_write(const Argument *argument, long long index,
                         const Stamp *writer, const Stamp *reader) {
  checkWrite("", argument->name, index, *writer, *reader, currentGlobalStamp(),
             kLaunchShift);
}

void cudasim_check_read(const Argument *argument, long long index,
                        const Stamp *writer, Stamp *reader) {
  checkRead("", argument->name, index, *writer, reader, currentGlobalStamp(),
            kLaunchShift);
}

void cudasim_check_shared_write(const SharedInfo *info, long long index,
                                const Stamp *writer, const Stamp *reader) {
  checkWrite("shared ", info->name, index, *writer, *reader,
             currentSharedStamp(), kSharedShift);
}

void cudasim_check_shared_read(const SharedInfo *info, long long index,
                               const Stamp *writer, Stamp *reader) {
  checkRead("shared ", info->name, index, *writer, reader, currentSharedStamp(),
            kSharedShift);
}
}

//===----------------------------------------------------------------------===//
// Stamps of global memory
//===----------------------------------------------------------------------===//

namespace {

/// Memory for stamps that all launches reuse. It is only cleared when the
/// launch numbers wrap around.
class StampStore {
public:
  /// Ensures room for `count` stamps. Stamps of earlier launches remain; their
  /// launch numbers make them invalid.
  void reserve(std::uint64_t count) {
    if (count > capacity) {
      release();
      capacity = std::max<std::uint64_t>(count, 1 << 16);
      void *memory =
          mmap(nullptr, capacity * sizeof(Stamp), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED)
        reportLaunchFinding("no memory for %llu stamps of written elements",
                            static_cast<unsigned long long>(count));
      stamps = static_cast<Stamp *>(memory);
    }
  }
  void clear() {
    if (stamps)
      madvise(stamps, capacity * sizeof(Stamp), MADV_DONTNEED);
  }
  Stamp *begin() const { return stamps; }

private:
  void release() {
    if (stamps)
      munmap(stamps, capacity * sizeof(Stamp));
    stamps = nullptr;
  }
  Stamp *stamps = nullptr;
  std::uint64_t capacity = 0;
};

StampStore writers, readers;
Stamp launchNumber;

std::uintptr_t begin(const Argument *argument) {
  return reinterpret_cast<std::uintptr_t>(argument->data);
}
std::uintptr_t end(const Argument *argument) {
  return begin(argument) + argument->count * argument->elementSize;
}

} // namespace

void prepareStamps(std::vector<Argument *> written) {
  std::sort(
      written.begin(), written.end(),
      [](const Argument *a, const Argument *b) { return begin(a) < begin(b); });
  // Arguments that share memory share stamps, one per unit of their smallest
  // element size. Computes all offsets before it reserves the memory.
  struct StampRange {
    Argument *argument;
    std::uint64_t offset;
  };
  std::vector<StampRange> ranges;
  std::uint64_t total = 0;
  for (std::size_t first = 0; first < written.size();) {
    std::size_t last = first;
    std::uintptr_t low = begin(written[first]), high = end(written[first]);
    unsigned unit = written[first]->elementSize;
    while (++last < written.size() && begin(written[last]) < high) {
      high = std::max(high, end(written[last]));
      unit = std::min(unit, written[last]->elementSize);
    }
    for (; first < last; ++first) {
      written[first]->span = written[first]->elementSize / unit;
      ranges.push_back(
          {written[first], total + (begin(written[first]) - low) / unit});
    }
    total += (high - low + unit - 1) / unit;
  }

  launchNumber = (launchNumber + 1) % (1u << 10);
  if (launchNumber == 0) {
    writers.clear();
    readers.clear();
    launchNumber = 1;
  }
  writers.reserve(total);
  readers.reserve(total);
  for (const StampRange &range : ranges) {
    range.argument->writers = writers.begin() + range.offset;
    range.argument->readers = readers.begin() + range.offset;
  }
  cudasim_context.globalBlock = launchNumber << kLaunchShift;
}

} // namespace cudasim

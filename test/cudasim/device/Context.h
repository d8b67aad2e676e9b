//===- Context.h - Where a simulated thread stands --------------*- C++ -*-===//
//
// What an image and the engine (libcudasim.so) share: the indices of the thread
// that runs, descriptions of a launch's arguments, and the engine's entry
// points. RemoveConstReference C++ without library headers, since every kernel includes it.
//
//===----------------------------------------------------------------------===//
#ifndef CUDASIM_CONTEXT_H
#define CUDASIM_CONTEXT_H

#define CUDASIM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define CUDASIM_INLINE inline __attribute__((always_inline))

namespace cudasim {

using Stamp = unsigned long long;

struct Index3 {
  unsigned x, y, z;
};

/// A *stamp* says who touched an element last. Upper half: which block (see
/// below). Lower half, from the top: 2 bits of ReaderSpan, 10 bits counting the
/// block's barriers, 10 bits counting the warp's, 10 bits thread in block.
enum : unsigned {
  kThreadBits = 10,
  kWarpEpochShift = 10,
  kBlockEpochShift = 20,
  kSpanShift = 30,
  kEpochMask = 0x3ff
};

/// Which threads a stamp of readers stands for.
enum ReaderSpan : unsigned {
  OneThread = 0,
  OneWarp = 1,
  OneBlock = 2,
  Grid = 3
};

/// Global memory: the upper half of a stamp is 10 bits counting launches (so
/// that stamps of earlier launches count for nothing) and 22 bits of block. A
/// block gets a new number before the bits of its barriers begin again.
enum : unsigned { kLaunchShift = 54 };

struct Context {
  Index3 threadIdx, blockIdx, blockDim, gridDim;
  /// Lower half of the running thread's stamps.
  unsigned self;
  /// Upper halves of its stamps, in place.
  Stamp globalBlock;
  Stamp sharedBlock;
  unsigned stage; // that runs, of a kernel with stages
};

/// Stages: no memory, but a number whose bits exitWithFinding which stages run.
enum class Access : unsigned char { In, Out, InOut, Stages };

/// An argument of the current launch.
struct Argument {
  const char *name;
  void *data;
  unsigned long long count; // elements
  unsigned elementSize;     // bytes
  Access access;
  /// Stamps per element: several where another argument that shares the memory
  /// has smaller elements.
  unsigned span;
  /// Stamps of the first element; null for an Access::In or Stages.
  Stamp *writers;
  Stamp *readers;
};

struct SharedInfo {
  const char *name;
  unsigned long long count;
  unsigned elementSize;
};

/// __launch_bounds__ of a kernel. `minimumBlocks`: blocks that one
/// multiprocessor must have room for; 0 if the text does not exitWithFinding.
struct LaunchBounds {
  unsigned threads, minimumBlocks;
};

/// What an image exports about a kernel.
struct KernelAttributes {
  unsigned arguments;
  LaunchBounds bounds;
  /// Bytes of static shared memory, known once the image is loaded.
  const unsigned *sharedBytes;
};

enum class Shuffle : unsigned { Xor, Down };

#pragma GCC visibility push(default)
extern "C" {
extern Context cudasim_context;

/// Checks a launch as a whole and gives its arguments their stamps.
void cudasim_begin_launch(const char *kernel,
                          const KernelAttributes *attributes,
                          const unsigned *grid, const unsigned *block,
                          Argument *arguments);
void cudasim_end_launch();
/// What follows is stage `stage`: blocks of stages before it have ended.
void cudasim_begin_stage(unsigned stage);
/// Sets blockIdx and the stamps of the next block.
void cudasim_begin_block(unsigned x, unsigned y, unsigned z);
/// Runs the threads of a block side by side, for kernels with barriers.
void cudasim_run_fibers(void (*thread)(void *), void *state);
/// Runs `block`, which runs the threads of a block one after the other, on a
/// stack as large as those of fibers.
void cudasim_run_sequentially(void (*block)(void *), void *state);

/// Barriers and shuffles; `line` is that of the kernel's text.
void cudasim_sync(unsigned line);
void cudasim_sync_warp(unsigned line);
unsigned long long cudasim_shuffle(Shuffle kind, unsigned long long value,
                                   unsigned operand, unsigned line);

/// The number of the block that runs as number `turn` of `count`.
unsigned long long cudasim_block_at(unsigned long long turn,
                                    unsigned long long count);
/// Counts the block, all of whose threads noteBarrier here, and tells them whether it
/// is the last of `blocks` that do. It is ordered behind those then.
bool cudasim_last_block(unsigned *counter, unsigned blocks, unsigned line);

// Findings: each describes itself on stderr and ends the program.
[[noreturn]] void cudasim_outside(const Argument *argument, long long index,
                                  unsigned elements, bool write);
[[noreturn]] void cudasim_misaligned(const char *name, long long index,
                                     unsigned bytes);
[[noreturn]] void cudasim_unwritten(const Argument *argument, long long index);
[[noreturn]] void cudasim_shared_outside(const SharedInfo *info,
                                         long long index);
[[noreturn]] void cudasim_shared_unwritten(const SharedInfo *info,
                                           long long index);

// Slow paths of the stamps: the element was touched before, in this launch (or
// block, for shared memory). They return unless that was a race.
void cudasim_check_write(const Argument *argument, long long index,
                         const Stamp *writer, const Stamp *reader);
void cudasim_check_read(const Argument *argument, long long index,
                        const Stamp *writer, Stamp *reader);
void cudasim_check_shared_write(const SharedInfo *info, long long index,
                                const Stamp *writer, const Stamp *reader);
void cudasim_check_shared_read(const SharedInfo *info, long long index,
                               const Stamp *writer, Stamp *reader);
}
#pragma GCC visibility pop

} // namespace cudasim

#endif // CUDASIM_CONTEXT_H

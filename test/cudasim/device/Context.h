//===- Context.h - The state of the simulated thread ------------*- C++ -*-===//
//
// The interface between kernel images and the engine (libcudasim.so): the
// indices of the running thread, descriptions of a launch's arguments, and the
// engine's entry points. Uses no library headers, since every kernel includes
// it.
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

/// A *stamp* identifies the last thread that accessed an element. The upper
/// half identifies its block (see below). The lower half is, from the top: 2
/// bits of ReaderSpan, 10 bits counting the block's barriers, 10 bits counting
/// the warp's barriers, 10 bits of the thread's number in the block.
enum : unsigned {
  kThreadBits = 10,
  kWarpEpochShift = 10,
  kBlockEpochShift = 20,
  kSpanShift = 30,
  kEpochMask = 0x3ff
};

/// The set of threads that a reader's stamp represents.
enum ReaderSpan : unsigned {
  OneThread = 0,
  OneWarp = 1,
  OneBlock = 2,
  Grid = 3
};

/// For global memory, the upper half of a stamp is 10 bits counting launches
/// (so that stamps of earlier launches are ignored) and 22 bits of block
/// number. A block gets a new number before its barrier count wraps around.
enum : unsigned { kLaunchShift = 54 };

struct Context {
  Index3 threadIdx, blockIdx, blockDim, gridDim;
  /// Lower half of the running thread's stamps.
  unsigned self;
  /// Upper halves of its stamps, already shifted.
  Stamp globalBlock;
  Stamp sharedBlock;
  unsigned stage; // the running stage of a kernel with stages
};

/// The access of a kernel to an argument. Stages: the argument is not memory
/// but a bit mask of the stages to run.
enum class Access : unsigned char { In, Out, InOut, Stages };

/// An argument of the current launch.
struct Argument {
  const char *name;
  void *data;
  unsigned long long count; // elements
  unsigned elementSize;     // bytes
  Access access;
  /// Stamps per element: several if an argument that shares the memory has
  /// smaller elements.
  unsigned span;
  /// Stamps of the first element; null for Access::In and Access::Stages.
  Stamp *writers;
  Stamp *readers;
};

struct SharedInfo {
  const char *name;
  unsigned long long count;
  unsigned elementSize;
};

/// __launch_bounds__ of a kernel. `minimumBlocks` is the required number of
/// resident blocks per multiprocessor; 0 if the text names none.
struct LaunchBounds {
  unsigned threads, minimumBlocks;
};

/// Attributes of a kernel, which its image exports.
struct KernelAttributes {
  unsigned arguments;
  LaunchBounds bounds;
  /// Bytes of static shared memory; valid once the image is loaded.
  const unsigned *sharedBytes;
};

enum class Shuffle : unsigned { Xor, Down };

#pragma GCC visibility push(default)
extern "C" {
extern Context cudasim_context;

/// Checks the arguments and dimensions of a launch and sets the stamps of its
/// arguments.
void cudasim_begin_launch(const char *kernel,
                          const KernelAttributes *attributes,
                          const unsigned *grid, const unsigned *block,
                          Argument *arguments);
void cudasim_end_launch();
/// Begins stage `stage`. All blocks of earlier stages must have ended.
void cudasim_begin_stage(unsigned stage);
/// Orders the running stage after all earlier ones.
void cudasim_stage_barrier();
/// Begins a block: sets blockIdx and the upper halves of stamps.
void cudasim_begin_block(unsigned x, unsigned y, unsigned z);
/// Runs the threads of a block as fibers, for kernels with barriers or
/// shuffles.
void cudasim_run_fibers(void (*thread)(void *), void *state);
/// Calls `block`, which runs the threads of a block one after the other, on a
/// fiber's stack.
void cudasim_run_sequentially(void (*block)(void *), void *state);

/// Barriers and shuffles; `line` is a line of the kernel's text.
void cudasim_sync(unsigned line);
void cudasim_sync_warp(unsigned line);
unsigned long long cudasim_shuffle(Shuffle kind, unsigned long long value,
                                   unsigned operand, unsigned line);

/// Returns the number of the block that runs as the `turn`-th of `count`.
unsigned long long cudasim_block_at(unsigned long long turn,
                                    unsigned long long count);
/// A barrier of the block that increments `counter`. Returns to all threads
/// whether the block is the last of `blocks`; all accesses before the calls of
/// the other blocks then happen before its later accesses.
bool cudasim_last_block(unsigned *counter, unsigned blocks, unsigned line);

// Findings: each prints a message to stderr and ends the program.
[[noreturn]] void cudasim_outside(const Argument *argument, long long index,
                                  unsigned elements, bool write);
[[noreturn]] void cudasim_misaligned(const char *name, long long index,
                                     unsigned bytes);
[[noreturn]] void cudasim_unwritten(const Argument *argument, long long index);
[[noreturn]] void cudasim_shared_outside(const SharedInfo *info,
                                         long long index);
[[noreturn]] void cudasim_shared_unwritten(const SharedInfo *info,
                                           long long index);

// Slow paths of the race check, for elements that were accessed before in this
// launch (for shared memory: in this block). They return unless they find a
// race.
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

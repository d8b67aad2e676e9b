//===- cudasim.h - CUDA C++ as the host compiler sees it --------*- C++ -*-===//
//
// Included by the prelude of a kernel's text if BREW_CUDASIM is defined.
// Defines the macros of Brew's kernels with checks; NVRTC compiles the same
// text for GPUs.
//
// Arguments and shared arrays may be used as `name[index]`, arguments also in
// BREW_LOAD and BREW_STORE. `compile` appends two macros to the text:
// CUDASIM_LAUNCH_BOUNDS, the arguments of __launch_bounds__ on a GPU, and
// CUDASIM_EXPORT, which exports a kernel's entry point and its attributes for
// the simulated driver.
//
//===----------------------------------------------------------------------===//
#ifndef CUDASIM_H
#define CUDASIM_H

#include "Half.h"
#include "Launch.h"
#include "Math.h"

#define __host__
#define __device__
#define __global__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

#define threadIdx (::cudasim::cudasim_context.threadIdx)
#define blockIdx (::cudasim::cudasim_context.blockIdx)
#define blockDim (::cudasim::cudasim_context.blockDim)
#define gridDim (::cudasim::cudasim_context.gridDim)
static constexpr int warpSize = 32;

#define BREW_KERNEL(name, threads)                                             \
  static constexpr unsigned cudasim_threads_##name = threads;                  \
  static __attribute__((noinline)) void cudasim_body_##name
#define CUDASIM_EXPORT(name)                                                   \
  extern "C" __attribute__((visibility("default")))                            \
  const ::cudasim::KernelAttributes cudasim_attributes_##name = {              \
      ::cudasim::argumentCount(cudasim_body_##name),                           \
      {CUDASIM_LAUNCH_BOUNDS(cudasim_threads_##name)},                         \
      &::cudasim::sharedBytes};                                                \
  extern "C"                                                                   \
      __attribute__((visibility("default"))) void cudasim_kernel_##name(       \
          const unsigned *grid, const unsigned *block, void **arguments) {     \
    ::cudasim::launch(#name, cudasim_attributes_##name, cudasim_body_##name,   \
                      grid, block, arguments);                                 \
  }

#define BREW_IN(type, name, count)                                             \
  const ::cudasim::GlobalIn<type, (count), #name> &name
#define BREW_OUT(type, name, count)                                            \
  const ::cudasim::GlobalOut<type, (count), ::cudasim::Access::Out, #name> &name
#define BREW_INOUT(type, name, count)                                          \
  const ::cudasim::GlobalOut<type, (count), ::cudasim::Access::InOut, #name>   \
      &name
#define CUDASIM_DECLARE_SHARED(bytes)                                          \
  ::cudasim::SharedDeclaration<(bytes), decltype([] {})>::note()
#define BREW_SHARED(type, name, count)                                         \
  CUDASIM_DECLARE_SHARED(sizeof(type) * (count));                              \
  static ::cudasim::SharedCells<type, (count)> name##_cells;                   \
  const ::cudasim::SharedArray<type, (count)> name(name##_cells, #name)

#define BREW_SHARED_POOL(name, bytes)                                          \
  using name = ::cudasim::SharedPool<(bytes)>;                                 \
  CUDASIM_DECLARE_SHARED(bytes)
#define BREW_SHARED_SLICE(type, name, count, pool, offset)                     \
  static_assert((offset) % 16 == 0 &&                                          \
                    (offset) + sizeof(type) * (count) <= pool::bytes,          \
                "a shared array lies outside of the stages' memory");          \
  static ::cudasim::SharedCells<type, (count)> name##_cells;                   \
  const ::cudasim::SharedArray<type, (count)> name(name##_cells, #name)

#define BREW_SYNC()                                                            \
  (::cudasim::noteBarrier(), ::cudasim::cudasim_sync(__LINE__))
#define BREW_SYNC_WARP()                                                       \
  (::cudasim::noteBarrier(), ::cudasim::cudasim_sync_warp(__LINE__))
#define BREW_SHUFFLE_XOR(value, mask)                                          \
  (::cudasim::noteBarrier(),                                                   \
   ::cudasim::shuffle(::cudasim::Shuffle::Xor, value, mask, __LINE__))
#define BREW_SHUFFLE_DOWN(value, delta)                                        \
  (::cudasim::noteBarrier(),                                                   \
   ::cudasim::shuffle(::cudasim::Shuffle::Down, value, delta, __LINE__))

#define BREW_COUNTERS(name, count) static unsigned name[count]
#define BREW_LAST_BLOCK(counter, blocks)                                       \
  (::cudasim::noteBarrier(),                                                   \
   ::cudasim::SharedDeclaration<1, ::cudasim::LastBlockFlag>::note(),          \
   ::cudasim::cudasim_last_block(&(counter), blocks, __LINE__))
#define BREW_STAGES(name) const ::cudasim::Stages<#name> &name
#define BREW_STAGE(stages, number)                                             \
  if (::cudasim::cudasim_context.stage == (number))
#define BREW_BARRIER(name)                                                     \
  struct name {}
#define BREW_STAGE_BARRIER(stages, number, barrier)                            \
  ((void)(stages), ::cudasim::cudasim_context.stage == (number)                \
                       ? ::cudasim::cudasim_stage_barrier()                    \
                       : (void)0)
#define BREW_LOAD_L2(name, index) ((name)[index])

#define BREW_VECTOR(type, count) ::cudasim::Vector<type, (count)>
#define BREW_LOAD(pack, pointer, index) ((pointer).template load<pack>(index))
#define BREW_STORE(pack, pointer, index, value)                                \
  ((pointer).template store<pack>((index), (value)))

#define BREW_KEEP_EQUAL(values, codes, code, isValid)                          \
  ::cudasim::keepEqual(values, codes, code, isValid)

#define BREW_SET_BIT(pointer, index, value) ((pointer).setBit((index), (value)))

#endif // CUDASIM_H

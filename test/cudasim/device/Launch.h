//===- Launch.h - Execution of a kernel launch ------------------*- C++ -*-===//
#ifndef CUDASIM_LAUNCH_H
#define CUDASIM_LAUNCH_H

#include "Memory.h"

namespace cudasim {

template <unsigned... index> struct Indices {};

// Recursive templates would exceed the compiler's depth limit: a kernel may
// have thousands of arguments.
#if __has_builtin(__make_integer_seq)
template <class, unsigned... index> using IndicesOf = Indices<index...>;
template <unsigned count>
using MakeIndices = __make_integer_seq<IndicesOf, unsigned, count>;
#else
template <unsigned count> using MakeIndices = Indices<__integer_pack(count)...>;
#endif

/// Removes `const &` from a type.
template <class T> struct RemoveConstReference { using Type = T; };
template <class T> struct RemoveConstReference<const T &> { using Type = T; };

/// The argument object with number `index` of a launch.
template <unsigned index, class T> struct ArgumentObject {
  T value;
  explicit ArgumentObject(const Argument *argument) : value(argument) {}
};

/// All argument objects of a launch.
template <class Sequence, class... Parameters> struct ArgumentObjects;
template <unsigned... index, class... Parameters>
struct ArgumentObjects<Indices<index...>, Parameters...>
    : ArgumentObject<index,
                     typename RemoveConstReference<Parameters>::Type>... {
  explicit ArgumentObjects(const Argument *arguments)
      : ArgumentObject<index, typename RemoveConstReference<Parameters>::Type>(
            arguments + index)... {}

  void call(void (*body)(Parameters...)) {
    body(static_cast<ArgumentObject<
             index, typename RemoveConstReference<Parameters>::Type> &>(*this)
             .value...);
  }
};

template <class Parameter> Argument describe(void *argument) {
  using Type = typename RemoveConstReference<Parameter>::Type;
  return {Type::name(), *static_cast<void **>(argument),
          Type::count,  sizeof(typename Type::Element),
          Type::access, 1,
          nullptr,      nullptr};
}

/// Whether the image's kernel has barriers or shuffles. Each barrier or shuffle
/// odr-uses BarrierUse::noted, whose initialiser then runs when the image is
/// loaded.
static bool usesBarriers;
template <class> struct BarrierUse { static bool noted; };
template <class Any> bool BarrierUse<Any>::noted = (usesBarriers = true);
namespace {
struct ThisImage {};
} // namespace
CUDASIM_INLINE void noteBarrier() {
  (void)*const_cast<volatile bool *>(&BarrierUse<ThisImage>::noted);
}

template <class... Parameters>
constexpr unsigned argumentCount(void (*)(Parameters...)) {
  return sizeof...(Parameters);
}

/// Runs the threads of a block one after the other.
template <class State> void runThreads(void *pointer) {
  State *state = static_cast<State *>(pointer);
  Context &context = cudasim_context;
  const Index3 block = context.blockDim;
  unsigned thread = 0;
  for (unsigned tz = 0; tz < block.z; ++tz)
    for (unsigned ty = 0; ty < block.y; ++ty)
      for (unsigned tx = 0; tx < block.x; ++tx) {
        context.threadIdx = {tx, ty, tz};
        context.self = thread++;
        state->objects.call(state->body);
      }
}

/// Runs all blocks of a launch once.
template <class State>
void runBlocks(const unsigned *grid, unsigned long long count, State &state) {
  for (unsigned long long turn = 0; turn < count; ++turn) {
    const unsigned long long number = cudasim_block_at(turn, count);
    cudasim_begin_block(number % grid[0], number / grid[0] % grid[1],
                        number / grid[0] / grid[1]);
    if (usesBarriers)
      cudasim_run_fibers(
          [](void *pointer) {
            State *state = static_cast<State *>(pointer);
            state->objects.call(state->body);
          },
          &state);
    else
      cudasim_run_sequentially(runThreads<State>, &state);
  }
}

template <class... Parameters>
void launch(const char *kernel, const KernelAttributes &attributes,
            void (*body)(Parameters...), const unsigned *grid,
            const unsigned *block, void **values) {
  unsigned next = 0;
  Argument arguments[] = {describe<Parameters>(values[next++])...};
  cudasim_begin_launch(kernel, &attributes, grid, block, arguments);
  struct State {
    ArgumentObjects<MakeIndices<sizeof...(Parameters)>, Parameters...> objects;
    void (*body)(Parameters...);
  } state{decltype(state.objects)(arguments), body};

  const unsigned long long count = 1ull * grid[0] * grid[1] * grid[2];
  // All blocks finish a stage before one begins the next. Since each stage is a
  // separate call of the body, no value can survive from one stage to another.
  unsigned long long stages = 1;
  for (const Argument &argument : arguments)
    if (argument.access == Access::Stages)
      stages = reinterpret_cast<unsigned long long>(argument.data);
  for (unsigned stage = 0; stages >> stage != 0; ++stage) {
    if ((stages >> stage & 1) == 0)
      continue;
    cudasim_begin_stage(stage);
    runBlocks(grid, count, state);
  }
  cudasim_end_launch();
}

/// The element type of T if T is a checked reference, otherwise T.
template <class T> struct Loaded { using Type = T; };
template <class T> struct Loaded<GlobalReference<T>> { using Type = T; };
template <class T> struct Loaded<SharedReference<T>> { using Type = T; };

/// Shuffles a value of at most eight bytes.
template <class T>
CUDASIM_INLINE typename Loaded<T>::Type
shuffle(Shuffle kind, const T &source, unsigned operand, unsigned line) {
  typename Loaded<T>::Type value = source;
  static_assert(sizeof(value) <= 8, "shuffles move at most eight bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(value));
  bits = cudasim_shuffle(kind, bits, operand, line);
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

/// A vector of elements. Vectors of more than 16 bytes are 16-byte aligned.
template <class T, unsigned count>
struct alignas(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Vector {
  T elements[count];
  CUDASIM_INLINE T &operator[](int i) { return elements[i]; }
  CUDASIM_INLINE const T &operator[](int i) const { return elements[i]; }
};

/// Returns the values whose codes equal `code` if it is valid, and zeros for
/// the others.
template <class T, unsigned count>
Vector<T, count> keepEqual(const Vector<T, count> &values,
                           const Vector<unsigned char, count> &codes,
                           unsigned char code, bool isValid) {
  Vector<T, count> kept = {};
  for (unsigned i = 0; i < count; ++i)
    if (isValid && codes[i] == code)
      kept[i] = values[i];
  return kept;
}

} // namespace cudasim

#endif // CUDASIM_LAUNCH_H

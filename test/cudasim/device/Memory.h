//===- Memory.h - Checked global and shared memory --------------*- C++ -*-===//
//
// The types of BREW_IN, BREW_OUT, BREW_INOUT and BREW_SHARED. A read returns a
// value; a write goes through a reference object. Both check the index and
// leave a stamp, from which later accesses detect races.
//
//===----------------------------------------------------------------------===//
#ifndef CUDASIM_MEMORY_H
#define CUDASIM_MEMORY_H

#include "Context.h"

namespace cudasim {

/// A string as a template argument: the argument's name in messages.
template <unsigned size> struct Name {
  char text[size];
  constexpr Name(const char (&literal)[size]) : text() {
    for (unsigned i = 0; i < size; ++i)
      text[i] = literal[i];
  }
};

/// Base of checked references; Derived has get() and set(T).
template <class Derived, class T> struct CheckedReference {
  CUDASIM_INLINE operator T() const { return self().get(); }
#define CUDASIM_COMPOUND(op)                                                   \
  CUDASIM_INLINE const Derived &operator op##=(T value) const {                \
    self().set(static_cast<T>(self().get() op value));                         \
    return self();                                                             \
  }
  CUDASIM_COMPOUND(+)
  CUDASIM_COMPOUND(-)
  CUDASIM_COMPOUND(*)
  CUDASIM_COMPOUND(/)
  CUDASIM_COMPOUND(&)
  CUDASIM_COMPOUND(|)
  CUDASIM_COMPOUND(^)
#undef CUDASIM_COMPOUND
  CUDASIM_INLINE const Derived &self() const {
    return static_cast<const Derived &>(*this);
  }
};

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

CUDASIM_INLINE bool isOlderLaunch(Stamp stamp, Stamp now) {
  return (stamp ^ now) >> kLaunchShift != 0;
}

CUDASIM_INLINE void noteGlobalRead(const Argument *argument, long long index,
                                   const Stamp *writer, Stamp *reader) {
  Stamp now = cudasim_context.globalBlock | cudasim_context.self;
  if (*writer != now && !isOlderLaunch(*writer, now))
    cudasim_check_read(argument, index, writer, reader);
  else if (isOlderLaunch(*reader, now))
    *reader = now;
  else if (*reader != now)
    cudasim_check_read(argument, index, writer, reader);
}

CUDASIM_INLINE void noteGlobalWrite(const Argument *argument, long long index,
                                    Stamp *writer, const Stamp *reader) {
  Stamp now = cudasim_context.globalBlock | cudasim_context.self;
  if (CUDASIM_UNLIKELY((*writer != now && !isOlderLaunch(*writer, now)) ||
                       (*reader != now && !isOlderLaunch(*reader, now))))
    cudasim_check_write(argument, index, writer, reader);
  *writer = now;
}

template <class T>
struct GlobalReference : CheckedReference<GlobalReference<T>, T> {
  const Argument *argument;
  long long index;
  T *data;

  CUDASIM_INLINE GlobalReference(const Argument *argument, long long index,
                                 T *data)
      : argument(argument), index(index), data(data) {}
  CUDASIM_INLINE GlobalReference(const GlobalReference &) = default;
  CUDASIM_INLINE const GlobalReference &operator=(T value) const {
    set(value);
    return *this;
  }
  CUDASIM_INLINE const GlobalReference &
  operator=(const GlobalReference &other) const {
    set(other.get());
    return *this;
  }

  CUDASIM_INLINE T get() const {
    unsigned span = argument->span;
    for (unsigned i = 0; i < span; ++i)
      noteGlobalRead(argument, index, argument->writers + index * span + i,
                     argument->readers + index * span + i);
    if (CUDASIM_UNLIKELY(argument->access == Access::Out &&
                         isOlderLaunch(argument->writers[index * span],
                                       cudasim_context.globalBlock)))
      cudasim_unwritten(argument, index);
    return *data;
  }
  CUDASIM_INLINE void set(T value) const {
    unsigned span = argument->span;
    for (unsigned i = 0; i < span; ++i)
      noteGlobalWrite(argument, index, argument->writers + index * span + i,
                      argument->readers + index * span + i);
    *data = value;
  }
};

/// Base of BREW_IN, BREW_OUT and BREW_INOUT with `elements` elements.
template <class T, unsigned long long elements, Access kind, Name argumentName>
struct Global {
  using Element = T;
  static constexpr Access access = kind;
  static constexpr unsigned long long count = elements;
  static constexpr const char *name() { return argumentName.text; }

  T *data;
  const Argument *argument;

  Global(const Global &) = delete;
  explicit Global(const Argument *argument)
      : data(static_cast<T *>(argument->data)), argument(argument) {}

  CUDASIM_INLINE void check(long long index, unsigned length,
                            bool write) const {
    if (CUDASIM_UNLIKELY(static_cast<unsigned long long>(index) >= elements ||
                         elements - index < length))
      cudasim_outside(argument, index, length, write);
  }
  template <class Pack>
  CUDASIM_INLINE void checkPack(long long index, bool write) const {
    check(index, sizeof(Pack) / sizeof(T), write);
    if (CUDASIM_UNLIKELY(reinterpret_cast<unsigned long long>(data + index) %
                         alignof(Pack)))
      cudasim_misaligned(name(), index, alignof(Pack));
  }
  template <class Pack> CUDASIM_INLINE Pack load(long long index) const {
    checkPack<Pack>(index, false);
    if constexpr (kind != Access::In)
      for (unsigned i = 0; i < sizeof(Pack) / sizeof(T); ++i)
        (void)GlobalReference<T>(argument, index + i, data + index + i).get();
    Pack result;
    __builtin_memcpy(&result, data + index, sizeof(Pack));
    return result;
  }
  template <class Pack>
  CUDASIM_INLINE void store(long long index, const Pack &pack) const {
    static_assert(kind != Access::In, "a store to a read-only argument");
    checkPack<Pack>(index, true);
    T values[sizeof(Pack) / sizeof(T)];
    __builtin_memcpy(values, &pack, sizeof(Pack));
    for (unsigned i = 0; i < sizeof(Pack) / sizeof(T); ++i)
      GlobalReference<T>(argument, index + i, data + index + i).set(values[i]);
  }
  /// Sets a bit. Updates of bits of the same byte are atomic on the device, so
  /// they are not checked for races.
  CUDASIM_INLINE void setBit(long long bit, bool value) const {
    static_assert(kind != Access::In, "a store to a read-only argument");
    const long long index = bit / 8;
    check(index, 1, true);
    const T mask = static_cast<T>(1 << bit % 8);
    data[index] =
        static_cast<T>(value ? data[index] | mask : data[index] & ~mask);
    argument->writers[index * argument->span] =
        cudasim_context.globalBlock | cudasim_context.self;
  }
};

template <class T, unsigned long long elements, Name argumentName>
struct GlobalIn : Global<T, elements, Access::In, argumentName> {
  using Global<T, elements, Access::In, argumentName>::Global;
  CUDASIM_INLINE T operator[](long long index) const {
    this->check(index, 1, false);
    return this->data[index];
  }
};

template <class T, unsigned long long elements, Access kind, Name argumentName>
struct GlobalOut : Global<T, elements, kind, argumentName> {
  using Global<T, elements, kind, argumentName>::Global;
  CUDASIM_INLINE GlobalReference<T> operator[](long long index) const {
    this->check(index, 1, kind == Access::Out);
    return {this->argument, index, this->data + index};
  }
};

/// The argument with the bit mask of the stages to run.
template <Name argumentName> struct Stages {
  using Element = unsigned long long;
  static constexpr Access access = Access::Stages;
  static constexpr unsigned long long count = 1;
  static constexpr const char *name() { return argumentName.text; }

  Stages(const Stages &) = delete;
  explicit Stages(const Argument *) {}
};

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

template <class T, unsigned long long count> struct SharedCells {
  T data[count];
  Stamp writers[count];
  Stamp readers[count];
};

/// Bytes of the shared memory that the image's kernels declare.
static unsigned sharedBytes;

/// A declaration of shared memory; `Unique` makes each one a different type.
/// Each declaration odr-uses `counted`, whose initialiser then runs when the
/// image is loaded: occupancy needs the sum before any thread runs.
template <unsigned bytes, class Unique> struct SharedDeclaration {
  static bool counted;
  CUDASIM_INLINE static void note() {
    (void)*const_cast<volatile bool *>(&counted);
  }
};
template <unsigned bytes, class Unique>
bool SharedDeclaration<bytes, Unique>::counted = (sharedBytes += bytes, true);

/// The shared flag of BREW_LAST_BLOCK on a GPU, which counts as shared memory.
struct LastBlockFlag {};

/// A region of shared memory that the arrays of several stages share. The
/// arrays of each stage begin at its start.
template <unsigned size> struct SharedPool {
  static constexpr unsigned bytes = size;
};

template <class T>
struct SharedReference : CheckedReference<SharedReference<T>, T> {
  const SharedInfo *info;
  long long index;
  T *data;
  Stamp *writer, *reader;

  CUDASIM_INLINE SharedReference(const SharedInfo *info, long long index,
                                 T *data, Stamp *writer, Stamp *reader)
      : info(info), index(index), data(data), writer(writer), reader(reader) {}
  CUDASIM_INLINE SharedReference(const SharedReference &) = default;
  CUDASIM_INLINE const SharedReference &operator=(T value) const {
    set(value);
    return *this;
  }
  CUDASIM_INLINE const SharedReference &
  operator=(const SharedReference &other) const {
    set(other.get());
    return *this;
  }

  CUDASIM_INLINE T get() const {
    Stamp now = cudasim_context.sharedBlock | cudasim_context.self;
    if (CUDASIM_UNLIKELY((*writer ^ now) >> 32))
      cudasim_shared_unwritten(info, index);
    if (*writer == now && (*reader ^ now) >> 32)
      *reader = now;
    else if (*writer != now || *reader != now)
      cudasim_check_shared_read(info, index, writer, reader);
    return *data;
  }
  CUDASIM_INLINE void set(T value) const {
    Stamp now = cudasim_context.sharedBlock | cudasim_context.self;
    if ((*writer != now && (*writer ^ now) >> 32 == 0) ||
        (*reader != now && (*reader ^ now) >> 32 == 0))
      cudasim_check_shared_write(info, index, writer, reader);
    *writer = now;
    *data = value;
  }
};

template <class T, unsigned long long count> struct SharedArray {
  SharedCells<T, count> &cells;
  SharedInfo info;

  SharedArray(const SharedArray &) = delete;
  CUDASIM_INLINE SharedArray(SharedCells<T, count> &cells, const char *name)
      : cells(cells), info{name, count, sizeof(T)} {}

  CUDASIM_INLINE SharedReference<T> operator[](long long index) const {
    if (CUDASIM_UNLIKELY(static_cast<unsigned long long>(index) >= count))
      cudasim_shared_outside(&info, index);
    return {&info, index, cells.data + index, cells.writers + index,
            cells.readers + index};
  }
};

} // namespace cudasim

#endif // CUDASIM_MEMORY_H

/*===- StandardStreams.c - stdout and stderr for non-PIC code ------------===*\
|* Debian's static HDF5 refers to the C library's streams in a way that works in
|* executables only. With --wrap, the linker redirects these references to the
|* variables below.
\*===----------------------------------------------------------------------===*/
#include <stdio.h>

extern FILE *__real_stdout;
extern FILE *__real_stderr;

__attribute__((visibility("hidden"))) FILE *__wrap_stdout;
__attribute__((visibility("hidden"))) FILE *__wrap_stderr;

/* Priority 101: runs before all other constructors of the library. */
__attribute__((constructor(101))) static void setStreams(void) {
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
}

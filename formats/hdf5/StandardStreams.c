/*===- StandardStreams.c - stdout and stderr for code that is no PIC -----===*\
|* Debian's static HDF5 refers to the C library's streams in a way that only
|* executables can. The linker makes those references ours (--wrap).
\*===----------------------------------------------------------------------===*/
#include <stdio.h>

extern FILE *__real_stdout;
extern FILE *__real_stderr;

__attribute__((visibility("hidden"))) FILE *__wrap_stdout;
__attribute__((visibility("hidden"))) FILE *__wrap_stderr;

/* Before any other constructor of the library. */
__attribute__((constructor(101))) static void setStreams(void) {
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
}

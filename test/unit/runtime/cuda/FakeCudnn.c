/* A fake cuDNN that only has a version. */
#include <stddef.h>

size_t cudnnGetVersion(void) { return FAKE_VERSION; }

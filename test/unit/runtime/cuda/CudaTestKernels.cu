// Kernels like the ones that brewc emits, for tests that must not depend on
// brewc.
#ifdef BREW_CUDASIM
#include "cudasim.h"
#else
#error "these kernels are for the simulator"
#endif

// y = x + 1, over four elements.
BREW_KERNEL(addOne, 32)(BREW_IN(float, x, 4), BREW_OUT(float, y, 4)) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 4)
    y[i] = x[i] + 1.0f;
}

// total += x[0] * scale[0]: counts the runs.
BREW_KERNEL(accumulate, 32)
(BREW_IN(float, x, 4), BREW_IN(float, scale, 16), BREW_INOUT(float, total, 1)) {
  if (threadIdx.x == 0)
    total[0] = total[0] + x[0] * scale[0];
}

// status = 1 + position of the first label outside [0, 10), else 0.
BREW_KERNEL(checkLabels, 32)
(BREW_IN(float, labels, 4), BREW_OUT(int, status, 1)) {
  if (threadIdx.x == 0) {
    status[0] = 0;
    for (int i = 3; i >= 0; --i)
      if (labels[i] < 0.0f || labels[i] >= 10.0f)
        status[0] = i + 1;
  }
}

// The kernels of TestKernels.c for the CUDA simulator, in the same order of
// operations, so that results are bitwise equal.
#include "cudasim.h"

BREW_KERNEL(test_forward, 32)
(BREW_IN(float, x, 12), BREW_IN(float, target, 4), BREW_IN(float, w, 3),
 BREW_IN(float, b, 1), BREW_OUT(float, prediction, 4), BREW_OUT(float, loss, 1)) {
  if (threadIdx.x != 0)
    return;
  float sum = 0;
  for (int n = 0; n < 4; ++n) {
    float y = b[0];
    for (int k = 0; k < 3; ++k)
      y += x[n * 3 + k] * w[k];
    prediction[n] = y;
    sum += (y - target[n]) * (y - target[n]);
  }
  loss[0] = sum / (2 * 4);
}

BREW_KERNEL(test_backward, 32)
(BREW_IN(float, x, 12), BREW_IN(float, target, 4), BREW_IN(float, prediction, 4),
 BREW_OUT(float, gw, 3), BREW_OUT(float, gb, 1)) {
  if (threadIdx.x > 3)
    return;
  float sum = 0;
  for (int n = 0; n < 4; ++n) {
    float error = (prediction[n] - target[n]) / 4;
    sum += threadIdx.x == 3 ? error : error * x[n * 3 + threadIdx.x];
  }
  if (threadIdx.x == 3)
    gb[0] = sum;
  else
    gw[threadIdx.x] = sum;
}

#define UPDATE(name, count)                                                    \
  (BREW_INOUT(float, p, count), BREW_IN(float, g, count),                      \
   BREW_INOUT(float, h, count), BREW_IN(float, scalars, 256)) {                \
    int i = threadIdx.x;                                                       \
    if (i >= count)                                                            \
      return;                                                                  \
    h[i] = scalars[16] * h[i] +                                                \
           scalars[0] * (scalars[48] * g[i] + scalars[32] * p[i]);             \
    p[i] -= h[i];                                                              \
  }

BREW_KERNEL(test_update3, 32)
UPDATE(test_update3, 3)

BREW_KERNEL(test_update1, 32)
UPDATE(test_update1, 1)

BREW_KERNEL(test_pixels, 32)
(BREW_IN(unsigned char, pixels, 12), BREW_IN(int, crop_and_mirror, 12),
 BREW_OUT(float, x, 12)) {
  int i = threadIdx.x;
  if (i < 12)
    x[i] = 1000.0f + pixels[i] + crop_and_mirror[i];
}

BREW_KERNEL(test_mean_pixels, 32)
(BREW_IN(unsigned char, pixels, 12), BREW_IN(int, crop_and_mirror, 12),
 BREW_IN(float, mean, 3), BREW_OUT(float, x, 12)) {
  int i = threadIdx.x;
  if (i < 12)
    x[i] = 1000.0f + pixels[i] - mean[i % 3] + crop_and_mirror[i];
}

// Records of two rows and one column.
BREW_KERNEL(test_record_pixels, 32)
(BREW_IN(unsigned char, pixels, 24), BREW_IN(int, crop_and_mirror, 12),
 BREW_OUT(float, x, 12)) {
  int i = threadIdx.x;
  if (i < 12)
    x[i] = 1000.0f + pixels[i * 2 + crop_and_mirror[i / 3 * 3 + 1]];
}

/*===- TestKernels.c - Kernels of the hand-written test net -----------------===
 *
 * A linear model over rows of 3 values, 4 rows to a batch:
 *   prediction[n] = sum_k x[n][k] w[k] + b
 *   loss          = 1/(2 N) sum_n (prediction[n] - target[n])^2
 *
 *===----------------------------------------------------------------------===*/
#include <stdint.h>

enum { ROWS = 4, COLUMNS = 3 };

/* x, target, w, b, prediction, loss */
void test_forward(void **buffers, int64_t begin, int64_t end) {
  const float *x = buffers[0], *target = buffers[1];
  const float *w = buffers[2], *b = buffers[3];
  float *prediction = buffers[4], *loss = buffers[5];
  float sum = 0;
  for (int n = 0; n < ROWS; ++n) {
    float y = b[0];
    for (int k = 0; k < COLUMNS; ++k)
      y += x[n * COLUMNS + k] * w[k];
    prediction[n] = y;
    sum += (y - target[n]) * (y - target[n]);
  }
  loss[0] = sum / (2 * ROWS);
}

/* x, target, prediction, gradient of w, gradient of b */
void test_backward(void **buffers, int64_t begin, int64_t end) {
  const float *x = buffers[0], *target = buffers[1], *prediction = buffers[2];
  float *gw = buffers[3], *gb = buffers[4];
  gb[0] = 0;
  for (int k = 0; k < COLUMNS; ++k)
    gw[k] = 0;
  for (int n = 0; n < ROWS; ++n) {
    float error = (prediction[n] - target[n]) / ROWS;
    gb[0] += error;
    for (int k = 0; k < COLUMNS; ++k)
      gw[k] += error * x[n * COLUMNS + k];
  }
}

/* parameter, gradient, history, scalars (one every 64 bytes) */
void test_update(void **buffers, int64_t begin, int64_t end) {
  float *p = buffers[0], *h = buffers[2];
  const float *g = buffers[1], *scalars = buffers[3];
  const float rate = scalars[0], momentum = scalars[16], decay = scalars[32],
              scale = scalars[48];
  for (int64_t i = begin; i < end; ++i) {
    h[i] = momentum * h[i] + rate * (scale * g[i] + decay * p[i]);
    p[i] -= h[i];
  }
}

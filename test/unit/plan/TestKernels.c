// Kernels for tests of the runtime, in the form that brewc emits.
#include <stdint.h>

// y[i] = x[i] + 1
void addOne(void **buffers, int64_t begin, int64_t end) {
  const float *x = buffers[0];
  float *y = buffers[1];
  for (int64_t i = begin; i < end; ++i)
    y[i] = x[i] + 1;
}

// y[i] = x[i] / 2
void halve(void **buffers, int64_t begin, int64_t end) {
  const float *x = buffers[0];
  float *y = buffers[1];
  for (int64_t i = begin; i < end; ++i)
    y[i] = x[i] * 0.5f;
}

// Counts the visits of each index, and stores the length of each range at its
// begin.
void markRange(void **buffers, int64_t begin, int64_t end) {
  int32_t *visits = buffers[0];
  int32_t *begins = buffers[1];
  for (int64_t i = begin; i < end; ++i)
    ++visits[i];
  begins[begin] = (int32_t)(end - begin);
}

// status = 1 + position of the first label outside [0, 10), else 0
void checkLabels(void **buffers, int64_t begin, int64_t end) {
  const float *labels = buffers[0];
  int32_t *status = buffers[1];
  *status = 0;
  for (int64_t i = begin; i < end; ++i)
    if (!(labels[i] >= 0 && labels[i] < 10)) {
      *status = (int32_t)i + 1;
      return;
    }
}

// Reports that element 3 is invalid.
void reportFourth(void **buffers, int64_t begin, int64_t end) {
  *(int32_t *)buffers[1] = 4;
}

// Reports an element that does not exist, as a broken kernel would.
void reportNonsense(void **buffers, int64_t begin, int64_t end) {
  *(int32_t *)buffers[1] = 1000000;
}

//===- LossWindow.cpp - Moving average of the loss ------------------------===//

#include "runtime/train/metrics/LossWindow.h"

#include <algorithm>
#include <numeric>

namespace brew::runtime {

void LossWindow::add(double loss, int size) {
  window.push_back(loss);
  shrink(size);
}

void LossWindow::shrink(int size) {
  const auto maxCount = static_cast<std::size_t>(std::max(1, size));
  while (window.size() > maxCount)
    window.pop_front();
  update();
}

void LossWindow::assign(const std::vector<double> &oldestFirst) {
  window.assign(oldestFirst.begin(), oldestFirst.end());
  update();
}

void LossWindow::update() {
  average = window.empty()
                ? 0
                : std::accumulate(window.begin(), window.end(), 0.0) /
                      static_cast<double>(window.size());
}

} // namespace brew::runtime

//===- KernelLoops.cpp - Loop transformations of a sub-kernel -------------===//

#include "compiler/kernels/KernelLoops.h"

using namespace mlir;

namespace brew::compiler {
namespace {

void removeLoop(Nest &nest, unsigned loop) {
  nest.loops.erase(nest.loops.begin() + loop);
  nest.forEachLinear([&](LinearExpr &linear) {
    linear.coefs.erase(linear.coefs.begin() + loop);
  });
}

void dropUnitLoops(SubKernel &subKernel) {
  for (Nest &nest : subKernel.nests)
    for (unsigned i = nest.loops.size(); i-- > subKernel.grid;)
      if (nest.loops[i].extent == 1)
        removeLoop(nest, i);
  for (unsigned i = subKernel.grid; i-- > 0;)
    if (subKernel.nests[0].loops[i].extent == 1) {
      for (Nest &nest : subKernel.nests)
        removeLoop(nest, i);
      --subKernel.grid;
    }
}

/// Returns the largest distance between elements read by consecutive iterations
/// of `loop`.
int64_t readStride(const Nest &nest, unsigned loop) {
  int64_t stride = 0;
  for (const std::optional<Access> &input : nest.inputs)
    if (input)
      stride = std::max(stride, std::abs(input->address.coefs[loop]));
  for (const auto &entry : nest.extracts)
    stride = std::max(stride, std::abs(entry.second.address.coefs[loop]));
  return stride;
}

/// Sorts grid loops in the memory order of the last nest's result. Sorts other
/// loops in the memory order of their own nest's result.
void orderLoops(SubKernel &subKernel) {
  ArrayRef<int64_t> mainCoefs = subKernel.nests.back().outputs[0].address.coefs;
  SmallVector<unsigned> grid =
      llvm::to_vector(llvm::seq<unsigned>(0, subKernel.grid));
  llvm::stable_sort(grid, [&](unsigned a, unsigned b) {
    return mainCoefs[a] > mainCoefs[b];
  });
  for (Nest &nest : subKernel.nests) {
    SmallVector<unsigned> order =
        llvm::to_vector(llvm::seq<unsigned>(0, nest.loops.size()));
    llvm::copy(grid, order.begin());
    auto firstReduction = std::stable_partition(
        order.begin() + subKernel.grid, order.end(),
        [&](unsigned i) { return !nest.loops[i].reduction; });
    std::stable_sort(order.begin() + subKernel.grid, firstReduction,
                     [&](unsigned a, unsigned b) {
                       return nest.outputs[0].address.coefs[a] >
                              nest.outputs[0].address.coefs[b];
                     });
    if (nest.reorderable)
      std::stable_sort(firstReduction, order.end(),
                       [&](unsigned a, unsigned b) {
                         return readStride(nest, a) > readStride(nest, b);
                       });
    SmallVector<Loop> loops;
    for (unsigned i : order)
      loops.push_back(nest.loops[i]);
    nest.loops = loops;
    nest.forEachLinear([&](LinearExpr &linear) {
      SmallVector<int64_t> coefs;
      for (unsigned i : order)
        coefs.push_back(linear.coefs[i]);
      linear.coefs = coefs;
    });
  }
}

/// Returns whether one loop could replace loops `i` and `i` + 1 in every
/// access.
bool canCollapse(Nest &nest, unsigned i) {
  bool isPossible = nest.loops[i].reduction == nest.loops[i + 1].reduction;
  nest.forEachLinear([&](LinearExpr &linear) {
    isPossible &=
        linear.coefs[i] == linear.coefs[i + 1] * nest.loops[i + 1].extent;
  });
  return isPossible;
}

void collapse(Nest &nest, unsigned i) {
  nest.loops[i + 1].extent *= nest.loops[i].extent;
  removeLoop(nest, i);
}

void collapseLoops(SubKernel &subKernel) {
  for (unsigned i = subKernel.grid; i-- > 1;)
    if (llvm::all_of(subKernel.nests,
                     [&](Nest &nest) { return canCollapse(nest, i - 1); })) {
      for (Nest &nest : subKernel.nests)
        collapse(nest, i - 1);
      --subKernel.grid;
    }
  for (Nest &nest : subKernel.nests)
    for (unsigned i = nest.loops.size(); i-- > subKernel.grid + 1;)
      if (canCollapse(nest, i - 1))
        collapse(nest, i - 1);
}

} // namespace

void normaliseLoops(SubKernel &subKernel) {
  dropUnitLoops(subKernel);
  orderLoops(subKernel);
  collapseLoops(subKernel);
}

int64_t gridPoints(const SubKernel &subKernel, unsigned loops) {
  int64_t points = 1;
  for (const Loop &loop : ArrayRef(subKernel.nests[0].loops).take_front(loops))
    points *= loop.extent;
  return points;
}

unsigned mainNestOf(const SubKernel &subKernel) {
  auto more = [](const Nest &a, const Nest &b) {
    return a.iterations() < b.iterations();
  };
  return std::max_element(subKernel.nests.begin(), subKernel.nests.end(),
                          more) -
         subKernel.nests.begin();
}

void splitGridLoop(SubKernel &subKernel, unsigned loop, int64_t inner) {
  for (Nest &nest : subKernel.nests) {
    nest.loops[loop].extent /= inner;
    nest.loops.insert(nest.loops.begin() + loop + 1, Loop{inner, false});
    nest.forEachLinear([&](LinearExpr &linear) {
      int64_t coef = linear.coefs[loop];
      linear.coefs[loop] = coef * inner;
      linear.coefs.insert(linear.coefs.begin() + loop + 1, coef);
    });
  }
  ++subKernel.grid;
}

void moveGridLoop(SubKernel &subKernel, unsigned from, unsigned to) {
  auto rotate = [&](auto &values) {
    std::rotate(values.begin() + from, values.begin() + from + 1,
                values.begin() + to + 1);
  };
  for (Nest &nest : subKernel.nests) {
    rotate(nest.loops);
    nest.forEachLinear([&](LinearExpr &linear) { rotate(linear.coefs); });
  }
}

} // namespace brew::compiler

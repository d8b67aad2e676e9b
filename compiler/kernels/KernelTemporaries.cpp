//===- KernelTemporaries.cpp - Temporary buffers of a sub-kernel ----------===//

#include "compiler/kernels/KernelTemporaries.h"

#include <map>

using namespace mlir;

namespace brew::compiler {
namespace {

/// Packs a temporary without gaps if every reader uses the producer's strides.
class Packing {
public:
  Packing(const Nest &producer, const LinearExpr &address, unsigned outer) {
    for (unsigned i = outer; i < producer.loops.size(); ++i)
      if (address.coefs[i]) {
        extents[address.coefs[i]] = producer.loops[i].extent;
        span += address.coefs[i] * (producer.loops[i].extent - 1);
      }
    int64_t stride = 1;
    for (auto [coef, extent] : extents) {
      packed[coef] = stride;
      stride *= extent;
    }
    packed[0] = 0;
    packedSize = stride;
  }

  void require(ArrayRef<int64_t> coefs) {
    for (int64_t coef : coefs)
      isPossible &= packed.count(coef) != 0;
  }
  void require(const LinearExpr &address) {
    require(address.coefs);
    isPossible &= address.constant == 0;
  }
  void rewrite(MutableArrayRef<int64_t> coefs) const {
    if (isPossible)
      for (int64_t &coef : coefs)
        coef = packed.at(coef);
  }
  int64_t size() const { return isPossible ? packedSize : span; }

private:
  std::map<int64_t, int64_t> extents, packed; // by stride
  int64_t span = 1, packedSize = 1;
  bool isPossible = true;
};

} // namespace

void assignTemporaries(SubKernel &subKernel, unsigned outer) {
  auto dropOuterLoops = [&](LinearExpr &address) {
    std::fill_n(address.coefs.begin(), outer, 0);
  };
  for (auto [p, producer] : llvm::enumerate(subKernel.nests))
    for (auto [r, output] : llvm::enumerate(producer.outputs)) {
      bool isInternal = output.arguments.empty() && output.readLater;
      if (!isInternal && !output.overwritesLiveInput)
        continue;
      output.temporary = output.address;
      dropOuterLoops(output.temporary);
      Packing packing(producer, output.temporary, outer);
      auto forEachReader = [&, p = p, r = r](auto function) {
        auto matches = [&, p = p, r = r](const Source &source) {
          return source.kind == Source::Kind::Result && source.nest == p &&
                 source.result == r;
        };
        for (Nest &reader : subKernel.nests) {
          MutableArrayRef<int64_t> noStrides;
          for (std::optional<Access> &input : reader.inputs)
            if (input && matches(input->source))
              function(input->address, noStrides);
          for (Output &result : reader.outputs)
            if (result.initial && matches(result.initial->source))
              function(result.initial->address, noStrides);
          for (auto &entry : reader.extracts)
            if (matches(entry.second.source))
              function(entry.second.address,
                       MutableArrayRef<int64_t>(entry.second.strides));
        }
      };
      forEachReader([&](LinearExpr &address, ArrayRef<int64_t> strides) {
        dropOuterLoops(address);
        packing.require(address);
        packing.require(strides);
      });
      forEachReader([&](LinearExpr &address, MutableArrayRef<int64_t> strides) {
        packing.rewrite(address.coefs);
        packing.rewrite(strides);
      });
      packing.rewrite(output.temporary.coefs);
      output.temporarySize = packing.size();
    }
}

} // namespace brew::compiler

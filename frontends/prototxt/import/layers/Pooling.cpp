//===- Pooling.cpp - Pooling layers ---------------------------------------===//

#include "dialects/Brew/layers/pooling/Pooling.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "frontends/prototxt/import/LayerBuilder.h"

using namespace brew::dialects;
using mlir::Value;

namespace brew::prototxt {

namespace {

bool roundsDown(const caffe::PoolingParameter &settings) {
  if (settings.has_round_mode())
    return settings.round_mode() == caffe::PoolingParameter::FLOOR;
  return !settings.ceil_mode();
}

/// Calls `add` with an operation class, the types of its additional results and
/// its additional operands. Returns the pooled blob.
template <typename Method, typename Add>
Value addPooling(LayerBuilder &l, Method method, const Add &add) {
  if (method == Method(caffe::PoolingParameter::AVE))
    return add(AveragePoolingOp(), {}, {});
  if (method == Method(caffe::PoolingParameter::MAX))
    return add(MaxPoolingOp(), l.blobType, {});
  // Stochastic pooling draws random numbers in training only.
  if (l.phase != caffe::TRAIN)
    return add(WeightedPoolingOp(), {}, {});
  return add(StochasticPoolingOp(), l.blobType, l.randomKey());
}

void buildPooling(LayerBuilder &l) {
  const caffe::PoolingParameter &settings = l.layer.pooling_param();
  const Window window = poolingWindow(settings);
  addPooling(l, settings.pool(),
             [&](auto op, mlir::TypeRange saved, mlir::ValueRange others) {
               op = l.layerOp<decltype(op)>(saved, others);
               op.setKernel(window.kernel);
               op.setStride(window.stride);
               op.setPad(window.pad);
               op.setGlobal(settings.global_pooling());
               op.setFloor(roundsDown(settings));
               return op.getY();
             });
}

/// Builds C3D's pooling, whose windows have a depth.
void buildPooling3D(LayerBuilder &l) {
  const caffe::PoolingParameter &settings = l.layer.pooling3d_param();
  const int64_t size = settings.kernel_size(), stride = settings.stride();
  addPooling(l, settings.pool(),
             [&](auto op, mlir::TypeRange saved, mlir::ValueRange others) {
               op = l.layerOp<decltype(op)>(saved, others);
               op.setKernel({settings.kernel_depth(), size, size});
               op.setStride({settings.temporal_stride(), stride, stride});
               op.setPad({0, 0, 0});
               return op.getY();
             });
}

/// Concatenates poolings with 1, 2, 4 ... bins in both dimensions.
void buildSpp(LayerBuilder &l) {
  const caffe::SPPParameter &settings = l.layer.spp_param();
  const int levels = static_cast<int>(settings.pyramid_height());
  llvm::SmallVector<Value> flattened;
  for (int level = 0; level < levels; ++level) {
    const Value pooled = addPooling(
        l, settings.pool(),
        [&](auto op, mlir::TypeRange saved, mlir::ValueRange others) {
          llvm::SmallVector<Value> operands = {l.bottoms[0]};
          llvm::append_range(operands, others);
          // A single level is just a pooling.
          using Op = decltype(op);
          op = levels == 1 ? l.layerOp<Op>(saved, others)
                           : l.firstOp<Op>(0, operands, saved);
          op.setKernel({0, 0});
          op.setStride({1, 1});
          op.setPad({0, 0});
          op.setBins(int64_t{1} << level);
          return op.getY();
        });
    if (levels == 1)
      return;
    auto flatten = l.firstOp<FlattenOp>(0, pooled);
    flatten.setAxis(1);
    flatten.setEndAxis(-1);
    flattened.push_back(flatten.getY());
  }
  l.lastOp<ConcatOp>(0, flattened).setAxis(1);
}

} // namespace

BuildFunctions poolingFunctions() {
  return {{"Pooling", buildPooling},
          {"Pooling3D", buildPooling3D},
          {"SPP", buildSpp}};
}

} // namespace brew::prototxt

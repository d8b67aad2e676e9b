//===- WinogradConvolution.cpp - 3x3 convolutions by Winograd -------------===//
//
// The convolution processes blocks of tiles or of outputs. For each block it
// computes the sums of the inputs, the products of matrices (one call of
// oneDNN), and the sums of the products. The intermediate values of a block
// stay in the caches, and scratch memory has the size of a block. The
// directions multiply different operands:
//   y   outputs of     inputs(x)  . weights(w)
//   dx  outputs of     inputs(dy) . weights(w turned, its channels swapped)
//   dw  weightsGradient of the sum over blocks of
//       inputs(x) transposed . outputGradient(dy)
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/winograd/WinogradConvolution.h"

#include "plan/Winograd.h"
#include "runtime/cpu/Threads.h"
#include "runtime/cpu/onednn/DnnlFailure.h"
#include "runtime/cpu/winograd/WinogradTransforms.h"
#include "support/Error.h"

#include <algorithm>
#include <optional>

namespace brew::runtime {

using dnnl::memory;
using plan::ConvolutionCall;
using plan::winograd::ConvolutionSize;
using plan::winograd::productCount;
using plan::winograd::TileBlock;
using plan::winograd::tileBlockOf;
using winograd::Images;
using winograd::Matrices;
using winograd::OutputEpilogue;
using winograd::TileRange;
using winograd::Transforms;
using winograd::Weights;

namespace {

static_assert(winograd::kChannelStep == plan::winograd::kChannelStep,
              "the plan and the transforms must use the same channel step");

bool isApplicable(const ConvolutionCall &call, BoundBuffer x, BoundBuffer w,
                  BoundBuffer b, BoundBuffer y) {
  return plan::winograd::isApplicable(call, *x.buffer, *w.buffer, b.buffer,
                                      *y.buffer);
}

/// Returns the transforms for the instruction set that oneDNN uses, or null
/// without AVX2.
const Transforms *transformsFor(std::int64_t tile) {
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  auto isaIncludes = [&](dnnl::cpu_isa requiredIsa) {
    const auto bits = static_cast<unsigned>(requiredIsa);
    return (isa & bits) == bits;
  };
  if (isaIncludes(dnnl::cpu_isa::avx512_core))
    return &winograd::transformsAvx512(tile);
  return isaIncludes(dnnl::cpu_isa::avx2) ? &winograd::transformsAvx2(tile)
                                          : nullptr;
}

Images imagesOf(BoundBuffer bound) {
  const plan::Buffer &buffer = *bound.buffer;
  return {reinterpret_cast<float *>(bound.data),
          buffer.dims(2),
          buffer.dims(3),
          buffer.dims(1),
          buffer.strides(0),
          buffer.strides(2),
          buffer.strides(3)};
}

/// Returns the weights in the orientation in which `direction` multiplies them.
Weights weightsOf(BoundBuffer bound, plan::Direction direction) {
  const plan::Buffer &buffer = *bound.buffer;
  Weights result = {reinterpret_cast<float *>(bound.data), buffer.dims(0),
                    buffer.dims(1), buffer.strides(0), buffer.strides(1),
                    buffer.strides(2), buffer.strides(3),
                    // Both orientations are possible; a transposed right factor
                    // would make the product slower.
                    direction == plan::BACKWARD_WEIGHTS &&
                        buffer.strides(1) < buffer.strides(0)};
  if (direction == plan::BACKWARD_DATA) {
    std::swap(result.outputs, result.inputs);
    std::swap(result.outputStride, result.inputStride);
    result.data += 2 * (result.rowStride + result.columnStride);
    result.rowStride = -result.rowStride;
    result.columnStride = -result.columnStride;
  }
  return result;
}

ConvolutionSize convolutionSizeOf(const DnnlContext &context,
                                  const ConvolutionCall &call, BoundBuffer x,
                                  BoundBuffer w, BoundBuffer y) {
  return plan::winograd::convolutionSizeOf(call, *x.buffer, *y.buffer,
                                           w.isConstant, context.threads);
}

/// Returns the first element of a chunk, where `count` elements are divided
/// into `chunks` chunks. The number of chunks does not depend on the size of
/// the OpenMP team, so that sums of gradients have the same bits for the same
/// number of threads.
std::int64_t chunkBegin(std::int64_t count, std::int64_t chunk,
                        std::int64_t chunks) {
  return count * chunk / chunks;
}

/// A convolution by Winograd's algorithm.
class WinogradConvolution : public CpuStep {
public:
  /// Throws dnnl::error if oneDNN has no fast product of these matrices.
  WinogradConvolution(DnnlContext &context, const ConvolutionCall &call,
                      const ConvolutionSize &size, std::int64_t tile,
                      const Transforms &transforms, BoundBuffer x,
                      BoundBuffer w, BoundBuffer b, BoundBuffer y);

  void pack() override;
  std::uint64_t packedBytes() const override {
    return size.isConstant ? packedLayout.get_size() : 0;
  }
  std::uint64_t scratchBytes() const override { return scratchSize; }
  void bindScratch(std::byte *scratch) override;
  void run(const Threads &) override;
  std::string describe() const override { return name; }

private:
  /// The size of one multiplication. The last block of tiles or outputs may be
  /// smaller than the others.
  struct Chunk {
    std::int64_t tiles, outputs;
    bool accumulates;
    bool operator==(const Chunk &other) const {
      return tiles == other.tiles && outputs == other.outputs &&
             accumulates == other.accumulates;
    }
  };
  /// The matrix product of a chunk.
  struct Product {
    Chunk chunk;
    dnnl::matmul primitive;
    memory left, right, result, scratchpad;
  };

  bool isForWeights() const { return size.direction == plan::BACKWARD_WEIGHTS; }
  memory::desc matrixLayout(std::int64_t rows, std::int64_t columns) const;
  memory::desc transposed(const memory::desc &layout) const;
  memory::desc weightMatrixLayout(std::int64_t outputs) const;
  Matrices matricesAt(std::uint64_t offset, const memory::desc &layout) const;
  std::uint64_t reserveScratch(std::uint64_t bytes);
  void makeProduct(const Chunk &chunk);
  Weights weightsOfChunk(std::int64_t firstOutput, std::int64_t outputs) const;
  Images outputsOfChunk(std::int64_t firstOutput, std::int64_t outputs) const;
  void transformWeights(const Weights &chunk, const Matrices &to) const;
  void transformGradients(std::int64_t firstTile, std::int64_t firstOutput,
                          const Chunk &chunk) const;
  void multiply(const Chunk &chunk);
  void finishWeights(std::int64_t firstOutput, std::int64_t outputs) const;
  void finishBias() const;

  DnnlContext &context;
  const Threads &workers;
  const ConvolutionSize size;
  const std::int64_t tile, tiles;
  const TileBlock block;
  const Transforms &transforms;
  const winograd::TileGrid grid;
  Images in, out;
  std::int64_t top = 0, left = 0;
  Weights weights;
  winograd::OutputEpilogue epilogue{};
  float *biasGradient = nullptr;
  std::string name;

  /// Offsets in scratch memory of the sums of inputs, of outputs, and of
  /// weights or their gradients.
  std::uint64_t inputSums = 0, outputSums = 0, weightSums = 0;
  std::uint64_t biasSums = 0, productScratch = 0, scratchSize = 0;
  memory::desc packedLayout; ///< of constant weights, as the products read them
  Arena packed;
  std::byte *scratch = nullptr;
  std::vector<Product> products;
};

WinogradConvolution::WinogradConvolution(DnnlContext &context,
                                         const ConvolutionCall &call,
                                         const ConvolutionSize &size,
                                         std::int64_t tile,
                                         const Transforms &transforms,
                                         BoundBuffer x, BoundBuffer w,
                                         BoundBuffer b, BoundBuffer y)
    : context(context), workers(*context.workers), size(size), tile(tile),
      tiles(size.tiles(tile)), block(tileBlockOf(size, tile)),
      transforms(transforms), grid{size.rows(tile), size.columns(tile)},
      in(imagesOf(x)), out(imagesOf(y)),
      weights(weightsOf(w, call.direction())) {
  top = call.window().pad(0);
  left = call.window().pad(1);
  if (call.direction() == plan::BACKWARD_DATA) {
    std::swap(in, out);
    top = 2 - top;
    left = 2 - left;
  }
  auto *bias = b.buffer ? reinterpret_cast<float *>(b.data) : nullptr;
  if (isForWeights())
    biasGradient = bias;
  else
    epilogue.bias = bias;
  epilogue.accumulate = call.epilogue().accumulate();
  epilogue.relu = call.epilogue().relu();
  epilogue.slope = call.epilogue().negative_slope();
  const std::string edge = std::to_string(tile);
  name = "Winograd " + edge + "x" + edge;

  inputSums = reserveScratch(matrixLayout(block.tiles, size.inputs).get_size());
  outputSums =
      reserveScratch(matrixLayout(block.tiles, block.outputs).get_size());
  if (!size.isConstant)
    weightSums = reserveScratch(weightMatrixLayout(block.outputs).get_size());
  if (biasGradient)
    biasSums = reserveScratch(
        static_cast<std::uint64_t>(4 * context.threads * size.outputs));
  productScratch = scratchSize;
  for (std::int64_t outputs : {block.outputs, size.outputs % block.outputs})
    if (outputs > 0)
      for (const Chunk &chunk :
           {Chunk{block.tiles, outputs, false},
            Chunk{tiles >= 2 * block.tiles ? block.tiles : 0, outputs, true},
            Chunk{tiles % block.tiles, outputs, tiles > block.tiles}})
        if (chunk.tiles > 0)
          makeProduct(chunk);
}

/// Returns the layout of the matrices of all products. Padding between them
/// avoids conflicts in the caches.
memory::desc WinogradConvolution::matrixLayout(std::int64_t rows,
                                               std::int64_t columns) const {
  const std::int64_t stride = rows * columns + winograd::kChannelStep;
  return {{productCount(tile), rows, columns},
          memory::data_type::f32,
          memory::dims{stride, columns, 1}};
}

memory::desc WinogradConvolution::transposed(const memory::desc &layout) const {
  const memory::dims dims = layout.get_dims(), strides = layout.get_strides();
  return {{dims[0], dims[2], dims[1]},
          memory::data_type::f32,
          memory::dims{strides[0], strides[2], strides[1]}};
}

std::uint64_t WinogradConvolution::reserveScratch(std::uint64_t bytes) {
  const std::uint64_t offset = scratchSize;
  scratchSize +=
      (bytes + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
  return offset;
}

/// Returns the layout of the sums of the weights of `outputs` outputs.
memory::desc
WinogradConvolution::weightMatrixLayout(std::int64_t outputs) const {
  return weights.rowsAreOutputs ? matrixLayout(outputs, size.inputs)
                                : matrixLayout(size.inputs, outputs);
}

Matrices WinogradConvolution::matricesAt(std::uint64_t offset,
                                         const memory::desc &layout) const {
  const memory::dims strides = layout.get_strides();
  return {reinterpret_cast<float *>(scratch + offset), strides[0], strides[1]};
}

void WinogradConvolution::makeProduct(const Chunk &chunk) {
  memory::desc left = matrixLayout(chunk.tiles, size.inputs),
               right = weightMatrixLayout(chunk.outputs),
               result = matrixLayout(chunk.tiles, chunk.outputs);
  if (isForWeights()) {
    std::swap(right, result);
    left = transposed(left);
    if (weights.rowsAreOutputs) {
      const memory::desc gradients = transposed(right);
      right = transposed(left);
      left = gradients;
    }
  } else {
    if (weights.rowsAreOutputs)
      right = transposed(right);
    if (size.isConstant)
      right = products.empty()
                  ? memory::desc(right.get_dims(), memory::data_type::f32,
                                 memory::format_tag::any)
                  : packedLayout;
  }
  const dnnl::primitive_attr attributes = attributesFor(
      plan::Epilogue(), isForWeights() && chunk.accumulates, false);
  dnnl::matmul::primitive_desc description(context.engine, left, right, result,
                                           attributes);
  if (isReferenceKernel(description))
    throw dnnl::error(dnnl_unimplemented, "no fast product");
  packedLayout = description.weights_desc();
  const memory::desc scratchpad = description.scratchpad_desc();
  if (products.empty())
    name += ", oneDNN " + std::string(description.impl_info_str());
  auto withoutData = [&](const memory::desc &layout) {
    return memory(layout, context.engine, DNNL_MEMORY_NONE);
  };
  products.push_back({chunk, dnnl::matmul(description), withoutData(left),
                      withoutData(description.weights_desc()),
                      withoutData(result), withoutData(scratchpad)});
  scratchSize = std::max(scratchSize, productScratch + scratchpad.get_size());
}

Weights WinogradConvolution::weightsOfChunk(std::int64_t firstOutput,
                                            std::int64_t outputs) const {
  Weights result = weights;
  result.data += firstOutput * weights.outputStride;
  result.outputs = outputs;
  return result;
}

Images WinogradConvolution::outputsOfChunk(std::int64_t firstOutput,
                                           std::int64_t outputs) const {
  Images result = out;
  result.data += firstOutput;
  result.channels = outputs;
  return result;
}

void WinogradConvolution::transformWeights(const Weights &chunk,
                                           const Matrices &to) const {
  workers.parallelFor(winograd::weightChunks(chunk), 1,
                      [&](std::int64_t begin, std::int64_t end) {
                        transforms.weights(chunk, begin, end, to);
                      });
}

void WinogradConvolution::pack() {
  if (!size.isConstant)
    return;
  if (packed.size() == 0)
    packed = Arena(packedLayout.get_size(), "packed weights");
  const memory::desc plain = weightMatrixLayout(size.outputs);
  Arena sums(plain.get_size(), "sums of weights to pack");
  const memory::dims strides = plain.get_strides();
  transformWeights(weights, {reinterpret_cast<float *>(sums.data()), strides[0],
                             strides[1]});
  memory from(plain, context.engine, sums.data()),
      to(packedLayout, context.engine, packed.data());
  dnnl::reorder(from, to).execute(context.stream, from, to);
  for (Product &product : products)
    product.right.set_data_handle(packed.data());
}

void WinogradConvolution::bindScratch(std::byte *memory) {
  scratch = memory;
  for (Product &product : products) {
    std::byte *inputs = scratch + inputSums, *outputs = scratch + outputSums;
    if (isForWeights()) {
      if (weights.rowsAreOutputs)
        std::swap(inputs, outputs);
      product.left.set_data_handle(inputs);
      product.right.set_data_handle(outputs);
      product.result.set_data_handle(scratch + weightSums);
    } else {
      product.left.set_data_handle(inputs);
      if (!size.isConstant)
        product.right.set_data_handle(scratch + weightSums);
      product.result.set_data_handle(outputs);
    }
    product.scratchpad.set_data_handle(scratch + productScratch);
  }
}

void WinogradConvolution::multiply(const Chunk &chunk) {
  auto product = std::find_if(
      products.begin(), products.end(),
      [&](const Product &candidate) { return candidate.chunk == chunk; });
  const dnnl_exec_arg_t arguments[] = {
      {DNNL_ARG_SRC, product->left.get()},
      {DNNL_ARG_WEIGHTS, product->right.get()},
      {DNNL_ARG_DST, product->result.get()},
      {DNNL_ARG_SCRATCHPAD, product->scratchpad.get()}};
  const dnnl_status_t status = dnnl_primitive_execute(
      product->primitive.get(), context.stream.get(), 4, arguments);
  if (status != dnnl_success)
    throw dnnlFailure(name, status);
}

/// Computes the sums of the output gradients of a chunk.
void WinogradConvolution::transformGradients(std::int64_t firstTile,
                                             std::int64_t firstOutput,
                                             const Chunk &chunk) const {
  const std::int64_t shares = context.threads;
  auto *sums = reinterpret_cast<float *>(scratch + biasSums);
  workers.parallelFor(shares, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      transforms.outputGradient(
          outputsOfChunk(firstOutput, chunk.outputs),
          {grid, firstTile, firstTile + chunkBegin(chunk.tiles, i, shares),
           firstTile + chunkBegin(chunk.tiles, i + 1, shares)},
          matricesAt(outputSums, matrixLayout(chunk.tiles, chunk.outputs)),
          biasGradient ? sums + i * size.outputs + firstOutput : nullptr);
  });
}

void WinogradConvolution::run(const Threads &) {
  if (biasGradient) {
    auto *sums = reinterpret_cast<float *>(scratch + biasSums);
    std::fill(sums, sums + context.threads * size.outputs, 0.0f);
  }
  for (std::int64_t first = 0; first < tiles; first += block.tiles) {
    const std::int64_t count = std::min(block.tiles, tiles - first);
    auto range = [&](std::int64_t begin, std::int64_t end) -> TileRange {
      return {grid, first, first + begin, first + end};
    };
    workers.parallelFor(count, 1, [&](std::int64_t begin, std::int64_t end) {
      transforms.input(in, top, left, range(begin, end),
                       matricesAt(inputSums, matrixLayout(count, size.inputs)));
    });
    for (std::int64_t k = 0; k < size.outputs; k += block.outputs) {
      const Chunk chunk{count, std::min(block.outputs, size.outputs - k),
                        first > 0};
      if (isForWeights())
        transformGradients(first, k, chunk);
      else if (!size.isConstant &&
               first == 0) // the sums serve all blocks of tiles
        transformWeights(
            weightsOfChunk(k, chunk.outputs),
            matricesAt(weightSums, weightMatrixLayout(chunk.outputs)));
      multiply(chunk);
      if (isForWeights()) {
        if (first + count == tiles)
          finishWeights(k, chunk.outputs);
        continue;
      }
      OutputEpilogue chunkEpilogue = epilogue;
      if (epilogue.bias)
        chunkEpilogue.bias += k;
      workers.parallelFor(count, 1, [&](std::int64_t begin, std::int64_t end) {
        transforms.output(
            matricesAt(outputSums, matrixLayout(count, chunk.outputs)),
            range(begin, end), outputsOfChunk(k, chunk.outputs), chunkEpilogue);
      });
    }
  }
  if (biasGradient)
    finishBias();
}

void WinogradConvolution::finishWeights(std::int64_t firstOutput,
                                        std::int64_t outputs) const {
  const Weights chunk = weightsOfChunk(firstOutput, outputs);
  workers.parallelFor(winograd::weightChunks(chunk), 1,
                      [&](std::int64_t begin, std::int64_t end) {
                        transforms.weightsGradient(
                            matricesAt(weightSums, weightMatrixLayout(outputs)),
                            begin, end, chunk, epilogue.accumulate);
                      });
}

void WinogradConvolution::finishBias() const {
  const auto *sums = reinterpret_cast<const float *>(scratch + biasSums);
  for (std::int64_t k = 0; k < size.outputs; ++k) {
    float sum = epilogue.accumulate ? biasGradient[k] : 0.0f;
    for (std::int64_t chunk = 0; chunk < context.threads; ++chunk)
      sum += sums[chunk * size.outputs + k];
    biasGradient[k] = sum;
  }
}

} // namespace

std::unique_ptr<CpuStep>
makeWinograd(DnnlContext &context, const ConvolutionCall &call, BoundBuffer x,
             BoundBuffer w, BoundBuffer b, BoundBuffer y, std::int64_t tile) {
  if (!isApplicable(call, x, w, b, y))
    return nullptr;
  const Transforms *transforms = transformsFor(tile);
  if (!transforms)
    return nullptr;
  try {
    return std::make_unique<WinogradConvolution>(
        context, call, convolutionSizeOf(context, call, x, w, y), tile,
        *transforms, x, w, b, y);
  } catch (const dnnl::error &error) {
    if (error.status == dnnl_unimplemented ||
        error.status == dnnl_invalid_arguments)
      return nullptr; // no product of such matrices
    throw;
  }
}

std::vector<std::int64_t> winogradTiles(const DnnlContext &context,
                                        const ConvolutionCall &call,
                                        BoundBuffer x, BoundBuffer w,
                                        BoundBuffer b, BoundBuffer y) {
  std::vector<std::int64_t> tiles;
  if (!context.exactConvolutions && isApplicable(call, x, w, b, y))
    for (std::int64_t tile : {4, 2})
      if (transformsFor(tile))
        tiles.push_back(tile);
  return tiles;
}

std::int64_t winogradTile(const DnnlContext &context,
                          const ConvolutionCall &call, BoundBuffer x,
                          BoundBuffer w, BoundBuffer b, BoundBuffer y) {
  if (context.exactConvolutions || !isApplicable(call, x, w, b, y))
    return 0;
  return plan::winograd::fastestTile(convolutionSizeOf(context, call, x, w, y));
}

std::unique_ptr<CpuStep> makeWinograd(DnnlContext &context,
                                      const ConvolutionCall &call,
                                      BoundBuffer x, BoundBuffer w,
                                      BoundBuffer b, BoundBuffer y) {
  const std::int64_t tile = winogradTile(context, call, x, w, b, y);
  return tile ? makeWinograd(context, call, x, w, b, y, tile) : nullptr;
}

} // namespace brew::runtime

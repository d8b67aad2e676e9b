//===- WinogradConvolution.cpp - 3x3 convolutions by Winograd -------------===//
//
// Tiles are taken by blocks: the sums of a block's inputs, the products of
// matrices (oneDNN's, all of them one call), the sums of the products. What
// lies between stays in the caches, and scratch is as large as a block. The
// three directions differ in what is multiplied:
//   y   outputs of     inputs(x)  . weights(w)
//   dx  outputs of     inputs(dy) . weights(w turned, its channels swapped)
//   dw  weightsGradient of the sum over blocks of
//       inputs(x) transposed . outputGradient(dy)
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/WinogradConvolution.h"

#include "formats/Error.h"
#include "runtime/cpu/Threads.h"
#include "runtime/cpu/WinogradTransforms.h"
#include "runtime/plan/WindowAxes.h"
#include "runtime/plan/Winograd.h"

#include <algorithm>
#include <optional>

namespace brew::runtime {

using dnnl::memory;
using plan::ConvolutionCall;
using plan::winograd::products;
using plan::winograd::Size;
using plan::winograd::tilesAtATime;
using winograd::Matrices;
using winograd::Pixels;
using winograd::TileRange;
using winograd::Transforms;
using winograd::Weights;

namespace {

static_assert(winograd::kChannelStep == plan::winograd::kChannelStep,
              "what is taken is what the transforms can do");

bool isPossible(const ConvolutionCall &call, BoundBuffer x, BoundBuffer w,
                BoundBuffer b, BoundBuffer y) {
  return plan::winograd::isPossible(call, *x.buffer, *w.buffer, b.buffer,
                                    *y.buffer);
}

/// The transforms for what oneDNN computes with; null where that is too old.
const Transforms *transformsFor(std::int64_t tile) {
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  auto has = [&](dnnl::cpu_isa wanted) {
    const auto bits = static_cast<unsigned>(wanted);
    return (isa & bits) == bits;
  };
  if (has(dnnl::cpu_isa::avx512_core))
    return &winograd::transformsAvx512(tile);
  return has(dnnl::cpu_isa::avx2) ? &winograd::transformsAvx2(tile) : nullptr;
}

Pixels pixelsOf(BoundBuffer bound) {
  const plan::Buffer &buffer = *bound.buffer;
  return {reinterpret_cast<float *>(bound.data),
          buffer.dims(2),
          buffer.dims(3),
          buffer.dims(1),
          buffer.strides(0),
          buffer.strides(2),
          buffer.strides(3)};
}

/// Weights as `direction` multiplies with them.
Weights weightsOf(BoundBuffer bound, plan::Direction direction) {
  const plan::Buffer &buffer = *bound.buffer;
  Weights result = {reinterpret_cast<float *>(bound.data),
                    buffer.dims(0),
                    buffer.dims(1),
                    buffer.strides(0),
                    buffer.strides(1),
                    buffer.strides(2),
                    buffer.strides(3)};
  if (direction == plan::BACKWARD_DATA) {
    std::swap(result.outputs, result.inputs);
    std::swap(result.outputStride, result.inputStride);
    result.data += 2 * (result.rowStride + result.columnStride);
    result.rowStride = -result.rowStride;
    result.columnStride = -result.columnStride;
  }
  return result;
}

Size sizeOf(const DnnlContext &context, const ConvolutionCall &call,
            BoundBuffer x, BoundBuffer w, BoundBuffer y) {
  return plan::winograd::sizeOf(call, *x.buffer, *y.buffer, w.isFixed,
                                context.threads);
}

/// Sums of gradients are of so many parts, whatever the team: the same bits
/// with the same number of threads.
std::int64_t share(std::int64_t count, std::int64_t part, std::int64_t parts) {
  return count * part / parts;
}

class WinogradConvolution : public CpuCall {
public:
  /// Throws dnnl::error where oneDNN has no product of such matrices.
  WinogradConvolution(DnnlContext &context, const ConvolutionCall &call,
                      const Size &size, std::int64_t tile,
                      const Transforms &transforms, BoundBuffer x,
                      BoundBuffer w, BoundBuffer b, BoundBuffer y);

  void pack() override;
  std::uint64_t packedBytes() const override {
    return size.isFixed ? weightLayout.get_size() : 0;
  }
  std::uint64_t scratchBytes() const override { return scratchSize; }
  void bind(std::byte *scratch) override;
  void run() override;
  std::string implementation() const override { return name; }

private:
  /// The products of a block's matrices.
  struct Product {
    dnnl::matmul primitive;
    memory left, right, result, scratchpad;
  };
  struct Place {
    std::uint64_t offset = 0;
    memory::desc layout;
  };

  bool isForWeights() const { return size.direction == plan::BACKWARD_WEIGHTS; }
  memory::desc matrices(std::int64_t rows, std::int64_t columns) const;
  memory::desc transposed(const memory::desc &layout) const;
  Matrices at(const Place &place) const;
  Place reserve(const memory::desc &layout);
  std::uint64_t reserve(std::uint64_t bytes);
  void makeProduct(std::int64_t rows, bool accumulate);
  Product &productFor(std::int64_t first, std::int64_t count);
  void transformWeights(const Matrices &to) const;
  void multiply(std::int64_t first, std::int64_t count);
  void finishWeights() const;

  DnnlContext &context;
  const Threads &workers;
  const Size size;
  const std::int64_t tile, block, tiles;
  const Transforms &transforms;
  const winograd::TileGrid grid;
  Pixels in, out;
  std::int64_t top = 0, left = 0;
  Weights weights;
  winograd::OutputRules rules{};
  float *biasGradient = nullptr;
  std::string name;

  /// Of inputs, of outputs, and of weights or their gradients.
  Place inputSums, outputSums, weightSums;
  std::uint64_t biasParts = 0, productScratch = 0, scratchSize = 0;
  memory::desc weightLayout; ///< as the products read them
  Arena packed;
  std::byte *scratch = nullptr;
  /// Of whole blocks, of whole blocks that add, of the last block.
  std::vector<std::pair<std::pair<std::int64_t, bool>, Product>> made;
};

WinogradConvolution::WinogradConvolution(DnnlContext &context,
                                         const ConvolutionCall &call,
                                         const Size &size, std::int64_t tile,
                                         const Transforms &transforms,
                                         BoundBuffer x, BoundBuffer w,
                                         BoundBuffer b, BoundBuffer y)
    : context(context), workers(*context.workers), size(size), tile(tile),
      block(tilesAtATime(size, tile)), tiles(size.tiles(tile)),
      transforms(transforms), grid{size.rows(tile), size.columns(tile)},
      in(pixelsOf(x)), out(pixelsOf(y)),
      weights(weightsOf(w, call.direction())) {
  const auto axes = plan::axesOf(call.window(), 2);
  top = axes[0].pad;
  left = axes[1].pad;
  if (call.direction() == plan::BACKWARD_DATA) {
    std::swap(in, out);
    top = 2 - top;
    left = 2 - left;
  }
  auto *bias = b.buffer ? reinterpret_cast<float *>(b.data) : nullptr;
  if (isForWeights())
    biasGradient = bias;
  else
    rules.bias = bias;
  rules.accumulate = call.epilogue().accumulate();
  rules.relu = call.epilogue().relu();
  rules.slope = call.epilogue().negative_slope();
  const std::string edge = std::to_string(tile);
  name = "Winograd " + edge + "x" + edge;

  inputSums = reserve(matrices(block, size.inputs));
  outputSums = reserve(matrices(block, size.outputs));
  const memory::desc sums = matrices(size.inputs, size.outputs);
  if (size.isFixed)
    weightSums.layout = sums;
  else
    weightSums = reserve(sums);
  weightLayout = sums;
  if (biasGradient)
    biasParts =
        reserve(static_cast<std::uint64_t>(4 * context.threads * size.outputs));
  makeProduct(block, false);
  if (isForWeights() && tiles >= 2 * block)
    makeProduct(block, true);
  if (tiles % block)
    makeProduct(tiles % block, isForWeights() && tiles > block);
}

/// A little more than their elements apart, which else would lie in the same
/// places of the caches.
memory::desc WinogradConvolution::matrices(std::int64_t rows,
                                           std::int64_t columns) const {
  const std::int64_t stride = rows * columns + winograd::kChannelStep;
  return {{products(tile), rows, columns},
          memory::data_type::f32,
          memory::dims{stride, columns, 1}};
}

memory::desc WinogradConvolution::transposed(const memory::desc &layout) const {
  const memory::dims dims = layout.get_dims(), strides = layout.get_strides();
  return {{dims[0], dims[2], dims[1]},
          memory::data_type::f32,
          memory::dims{strides[0], strides[2], strides[1]}};
}

std::uint64_t WinogradConvolution::reserve(std::uint64_t bytes) {
  const std::uint64_t offset = scratchSize;
  scratchSize +=
      (bytes + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
  return offset;
}

WinogradConvolution::Place
WinogradConvolution::reserve(const memory::desc &layout) {
  return {reserve(layout.get_size()), layout};
}

Matrices WinogradConvolution::at(const Place &place) const {
  const memory::dims strides = place.layout.get_strides();
  return {reinterpret_cast<float *>(scratch + place.offset), strides[0],
          strides[1]};
}

/// For `rows` tiles in the places of the first ones of a block.
void WinogradConvolution::makeProduct(std::int64_t rows, bool accumulate) {
  auto firstRows = [&](const Place &place) {
    memory::dims dims = place.layout.get_dims();
    dims[1] = rows;
    return memory::desc(dims, memory::data_type::f32,
                        place.layout.get_strides());
  };
  memory::desc from = firstRows(inputSums), other = weightLayout,
               to = firstRows(outputSums);
  if (isForWeights()) {
    other = to;
    from = transposed(from);
    to = weightSums.layout;
  } else if (size.isFixed && made.empty()) {
    other = {weightLayout.get_dims(), memory::data_type::f32,
             memory::format_tag::any};
  }
  const dnnl::primitive_attr attributes =
      attributesFor(plan::Epilogue(), accumulate, false);
  dnnl::matmul::primitive_desc description(context.engine, from, other, to,
                                           attributes);
  if (isReferenceKernel(description))
    throw dnnl::error(dnnl_unimplemented, "no fast product");
  if (!isForWeights())
    weightLayout = description.weights_desc();
  const memory::desc scratchpad = description.scratchpad_desc();
  if (made.empty())
    name += ", oneDNN " + std::string(description.impl_info_str());
  auto bare = [&](const memory::desc &layout) {
    return memory(layout, context.engine, DNNL_MEMORY_NONE);
  };
  made.push_back(
      {{rows, accumulate},
       {dnnl::matmul(description), bare(from), bare(description.weights_desc()),
        bare(to), bare(scratchpad)}});
  if (made.size() == 1)
    productScratch = scratchSize;
  scratchSize = std::max(scratchSize, productScratch + scratchpad.get_size());
}

void WinogradConvolution::transformWeights(const Matrices &to) const {
  workers.parallelFor(winograd::weightParts(weights), 1,
                      [&](std::int64_t begin, std::int64_t end) {
                        transforms.weights(weights, begin, end, to);
                      });
}

void WinogradConvolution::pack() {
  if (!size.isFixed)
    return;
  if (packed.size() == 0)
    packed = Arena(weightLayout.get_size(), "packed weights");
  const memory::desc plain = weightSums.layout;
  Arena sums(plain.get_size(), "weights that are packed");
  const memory::dims strides = plain.get_strides();
  transformWeights(
      {reinterpret_cast<float *>(sums.data()), strides[0], strides[1]});
  memory from(plain, context.engine, sums.data()),
      to(weightLayout, context.engine, packed.data());
  dnnl::reorder(from, to).execute(context.stream, from, to);
  for (auto &[key, product] : made)
    product.right.set_data_handle(packed.data());
}

void WinogradConvolution::bind(std::byte *memory) {
  scratch = memory;
  for (auto &[key, product] : made) {
    product.left.set_data_handle(scratch + inputSums.offset);
    if (isForWeights()) {
      product.right.set_data_handle(scratch + outputSums.offset);
      product.result.set_data_handle(scratch + weightSums.offset);
    } else {
      if (!size.isFixed)
        product.right.set_data_handle(scratch + weightSums.offset);
      product.result.set_data_handle(scratch + outputSums.offset);
    }
    product.scratchpad.set_data_handle(scratch + productScratch);
  }
}

/// Of the block from `first` on.
void WinogradConvolution::multiply(std::int64_t first, std::int64_t count) {
  const std::pair<std::int64_t, bool> key(count, isForWeights() && first > 0);
  auto product = std::find_if(made.begin(), made.end(), [&](const auto &entry) {
    return entry.first == key;
  });
  const dnnl_exec_arg_t arguments[] = {
      {DNNL_ARG_SRC, product->second.left.get()},
      {DNNL_ARG_WEIGHTS, product->second.right.get()},
      {DNNL_ARG_DST, product->second.result.get()},
      {DNNL_ARG_SCRATCHPAD, product->second.scratchpad.get()}};
  if (dnnl_primitive_execute(product->second.primitive.get(),
                             context.stream.get(), 4,
                             arguments) != dnnl_success)
    throw Error(ExitStatus::Bug, "oneDNN failed in " + name);
}

void WinogradConvolution::run() {
  if (!isForWeights() && !size.isFixed)
    transformWeights(at(weightSums));
  const std::int64_t parts = context.threads;
  auto *sums = reinterpret_cast<float *>(scratch + biasParts);
  if (biasGradient)
    std::fill(sums, sums + parts * size.outputs, 0.0f);
  for (std::int64_t first = 0; first < tiles; first += block) {
    const std::int64_t count = std::min(block, tiles - first);
    auto range = [&](std::int64_t begin, std::int64_t end) -> TileRange {
      return {grid, first, first + begin, first + end};
    };
    workers.parallelFor(count, 1, [&](std::int64_t begin, std::int64_t end) {
      transforms.input(in, top, left, range(begin, end), at(inputSums));
    });
    if (isForWeights())
      workers.parallelFor(parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part)
          transforms.outputGradient(
              out,
              range(share(count, part, parts), share(count, part + 1, parts)),
              at(outputSums),
              biasGradient ? sums + part * size.outputs : nullptr);
      });
    multiply(first, count);
    if (!isForWeights())
      workers.parallelFor(count, 1, [&](std::int64_t begin, std::int64_t end) {
        transforms.output(at(outputSums), range(begin, end), out, rules);
      });
  }
  if (isForWeights())
    finishWeights();
}

void WinogradConvolution::finishWeights() const {
  workers.parallelFor(winograd::weightParts(weights), 1,
                      [&](std::int64_t begin, std::int64_t end) {
                        transforms.weightsGradient(at(weightSums), begin, end,
                                                   weights, rules.accumulate);
                      });
  if (!biasGradient)
    return;
  const auto *sums = reinterpret_cast<const float *>(scratch + biasParts);
  for (std::int64_t k = 0; k < size.outputs; ++k) {
    float sum = rules.accumulate ? biasGradient[k] : 0.0f;
    for (std::int64_t part = 0; part < context.threads; ++part)
      sum += sums[part * size.outputs + k];
    biasGradient[k] = sum;
  }
}

} // namespace

std::unique_ptr<CpuCall>
makeWinograd(DnnlContext &context, const ConvolutionCall &call, BoundBuffer x,
             BoundBuffer w, BoundBuffer b, BoundBuffer y, std::int64_t tile) {
  if (!isPossible(call, x, w, b, y))
    return nullptr;
  const Transforms *transforms = transformsFor(tile);
  if (!transforms)
    return nullptr;
  try {
    return std::make_unique<WinogradConvolution>(context, call,
                                                 sizeOf(context, call, x, w, y),
                                                 tile, *transforms, x, w, b, y);
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
  if (!context.exactConvolutions && isPossible(call, x, w, b, y))
    for (std::int64_t tile : {4, 2})
      if (transformsFor(tile))
        tiles.push_back(tile);
  return tiles;
}

std::int64_t winogradTile(const DnnlContext &context,
                          const ConvolutionCall &call, BoundBuffer x,
                          BoundBuffer w, BoundBuffer b, BoundBuffer y) {
  if (context.exactConvolutions || !isPossible(call, x, w, b, y))
    return 0;
  return plan::winograd::fastestTile(sizeOf(context, call, x, w, y));
}

std::unique_ptr<CpuCall> makeWinograd(DnnlContext &context,
                                      const ConvolutionCall &call,
                                      BoundBuffer x, BoundBuffer w,
                                      BoundBuffer b, BoundBuffer y) {
  const std::int64_t tile = winogradTile(context, call, x, w, b, y);
  return tile ? makeWinograd(context, call, x, w, b, y, tile) : nullptr;
}

} // namespace brew::runtime

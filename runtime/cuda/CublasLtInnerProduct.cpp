//===- CublasLtInnerProduct.cpp - Inner products by cuBLASLt --------------===//
//
// Computes inner products of tensors with any number of dimensions as products
// of matrices [M,K] and [N,K]. An operand is used in place if its strides allow
// a matrix view: the dimensions that form one matrix index may be in any order
// in memory if they are evenly spaced and both operands have the same order.
// Otherwise the operand is copied to dense memory.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Matmul.h"
#include "runtime/cuda/StridedTransfer.h"
#include "runtime/cuda/VendorCall.h"
#include "support/Error.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

namespace brew::runtime::cuda {

namespace {

/// A half-open range of dimensions of a buffer that form one matrix index.
struct DimRange {
  int begin, end;
};

/// Returns the dimensions of `span` with an extent above 1, relative to its
/// begin, in order of decreasing stride.
std::vector<int> orderOf(const plan::Buffer &buffer, DimRange span) {
  std::vector<int> order;
  for (int d = span.begin; d < span.end; ++d)
    if (buffer.dims(d) > 1)
      order.push_back(d - span.begin);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return buffer.strides(span.begin + a) > buffer.strides(span.begin + b);
  });
  return order;
}

/// Returns the stride of `span` as one index that iterates in `order`, or
/// nullopt if the elements are not evenly spaced in that order.
std::optional<std::int64_t> strideOf(const plan::Buffer &buffer, DimRange span,
                                     const std::vector<int> &order) {
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    if (buffer.strides(span.begin + order[i]) !=
        buffer.dims(span.begin + order[i + 1]) *
            buffer.strides(span.begin + order[i + 1]))
      return std::nullopt;
  return order.empty() ? 1 : buffer.strides(span.begin + order.back());
}

std::int64_t countOf(const plan::Buffer &buffer, DimRange span) {
  return std::accumulate(buffer.dims().begin() + span.begin,
                         buffer.dims().begin() + span.end, std::int64_t(1),
                         std::multiplies<>());
}

/// A dense copy of an operand that cannot be used in place.
struct StagedOperand {
  DeviceMemory memory;
  std::optional<StridedTransfer> in,
      out; ///< copies before and after the product
};

/// Views the operands as matrices and describes the matrix product.
class ProblemBuilder {
public:
  ProblemBuilder(const Device &device, const plan::InnerProductCall &call,
                 DeviceBuffer x, DeviceBuffer w, DeviceBuffer y, bool hasBias,
                 std::string where)
      : device(device), call(call), hasBias(hasBias), where(std::move(where)) {
    const int axis = static_cast<int>(call.axis());
    const int inner = x.buffer->dims_size() - axis;
    const DimRange m{0, axis}, k{axis, axis + inner};
    const DimRange n =
        call.transpose() ? DimRange{inner, inner + 1} : DimRange{0, 1};
    const DimRange wk =
        call.transpose() ? DimRange{0, inner} : DimRange{1, 1 + inner};
    // x determines the order of dimensions within M and K, so that x, usually
    // the larger operand, is used in place.
    std::vector<int> mOrder = orderOf(*x.buffer, m);
    const std::vector<int> kOrder = orderOf(*x.buffer, k);
    if (!strideOf(*x.buffer, m, mOrder)) // x is copied in any case
      mOrder = orderOf(*y.buffer, m);
    const std::vector<int> nOrder = orderOf(*w.buffer, n);
    const plan::Direction direction = call.direction();
    this->x =
        makeMatrix(x, m, k, mOrder, kOrder, direction == plan::BACKWARD_DATA);
    this->w = makeMatrix(w, n, wk, nOrder, kOrder,
                         direction == plan::BACKWARD_WEIGHTS);
    this->y = makeMatrix(y, m, {axis, axis + 1}, mOrder, nOrder,
                         direction == plan::FORWARD);
  }

  MatmulProblem makeProblem(DeviceBuffer b) const {
    MatmulProblem result;
    result.accumulate = call.epilogue().accumulate();
    switch (call.direction()) {
    case plan::FORWARD:
      result.a = w;
      result.b = x.transposed();
      result.d = y.transposed();
      result.relu = call.epilogue().relu();
      if (b.buffer)
        result.bias = MatmulBias::Add;
      break;
    case plan::BACKWARD_DATA:
      result.a = w.transposed();
      result.b = y.transposed();
      result.d = x.transposed();
      break;
    case plan::BACKWARD_WEIGHTS:
      result.a = x.transposed();
      result.b = y;
      result.d = w.transposed();
      if (b.buffer)
        result.bias = MatmulBias::GradientB;
      break;
    }
    if (b.buffer) {
      result.biasAddress = b.address;
      result.biasType = b.buffer->type();
    }
    if (result.d.rowStride != 1 && result.d.rows != 1) {
      const Matrix a = result.a;
      result.a = result.b.transposed();
      result.b = a.transposed();
      result.d = result.d.transposed();
      if (result.bias == MatmulBias::GradientB)
        result.bias = MatmulBias::GradientA;
    }
    return result;
  }

  Matrix x, w, y; // [M,K], [N,K], [M,N]
  std::vector<StagedOperand> staged;

private:
  Matrix makeMatrix(DeviceBuffer bound, DimRange rows, DimRange columns,
                    const std::vector<int> &rowOrder,
                    const std::vector<int> &columnOrder, bool written) {
    const plan::Buffer &buffer = *bound.buffer;
    const auto row = strideOf(buffer, rows, rowOrder),
               column = strideOf(buffer, columns, columnOrder);
    Matrix matrix{buffer.type(),
                  bound.address,
                  countOf(buffer, rows),
                  countOf(buffer, columns),
                  0,
                  0};
    if (row && column &&
        (matrix.rows == 1 || matrix.columns == 1 || *row == 1 ||
         *column == 1)) {
      matrix.rowStride = *row;
      matrix.columnStride = *column;
      // The bias is indexed by the rows of y's transpose.
      if (!written || call.direction() != plan::FORWARD || !hasBias ||
          *column == 1 || matrix.columns == 1)
        return matrix;
    }
    matrix.rowStride = matrix.columns;
    matrix.columnStride = 1;
    matrix.address =
        stage(bound, rows, columns, rowOrder, columnOrder, written);
    return matrix;
  }

  /// Allocates dense memory for an operand, rows outermost, and adds the copies
  /// to and from it. Returns its address.
  CUdeviceptr stage(DeviceBuffer bound, DimRange rows, DimRange columns,
                    const std::vector<int> &rowOrder,
                    const std::vector<int> &columnOrder, bool written) {
    plan::Buffer dense = *bound.buffer;
    std::int64_t elementCount = 1;
    auto assignStrides = [&](DimRange span, const std::vector<int> &order) {
      for (auto d = order.rbegin(); d != order.rend(); ++d) {
        dense.set_strides(span.begin + *d, elementCount);
        elementCount *= dense.dims(span.begin + *d);
      }
    };
    assignStrides(columns, columnOrder);
    assignStrides(rows, rowOrder);
    StagedOperand result;
    result.memory = DeviceMemory(device,
                                 static_cast<std::uint64_t>(elementCount) *
                                     plan::elementSize(dense.type()),
                                 where + ": memory for an operand");
    const CUdeviceptr address = result.memory.address();
    if (!written || call.epilogue().accumulate())
      result.in = StridedTransfer::copy(*bound.buffer, bound.address, dense,
                                        address, where);
    if (written)
      result.out = StridedTransfer::copy(dense, address, *bound.buffer,
                                         bound.address, where);
    staged.push_back(std::move(result));
    return address;
  }

  const Device &device;
  const plan::InnerProductCall &call;
  bool hasBias;
  const std::string where;
};

class InnerProduct : public VendorCall {
public:
  InnerProduct(const Device &gpu, CublasLt &library,
               const plan::InnerProductCall &call, const CallBuffers &buffers,
               const CallOptions &options, const std::string &where);

  std::string key() const override { return keyText; }
  int candidates() const override { return product->candidates(); }
  std::string describe(int candidate) const override {
    return "algorithm " + std::to_string(candidate) + " of " +
           std::to_string(candidates());
  }
  std::uint64_t scratchBytes(int candidate) const override {
    return std::max(product->workspaceBytes(candidate),
                    biasProduct ? biasProduct->workspaceBytes(0) : 0);
  }
  void run(int candidate, const LaunchContext &context) override {
    for (StagedOperand &operand : staged)
      if (operand.in)
        operand.in->run(context);
    product->run(candidate, context.scratch, context.stream);
    if (biasProduct)
      biasProduct->run(0, context.scratch, context.stream);
    for (StagedOperand &operand : staged)
      if (operand.out)
        operand.out->run(context);
  }

private:
  void sumBiasSeparately(CublasLt &library, const Matrix &y,
                         MatmulProblem &problem, const CallOptions &options,
                         const std::string &where);
  void addBiasSeparately(CublasLt &library, MatmulProblem &problem,
                         const CallOptions &options, const std::string &where);
  CUdeviceptr makeOnes(plan::DataType type, std::int64_t count,
                       const std::string &where);

  const Device &device;
  std::string keyText;
  std::vector<StagedOperand> staged;
  std::unique_ptr<Matmul> product;
  /// A second product, with a vector of ones, if the first one cannot compute
  /// the bias: the bias gradient y^T . ones, or y = act(y + ones . b^T).
  std::unique_ptr<Matmul> biasProduct;
  DeviceMemory ones;
};

/// Returns `count` ones of a floating-point type, as bytes.
std::vector<std::byte> onesOf(plan::DataType type, std::int64_t count) {
  const std::size_t size = plan::elementSize(type);
  const double d = 1;
  const float f = 1;
  const std::uint16_t half = 0x3c00, bfloat = 0x3f80;
  const void *value = type == plan::F64    ? static_cast<const void *>(&d)
                      : type == plan::F16  ? static_cast<const void *>(&half)
                      : type == plan::BF16 ? static_cast<const void *>(&bfloat)
                                           : static_cast<const void *>(&f);
  std::vector<std::byte> bytes(size * static_cast<std::size_t>(count));
  const auto *first = static_cast<const std::byte *>(value);
  for (std::size_t i = 0; i < bytes.size(); i += size)
    std::copy(first, first + size, bytes.begin() + static_cast<long>(i));
  return bytes;
}

CUdeviceptr InnerProduct::makeOnes(plan::DataType type, std::int64_t count,
                                   const std::string &where) {
  const std::vector<std::byte> bytes = onesOf(type, count);
  ones = DeviceMemory(device, bytes.size(), where + ": memory for its bias");
  const Stream stream(device);
  device.api().check(device.api().cuMemcpyHtoDAsync(ones.address(),
                                                    bytes.data(), bytes.size(),
                                                    stream.get()),
                     where);
  stream.synchronize(where);
  return ones.address();
}

void InnerProduct::sumBiasSeparately(CublasLt &library, const Matrix &y,
                                     MatmulProblem &problem,
                                     const CallOptions &options,
                                     const std::string &where) {
  MatmulProblem biasProblem;
  biasProblem.a = y.transposed();
  biasProblem.b = {y.type, makeOnes(y.type, y.rows, where), y.rows, 1, 1,
                   y.rows};
  biasProblem.d = {problem.biasType, problem.biasAddress, y.columns, 1, 1,
                   y.columns};
  biasProblem.accumulate = problem.accumulate;
  biasProduct = std::make_unique<Matmul>(library, biasProblem, options, where);
  problem.bias = MatmulBias::None;
}

void InnerProduct::addBiasSeparately(CublasLt &library, MatmulProblem &problem,
                                     const CallOptions &options,
                                     const std::string &where) {
  const std::int64_t rows = problem.d.rows, columns = problem.d.columns;
  MatmulProblem biasProblem;
  biasProblem.a = {problem.biasType, problem.biasAddress, rows, 1, 1, rows};
  biasProblem.b = {problem.biasType,
                   makeOnes(problem.biasType, columns, where),
                   1,
                   columns,
                   1,
                   1};
  biasProblem.d = problem.d;
  biasProblem.accumulate = true;
  biasProblem.relu = problem.relu;
  biasProduct = std::make_unique<Matmul>(library, biasProblem, options, where);
  problem.bias = MatmulBias::None;
  problem.relu = false;
}

InnerProduct::InnerProduct(const Device &gpu, CublasLt &library,
                           const plan::InnerProductCall &call,
                           const CallBuffers &buffers,
                           const CallOptions &options, const std::string &where)
    : device(gpu) {
  const auto &[x, w, b, y] = buffers;
  if (call.epilogue().relu() && call.epilogue().negative_slope() != 0)
    throw unavailable(where + ": cuBLASLt cannot fuse a ReLU with a slope "
                              "(compile the net with --no-library=ip)");
  ProblemBuilder builder(device, call, x, w, y, b.buffer != nullptr, where);
  MatmulProblem problem = builder.makeProblem(b);
  staged = std::move(builder.staged);
  const bool isGradient = problem.bias == MatmulBias::GradientA ||
                          problem.bias == MatmulBias::GradientB;
  // The bias-gradient epilogue of cuBLASLt overwrites and cannot accumulate.
  if (isGradient && problem.accumulate)
    sumBiasSeparately(library, builder.y, problem, options, where);
  product = std::make_unique<Matmul>(library, problem, options, where);
  if (product->candidates() == 0 && b.buffer && !biasProduct) {
    if (isGradient)
      sumBiasSeparately(library, builder.y, problem, options, where);
    else
      addBiasSeparately(library, problem, options, where);
    product = std::make_unique<Matmul>(library, problem, options, where);
  }
  if (product->candidates() == 0 ||
      (biasProduct && biasProduct->candidates() == 0))
    throw unavailable(where + ": " + library.name() + " has no algorithm for " +
                      problem.text() + " within " +
                      std::to_string(options.workspaceLimit) +
                      " bytes of workspace");
  keyText = library.name() + " product " + problem.text();
  if (options.math == plan::Target::TF32)
    keyText += " tf32";
}

} // namespace

std::unique_ptr<VendorCall>
makeInnerProduct(const Device &device, CublasLt &library,
                 const plan::InnerProductCall &call, const CallBuffers &buffers,
                 const CallOptions &options, const std::string &where) {
  return std::make_unique<InnerProduct>(device, library, call, buffers, options,
                                        where);
}

} // namespace brew::runtime::cuda

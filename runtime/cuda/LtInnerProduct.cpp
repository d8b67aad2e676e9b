//===- LtInnerProduct.cpp - Inner products by cuBLASLt --------------------===//
//
// Whatever the number of dimensions, the product is one of matrices [M,K] and
// [N,K], seen in place: the dimensions that make up an index may lie in any
// order as long as they are evenly spaced and both operands agree on it.
//
//===----------------------------------------------------------------------===//
#include "formats/Error.h"
#include "runtime/cuda/Matmul.h"
#include "runtime/cuda/VendorCall.h"

#include <algorithm>
#include <vector>

namespace brew::runtime::cuda {

namespace {

/// Consecutive dimensions of a buffer that form one index of the product.
struct Span {
  int begin, end;
};

struct Index {
  std::int64_t count = 1, stride = 1;
  std::vector<int> order; ///< slowest first, counted from the span's begin
  bool even = true;       ///< the elements are evenly spaced in that order
};

Index indexOf(const plan::Buffer &buffer, Span span) {
  Index index;
  for (int d = span.begin; d < span.end; ++d) {
    index.count *= buffer.dims(d);
    if (buffer.dims(d) > 1)
      index.order.push_back(d - span.begin);
  }
  std::stable_sort(index.order.begin(), index.order.end(), [&](int a, int b) {
    return buffer.strides(span.begin + a) > buffer.strides(span.begin + b);
  });
  std::int64_t next = 0; // stride that the slower dimension must have
  for (auto d = index.order.rbegin(); d != index.order.rend(); ++d) {
    const std::int64_t stride = buffer.strides(span.begin + *d);
    if (next == 0)
      index.stride = stride;
    else
      index.even &= stride == next;
    next = stride * buffer.dims(span.begin + *d);
  }
  return index;
}

class Builder {
public:
  Builder(const plan::InnerProductCall &call, DeviceBuffer x, DeviceBuffer w,
          DeviceBuffer y, std::string where)
      : where(std::move(where)) {
    const int axis = static_cast<int>(call.axis());
    const int inner = x.buffer->dims_size() - axis;
    const Span wRows = call.transpose() ? Span{inner, inner + 1} : Span{0, 1};
    const Span wColumns =
        call.transpose() ? Span{0, inner} : Span{1, 1 + inner};
    const Index xm = indexOf(*x.buffer, {0, axis}),
                xk = indexOf(*x.buffer, {axis, axis + inner}),
                wn = indexOf(*w.buffer, wRows),
                wk = indexOf(*w.buffer, wColumns),
                ym = indexOf(*y.buffer, {0, axis}),
                yn = indexOf(*y.buffer, {axis, axis + 1});
    require(xm.even && ym.even && xm.order == ym.order,
            "the rows of its input and its output");
    require(xk.even && wk.even && xk.order == wk.order,
            "the columns of its input and its weights");
    this->x = matrix(x, xm, xk);
    this->w = matrix(w, wn, wk);
    this->y = matrix(y, ym, yn);
  }

  MatmulProblem problem(const plan::InnerProductCall &call, DeviceBuffer b) {
    MatmulProblem result;
    result.accumulate = call.epilogue().accumulate();
    switch (call.direction()) {
    case plan::FORWARD:
      result.a = w;
      result.b = x.transposed();
      result.d = y.transposed();
      result.relu = call.epilogue().relu();
      require(!result.relu || call.epilogue().negative_slope() == 0,
              "the slope of its ReLU");
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
      require(result.bias != MatmulBias::Add,
              "the order of its output, with a bias");
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

private:
  void require(bool condition, const char *what) const {
    if (!condition)
      throw machineLacks(where +
                         ": cuBLASLt cannot do this inner product in "
                         "place because of " +
                         what + " (compile the net with --no-library=ip)");
  }
  Matrix matrix(DeviceBuffer bound, const Index &rows,
                const Index &columns) const {
    require(rows.count == 1 || columns.count == 1 || rows.stride == 1 ||
                columns.stride == 1,
            "an operand that is dense in no direction");
    return {bound.buffer->type(), bound.address, rows.count,
            columns.count,        rows.stride,   columns.stride};
  }
  std::string where;
};

class InnerProduct : public VendorCall {
public:
  InnerProduct(const Device &device, CublasLt &library,
               const plan::InnerProductCall &call, DeviceBuffer x,
               DeviceBuffer w, DeviceBuffer b, DeviceBuffer y,
               const CallOptions &options, const std::string &where);

  std::string key() const override { return keyText; }
  int candidates() const override { return product->candidates(); }
  std::string describe(int candidate) const override {
    return "algorithm " + std::to_string(candidate) + " of " +
           std::to_string(candidates());
  }
  std::uint64_t workspaceBytes(int candidate) const override {
    return std::max(product->workspaceBytes(candidate),
                    biasSum ? biasSum->workspaceBytes(0) : 0);
  }
  void run(int candidate, CUdeviceptr workspace,
           const Stream &stream) override {
    product->run(candidate, workspace, stream);
    if (biasSum)
      biasSum->run(0, workspace, stream);
  }

private:
  void sumBiasApart(const Device &device, CublasLt &library, const Matrix &y,
                    MatmulProblem &problem, const CallOptions &options,
                    const std::string &where);

  std::string keyText;
  std::unique_ptr<Matmul> product;
  /// The bias gradient as y^T . ones, where the product cannot give it.
  std::unique_ptr<Matmul> biasSum;
  DeviceMemory ones;
};

/// `count` ones of a type, as bytes.
std::vector<std::byte> onesOf(plan::DataType type, std::int64_t count) {
  const std::size_t size = plan::elementSize(type);
  std::vector<std::byte> one(size);
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

void InnerProduct::sumBiasApart(const Device &device, CublasLt &library,
                                const Matrix &y, MatmulProblem &problem,
                                const CallOptions &options,
                                const std::string &where) {
  const std::vector<std::byte> bytes = onesOf(y.type, y.rows);
  ones = DeviceMemory(device, bytes.size(), where + ": memory for its bias");
  const Stream stream(device);
  device.api().check(device.api().cuMemcpyHtoDAsync(ones.address(),
                                                    bytes.data(), bytes.size(),
                                                    stream.get()),
                     where);
  stream.synchronize(where);
  MatmulProblem sum;
  sum.a = y.transposed();
  sum.b = {y.type, ones.address(), y.rows, 1, 1, y.rows};
  sum.d = {problem.biasType, problem.biasAddress, y.columns, 1, 1, y.columns};
  sum.accumulate = problem.accumulate;
  biasSum = std::make_unique<Matmul>(library, sum, options, where);
  problem.bias = MatmulBias::None;
}

InnerProduct::InnerProduct(const Device &device, CublasLt &library,
                           const plan::InnerProductCall &call, DeviceBuffer x,
                           DeviceBuffer w, DeviceBuffer b, DeviceBuffer y,
                           const CallOptions &options,
                           const std::string &where) {
  Builder builder(call, x, w, y, where);
  MatmulProblem problem = builder.problem(call, b);
  const bool gradient = problem.bias == MatmulBias::GradientA ||
                        problem.bias == MatmulBias::GradientB;
  // The library's own bias gradient replaces what was there.
  if (gradient && problem.accumulate)
    sumBiasApart(device, library, builder.y, problem, options, where);
  product = std::make_unique<Matmul>(library, problem, options, where);
  if (product->candidates() == 0 && gradient && !biasSum) {
    sumBiasApart(device, library, builder.y, problem, options, where);
    product = std::make_unique<Matmul>(library, problem, options, where);
  }
  if (product->candidates() == 0 || (biasSum && biasSum->candidates() == 0))
    throw machineLacks(where + ": " + library.name() +
                       " has no algorithm for " + problem.text() + " within " +
                       std::to_string(options.workspaceLimit) +
                       " bytes of workspace");
  keyText = library.name() + " product " + problem.text();
  if (options.math == plan::Target::TF32)
    keyText += " tf32";
}

} // namespace

std::unique_ptr<VendorCall>
makeInnerProduct(const Device &device, CublasLt &library,
                 const plan::InnerProductCall &call, DeviceBuffer x,
                 DeviceBuffer w, DeviceBuffer b, DeviceBuffer y,
                 const CallOptions &options, const std::string &where) {
  return std::make_unique<InnerProduct>(device, library, call, x, w, b, y,
                                        options, where);
}

} // namespace brew::runtime::cuda

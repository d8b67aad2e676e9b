//===- Pca.cpp - Principal components -------------------------------------===//

#include "extras/embedding/Pca.h"

#include "caffe/RandomStream.h"
#include "runtime/opencv/OpenCv.h"
#include "support/Error.h"

#include <algorithm>
#include <cmath>

namespace brew::embedding {
namespace {

using Vector = std::vector<double>;
using Vectors = std::vector<Vector>;

/// Additional vectors, which accelerate the convergence.
constexpr std::size_t kExtraVectors = 8;
/// Maximum dimension of the subspace, unless three blocks are larger.
constexpr std::size_t kMaxSubspace = 96;
constexpr int kMaxRestarts = 100;
/// Tolerance of ||A v - lambda v|| relative to the largest eigenvalue: the
/// accuracy of products of floats.
constexpr double kEigenTolerance = 2e-6;

double dot(const Vector &a, const Vector &b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

/// Subtracts `factor` times `vector` from `target`.
void subtract(Vector &target, double factor, const Vector &vector) {
  for (std::size_t i = 0; i < target.size(); ++i)
    target[i] -= factor * vector[i];
}

/// The covariance matrix of the rows, as a function that multiplies it by
/// vectors.
class Covariance {
public:
  Covariance(const Matrix &rows, RowProducts &rowProducts)
      : features(rows), products(rowProducts) {}

  Vectors operator()(const Vectors &directions) const {
    const auto count = static_cast<std::int64_t>(directions.size());
    const std::int64_t size = features.columns * count;
    std::vector<float> columns(static_cast<std::size_t>(size)), scores;
    for (std::int64_t i = 0; i < size; ++i)
      columns[i] = static_cast<float>(directions[i % count][i / count]);
    products.project(columns, count, scores);
    std::vector<double> sums;
    products.projectTransposed(scores, count, sums);
    Vectors result(directions.size(),
                   Vector(static_cast<std::size_t>(features.columns)));
    for (std::int64_t i = 0; i < size; ++i)
      result[i % count][i / count] =
          sums[i] / static_cast<double>(features.rows - 1);
    return result;
  }

private:
  const Matrix &features;
  RowProducts &products;
};

/// Orthonormalizes `block` against `basis` and itself. Drops vectors that are
/// linearly dependent up to rounding.
Vectors orthonormalize(const Vectors &basis, Vectors block) {
  Vectors result;
  for (Vector &vector : block) {
    const double originalLength = std::sqrt(dot(vector, vector));
    for (int pass = 0; pass < 2; ++pass) { // the second one removes rounding
      for (const Vector &other : basis)
        subtract(vector, dot(vector, other), other);
      for (const Vector &other : result)
        subtract(vector, dot(vector, other), other);
    }
    const double length = std::sqrt(dot(vector, vector));
    if (!(length > 1e-6 * originalLength))
      continue;
    for (double &value : vector)
      value /= length;
    result.push_back(std::move(vector));
  }
  return result;
}

/// Returns the matrix of dot products of basis vectors and images, symmetrized
/// and row-major.
Vector symmetricProducts(const Vectors &basis, const Vectors &images) {
  const std::size_t size = basis.size();
  Vector result(size * size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      result[i * size + j] = result[j * size + i] =
          (dot(basis[i], images[j]) + dot(basis[j], images[i])) / 2;
  return result;
}

/// Returns the linear combination of the vectors.
Vector combine(const Vectors &vectors, const double *factors) {
  Vector result(vectors[0].size());
  for (std::size_t i = 0; i < vectors.size(); ++i)
    subtract(result, -factors[i], vectors[i]);
  return result;
}

/// Makes the entry of largest magnitude positive.
void fixSign(Vector &direction) {
  auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const double largest =
      *std::max_element(direction.begin(), direction.end(), smaller);
  if (largest < 0)
    for (double &value : direction)
      value = -value;
}

} // namespace

PrincipalComponents principalComponents(const Matrix &rows,
                                        std::int64_t components,
                                        std::uint64_t seed,
                                        RowProducts &products) {
  const runtime::OpenCvFunctions &functions =
      runtime::openCvPlugin("compute principal components");
  const auto componentCount = static_cast<std::size_t>(components);
  const auto columns = static_cast<std::size_t>(rows.columns);
  const Covariance covariance(rows, products);
  PrincipalComponents result;
  for (float value : rows.values)
    result.variance += double(value) * value;
  result.variance /= static_cast<double>(rows.rows - 1);

  const std::size_t width = std::min(columns, componentCount + kExtraVectors);
  const caffe::RandomStream random(seed, "principal components");
  Vectors block(width, Vector(columns));
  for (std::size_t i = 0; i < width * columns; ++i)
    block[i / columns][i % columns] = random.gaussian(i);

  Vectors eigenvectors;
  for (int restart = 0; restart < kMaxRestarts && result.variance > 0;
       ++restart) {
    Vectors basis, images;
    Vectors next = orthonormalize({}, block);
    if (next.empty())
      throw Error(ExitStatus::Bug,
                  "the products of the features are not finite");
    while (!next.empty()) {
      const Vectors image = covariance(next);
      basis.insert(basis.end(), next.begin(), next.end());
      images.insert(images.end(), image.begin(), image.end());
      if (basis.size() + width > std::max(kMaxSubspace, 3 * width))
        break;
      next = orthonormalize(basis, image);
    }
    const std::size_t size = basis.size();
    const auto [values, vectors] = functions.symmetricEigen(
        symmetricProducts(basis, images), static_cast<int>(size));
    eigenvectors.clear();
    block.clear();
    result.variances.clear();
    double worst = 0;
    for (std::size_t i = 0; i < std::min(size, width); ++i) {
      const double value = values[i], *factors = &vectors[i * size];
      block.push_back(combine(basis, factors));
      if (block.size() > componentCount)
        continue;
      Vector residual = combine(images, factors);
      subtract(residual, value, block.back());
      worst = std::max(worst, std::sqrt(dot(residual, residual)));
      eigenvectors.push_back(block.back());
      result.variances.push_back(std::max(0.0, value));
    }
    if (worst <= kEigenTolerance * values[0])
      break;
  }

  result.variances.resize(componentCount);
  eigenvectors.resize(componentCount, Vector(columns));
  std::vector<float> byColumn(columns * componentCount);
  result.directions = {components, rows.columns, {}};
  for (std::size_t i = 0; i < componentCount; ++i) {
    fixSign(eigenvectors[i]);
    for (std::size_t j = 0; j < columns; ++j) {
      byColumn[j * componentCount + i] = static_cast<float>(eigenvectors[i][j]);
      result.directions.values.push_back(
          static_cast<float>(eigenvectors[i][j]));
    }
  }
  result.scores = {rows.rows, components, {}};
  products.project(byColumn, components, result.scores.values);
  return result;
}

PrincipalComponents principalComponents(const Matrix &rows,
                                        std::int64_t components,
                                        std::uint64_t seed,
                                        const runtime::Threads &threads) {
  HostRowProducts products(rows, threads);
  return principalComponents(rows, components, seed, products);
}

} // namespace brew::embedding

//===- Arrays.cpp - Layers of two arrays, of Synopsys Caffe ---------------===//

#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

namespace {

/// Warns that the shape of a blob has no effect if a second bottom replaces the
/// blob.
void checkBlobShape(LayerChecker &c, const google::protobuf::Message &settings,
                    const char *field) {
  if (c.layer.bottom_size() == 2 && c.locations.find(settings, field))
    c.warn(settings, field,
           std::string(field) + " has no effect with a second bottom");
}

void checkMul(LayerChecker &c) {
  checkBlobShape(c, c.layer.mul_param(), "mul_shape");
}

void checkMatMul(LayerChecker &c) {
  const caffe::MatMulParameter &settings = c.layer.matmul_param();
  checkBlobShape(c, settings, "blob_shape");
  if (c.layer.bottom_size() == 1 && settings.blob_shape_size() == 0)
    c.reportMissing(settings, "blob_shape");
}

/// Returns the second operand, unless a second bottom replaces it.
std::vector<ParamBlob> secondOperand(const caffe::LayerParameter &layer) {
  if (layer.bottom_size() != 1)
    return {};
  return {{}};
}

/// A type with two bottoms and no settings.
constexpr LayerKind binaryKind(const char *type) { return {type, 2, 2, 1, 1}; }

} // namespace

LayerRows arrayLayers() {
  return {
      binaryKind("Add"),
      binaryKind("Div"),
      LayerKind{"MatMul", 1, 2, 1, 1, "matmul_param"}
          .checkedBy(checkMatMul)
          .withParams(secondOperand),
      // Forks for video and attention.
      LayerKind{"MatrixMultiplication", 2, 2, 1, 1},
      binaryKind("Maximum"),
      binaryKind("Minimum"),
      LayerKind{"Mul", 1, 2, 1, 1, "mul_param"}.checkedBy(checkMul).withParams(
          secondOperand),
      binaryKind("Pow"),
      binaryKind("Sub"),
  };
}

} // namespace brew::prototxt

//===- Passes.h - Passes of the compiler phases -----------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Target/DefaultCpu.h"
#include "dialects/Target/TargetEnums.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir::affine {
class AffineDialect;
}
namespace mlir::arith {
class ArithDialect;
}
namespace mlir::linalg {
class LinalgDialect;
}
namespace mlir::math {
class MathDialect;
}
namespace mlir::tensor {
class TensorDialect;
}
namespace brew::dialects::plan {
class PlanDialect;
}
namespace brew::dialects::target {
class TargetDialect;
}

namespace brew::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace brew::passes

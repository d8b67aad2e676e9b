//===- ScalarComparisons.cpp - Comparisons in CUDA ------------------------===//
#include "compiler/cuda/ScalarOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace brew::compiler::cuda {

std::optional<Code> ScalarOps::comparison(Operation &op, ArrayRef<Code> x) {
  auto binary = [&](const char *sign) { return x[0] + sign + x[1]; };
  auto negated = [&](const char *sign) {
    return "!" + Code::group(x[0] + sign + x[1]);
  };
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    Code ordered = x[0] + " == " + x[0] + " && " + x[1] + " == " + x[1];
    Code differs = x[0] + " < " + x[1] + " || " + x[0] + " > " + x[1];
    switch (compare.getPredicate()) {
    case arith::CmpFPredicate::AlwaysFalse:
      return Code::word("false");
    case arith::CmpFPredicate::AlwaysTrue:
      return Code::word("true");
    case arith::CmpFPredicate::OEQ:
      return binary(" == ");
    case arith::CmpFPredicate::OGT:
      return binary(" > ");
    case arith::CmpFPredicate::OGE:
      return binary(" >= ");
    case arith::CmpFPredicate::OLT:
      return binary(" < ");
    case arith::CmpFPredicate::OLE:
      return binary(" <= ");
    case arith::CmpFPredicate::ONE:
      return differs;
    case arith::CmpFPredicate::ORD:
      return ordered;
    case arith::CmpFPredicate::UEQ:
      return "!" + Code::group(differs);
    case arith::CmpFPredicate::UGT:
      return negated(" <= ");
    case arith::CmpFPredicate::UGE:
      return negated(" < ");
    case arith::CmpFPredicate::ULT:
      return negated(" >= ");
    case arith::CmpFPredicate::ULE:
      return negated(" > ");
    case arith::CmpFPredicate::UNE:
      return binary(" != ");
    case arith::CmpFPredicate::UNO:
      return "!" + Code::group(ordered);
    }
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return std::nullopt;
  Type type = compare.getLhs().getType();
  auto compareSigned = [&](const char *sign) {
    return asSigned(type, x[0]) + sign + asSigned(type, x[1]);
  };
  auto compareUnsigned = [&](const char *sign) {
    return asUnsigned(type, x[0]) + sign + asUnsigned(type, x[1]);
  };
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return binary(" == ");
  case arith::CmpIPredicate::ne:
    return binary(" != ");
  case arith::CmpIPredicate::slt:
    return compareSigned(" < ");
  case arith::CmpIPredicate::sle:
    return compareSigned(" <= ");
  case arith::CmpIPredicate::sgt:
    return compareSigned(" > ");
  case arith::CmpIPredicate::sge:
    return compareSigned(" >= ");
  case arith::CmpIPredicate::ult:
    return compareUnsigned(" < ");
  case arith::CmpIPredicate::ule:
    return compareUnsigned(" <= ");
  case arith::CmpIPredicate::ugt:
    return compareUnsigned(" > ");
  case arith::CmpIPredicate::uge:
    return compareUnsigned(" >= ");
  }
  return std::nullopt;
}

} // namespace brew::compiler::cuda

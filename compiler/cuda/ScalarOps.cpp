//===- ScalarOps.cpp - Scalar types and operations in CUDA C++ ------------===//
#include "compiler/cuda/ScalarOps.h"

#include "support/NumberText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace brew::compiler::cuda {

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

std::string storageType(Type type) {
  if (type.isF16())
    return "__half";
  if (type.isBF16())
    return "__nv_bfloat16";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isInteger(1))
    return "bool";
  if (type.isInteger(8))
    return "unsigned char";
  if (type.isInteger(16))
    return "unsigned short";
  return type.isInteger(32) ? "int" : "long long";
}

std::string bufferType(Type type) {
  return type.isInteger(1) ? "unsigned char" : storageType(type);
}

std::string ScalarOps::type(Type type) const {
  if (type.isIndex())
    return prelude.wide ? "long long" : "int";
  prelude.f16 |= type.isF16();
  prelude.bf16 |= type.isBF16();
  return storageType(type);
}

std::string ScalarOps::arithmeticType(Type type) const {
  return isHalf(type) ? "float" : this->type(type);
}

Code ScalarOps::helper(const std::string &name, ArrayRef<Code> arguments,
                       Type type) {
  prelude.helpers.insert(name);
  bool isNarrow = type && (type.isInteger(8) || type.isInteger(16));
  std::string suffix =
      type ? "<" + (isNarrow ? "int" : arithmeticType(type)) + ">" : "";
  return Code::call(name + suffix, arguments);
}

Code ScalarOps::literal(Type type, double value) {
  if (isHalf(type))
    return stored(type, literal(Float32Type::get(type.getContext()), value));
  bool isDouble = type.isF64();
  if (!isDouble)
    value = static_cast<float>(value);
  if (std::isnan(value))
    return helper(isDouble ? "brewDouble" : "brewFloat",
                  {isDouble ? "0x7ff8000000000000ull" : "0x7fc00000u"});
  if (std::isinf(value)) {
    Code magnitude =
        helper(isDouble ? "brewDouble" : "brewFloat",
               {isDouble ? "0x7ff0000000000000ull" : "0x7f800000u"});
    return value < 0 ? Code::group("-" + magnitude) : magnitude;
  }
  std::string result =
      isDouble ? shortestText(value) : shortestText(static_cast<float>(value));
  // Whole numbers of few digits are written without an exponent.
  if (value == std::trunc(value) && std::fabs(value) < 1e7)
    result = fixedText(value, 1);
  if (result.find_first_of(".e") == std::string::npos)
    result += ".0";
  if (!isDouble)
    result += "f";
  return value < 0 ? Code::group(result) : Code::word(result);
}

Code ScalarOps::literal(TypedAttr value) {
  Type type = value.getType();
  if (auto number = dyn_cast<FloatAttr>(value))
    return literal(type, number.getValueAsDouble());
  auto number = cast<IntegerAttr>(value);
  if (type.isInteger(1))
    return Code::word(number.getValue().isZero() ? "false" : "true");
  if (type.isInteger(8) || type.isInteger(16))
    return Code::word(static_cast<int64_t>(number.getValue().getZExtValue()));
  int64_t integer = number.getValue().getSExtValue();
  bool isWide = type.isInteger(64) || (type.isIndex() && prelude.wide);
  if (integer == INT64_MIN)
    return Code::group("-9223372036854775807ll - 1");
  if (!isWide && integer == INT32_MIN)
    return Code::group("-2147483647 - 1");
  std::string text = std::to_string(integer) + (isWide ? "ll" : "");
  return integer < 0 ? Code::group(text) : Code::word(text);
}

Code ScalarOps::asUnsigned(Type type, const Code &code) const {
  if (type.isIndex())
    return (prelude.wide ? "(unsigned long long)" : "(unsigned)") + code;
  if (type.isInteger(32))
    return "(unsigned)" + code;
  return type.isInteger(64) ? "(unsigned long long)" + code : code;
}

Code ScalarOps::asSigned(Type type, const Code &code) const {
  if (type.isInteger(1))
    return Code::group("-(int)" + code);
  if (type.isInteger(8))
    return "(signed char)" + code;
  return type.isInteger(16) ? "(short)" + code : code;
}

/// Returns `code` converted back to a narrow integer type, since C++ promotes
/// its operands to `int`.
Code ScalarOps::narrowed(Type type, const Code &code) const {
  if (type.isInteger(8) || type.isInteger(16))
    return "(" + this->type(type) + ")" + Code::group(code);
  return code;
}

Code ScalarOps::loaded(Type type, const Code &code) {
  if (!isHalf(type))
    return code;
  prelude.f16 |= type.isF16();
  prelude.bf16 |= type.isBF16();
  return Code::call(type.isF16() ? "__half2float" : "__bfloat162float",
                    {code.bare()});
}

Code ScalarOps::stored(Type type, const Code &code) {
  if (!isHalf(type))
    return code;
  prelude.f16 |= type.isF16();
  prelude.bf16 |= type.isBF16();
  return Code::call(type.isF16() ? "__float2half_rn" : "__float2bfloat16_rn",
                    {code.bare()});
}

Code ScalarOps::maximum(Type type, const Code &a, const Code &b) {
  return stored(
      type, helper("brewMaximum", {loaded(type, a), loaded(type, b)}, type));
}

Code ScalarOps::sum(Type type, const Code &a, const Code &b) {
  return stored(type, loaded(type, a) + " + " + loaded(type, b));
}

/// Returns the C name of a floating-point function, without the `f` of its
/// single-precision form.
static StringRef functionName(StringRef operation) {
  return llvm::StringSwitch<StringRef>(operation)
      .Case("math.absf", "fabs")
      .Case("math.acos", "acos")
      .Case("math.acosh", "acosh")
      .Case("math.asin", "asin")
      .Case("math.asinh", "asinh")
      .Case("math.atan", "atan")
      .Case("math.atan2", "atan2")
      .Case("math.atanh", "atanh")
      .Case("math.cbrt", "cbrt")
      .Case("math.ceil", "ceil")
      .Case("math.copysign", "copysign")
      .Case("math.cos", "cos")
      .Case("math.cosh", "cosh")
      .Case("math.erf", "erf")
      .Case("math.erfc", "erfc")
      .Case("math.exp", "exp")
      .Case("math.exp2", "exp2")
      .Case("math.expm1", "expm1")
      .Case("math.floor", "floor")
      .Case("math.fma", "fma")
      .Case("math.log", "log")
      .Case("math.log10", "log10")
      .Case("math.log1p", "log1p")
      .Case("math.log2", "log2")
      .Case("math.powf", "pow")
      .Case("math.round", "round")
      .Case("math.roundeven", "rint")
      .Case("math.rsqrt", "rsqrt")
      .Case("math.sin", "sin")
      .Case("math.sinh", "sinh")
      .Case("math.sqrt", "sqrt")
      .Case("math.tan", "tan")
      .Case("math.tanh", "tanh")
      .Case("math.trunc", "trunc")
      .Case("arith.maxnumf", "fmax")
      .Case("arith.minnumf", "fmin")
      .Case("arith.remf", "fmod")
      .Default({});
}

std::optional<Code> ScalarOps::floatOperation(Operation &op, ArrayRef<Code> x) {
  Type type = op.getResult(0).getType();
  bool noNaN = false;
  if (auto flags = dyn_cast<arith::ArithFastMathInterface>(op))
    noNaN = arith::bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(),
                                      arith::FastMathFlags::nnan);
  std::string suffix = type.isF64() ? "" : "f";
  if (StringRef name = functionName(op.getName().getStringRef());
      !name.empty()) {
    SmallVector<Code> arguments;
    for (const Code &argument : x)
      arguments.push_back(argument.bare());
    return Code::call(name.str() + suffix, arguments);
  }
  return llvm::TypeSwitch<Operation *, std::optional<Code>>(&op)
      .Case<arith::AddFOp>([&](auto) { return x[0] + " + " + x[1]; })
      .Case<arith::SubFOp>([&](auto) { return x[0] + " - " + x[1]; })
      .Case<arith::MulFOp>([&](auto) { return x[0] + " * " + x[1]; })
      .Case<arith::DivFOp>([&](auto) { return x[0] + " / " + x[1]; })
      .Case<arith::NegFOp>([&](auto) { return "-" + x[0]; })
      .Case<arith::MaximumFOp>([&](auto) {
        return noNaN ? Code::call("fmax" + suffix, x)
                     : helper("brewMaximum", x, type);
      })
      .Case<arith::MinimumFOp>([&](auto) {
        return noNaN ? Code::call("fmin" + suffix, x)
                     : helper("brewMinimum", x, type);
      })
      .Case<math::FPowIOp>([&](math::FPowIOp power) {
        return Code::call("pow" + suffix,
                          {x[0], "(" + arithmeticType(type) + ")" +
                                     asSigned(power.getRhs().getType(), x[1])});
      })
      .Default(std::nullopt);
}

std::optional<Code> ScalarOps::integerOperation(Operation &op,
                                                ArrayRef<Code> x) {
  Type type = op.getResult(0).getType();
  bool isBool = type.isInteger(1);
  auto s = [&](unsigned i) { return asSigned(type, x[i]); };
  auto u = [&](unsigned i) { return asUnsigned(type, x[i]); };
  auto select = [&](const Code &condition) {
    return condition + " ? " + x[0] + " : " + x[1];
  };
  // Converts an unsigned result to the variable's type.
  auto castToResult = [&](const Code &code) {
    return "(" + this->type(type) + ")" + Code::group(code);
  };
  // Integers wrap around in the IR, but signed overflow is undefined in C++;
  // subscripts never overflow.
  auto wrap = [&](const std::string &sign) {
    if (type.isIndex())
      return x[0] + " " + sign + " " + x[1];
    bool isNarrow = type.isInteger(8) || type.isInteger(16);
    Code first = isNarrow ? "(unsigned)" + x[0] : u(0);
    return castToResult(first + " " + sign + " " + u(1));
  };
  auto code =
      llvm::TypeSwitch<Operation *, std::optional<Code>>(&op)
          .Case<arith::AddIOp>(
              [&](auto) { return isBool ? x[0] + " != " + x[1] : wrap("+"); })
          .Case<arith::SubIOp>(
              [&](auto) { return isBool ? x[0] + " != " + x[1] : wrap("-"); })
          .Case<arith::MulIOp>(
              [&](auto) { return isBool ? x[0] + " && " + x[1] : wrap("*"); })
          .Case<arith::DivSIOp>([&](auto) { return s(0) + " / " + s(1); })
          .Case<arith::RemSIOp>([&](auto) { return s(0) + " % " + s(1); })
          .Case<arith::DivUIOp>(
              [&](auto) { return castToResult(u(0) + " / " + u(1)); })
          .Case<arith::RemUIOp>(
              [&](auto) { return castToResult(u(0) + " % " + u(1)); })
          .Case<arith::CeilDivUIOp>([&](auto) {
            return castToResult(Code::group(u(0) + " + " + u(1) + " - 1") +
                                " / " + u(1));
          })
          .Case<arith::FloorDivSIOp>([&](auto) {
            return helper("brewFloorDivide", {s(0), s(1)}, type);
          })
          .Case<arith::CeilDivSIOp>([&](auto) {
            return "-" + helper("brewFloorDivide", {"-" + s(0), s(1)}, type);
          })
          .Case<arith::AndIOp>(
              [&](auto) { return x[0] + (isBool ? " && " : " & ") + x[1]; })
          .Case<arith::OrIOp>(
              [&](auto) { return x[0] + (isBool ? " || " : " | ") + x[1]; })
          .Case<arith::XOrIOp>(
              [&](auto) { return x[0] + (isBool ? " != " : " ^ ") + x[1]; })
          .Case<arith::ShLIOp>(
              [&](auto) { return castToResult(u(0) + " << " + u(1)); })
          .Case<arith::ShRUIOp>(
              [&](auto) { return castToResult(u(0) + " >> " + u(1)); })
          .Case<arith::ShRSIOp>([&](auto) { return s(0) + " >> " + s(1); })
          .Case<arith::MaxSIOp>(
              [&](auto) { return select(s(0) + " > " + s(1)); })
          .Case<arith::MinSIOp>(
              [&](auto) { return select(s(0) + " < " + s(1)); })
          .Case<arith::MaxUIOp>(
              [&](auto) { return select(u(0) + " > " + u(1)); })
          .Case<arith::MinUIOp>(
              [&](auto) { return select(u(0) + " < " + u(1)); })
          .Case<math::AbsIOp>(
              [&](auto) { return s(0) + " < 0 ? -" + s(0) + " : " + s(0); })
          .Default(std::nullopt);
  if (code)
    code = narrowed(type, *code);
  return code;
}

std::optional<Code> ScalarOps::conversion(Operation &op, const Code &x) {
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  std::string target = "(" + arithmeticType(to) + ")";
  auto castInteger = [&](const Code &code) {
    return to.isInteger(1) ? Code::group(code + " & 1") + " != 0"
                           : target + code;
  };
  return llvm::TypeSwitch<Operation *, std::optional<Code>>(&op)
      // 16-bit operands are already widened.
      .Case<arith::ExtFOp>([&](auto) { return to.isF64() ? target + x : x; })
      .Case<arith::TruncFOp>(
          [&](auto) { return from.isF64() || !isHalf(to) ? target + x : x; })
      .Case<arith::SIToFPOp>([&](auto) { return target + asSigned(from, x); })
      .Case<arith::UIToFPOp>([&](auto) { return target + asUnsigned(from, x); })
      .Case<arith::FPToSIOp>([&](auto) {
        std::string narrowCast = to.isInteger(8)    ? "(signed char)"
                                 : to.isInteger(16) ? "(short)"
                                                    : "";
        return target + narrowCast + x;
      })
      .Case<arith::FPToUIOp>([&](auto) {
        return target + (to.isInteger(32) ? "(unsigned)" : "") + x;
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>(
          [&](auto) { return castInteger(asSigned(from, x)); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](auto) { return castInteger(asUnsigned(from, x)); })
      .Case<arith::TruncIOp>([&](auto) { return castInteger(x); })
      .Default(std::nullopt);
}

std::optional<Code> ScalarOps::expression(Operation &op,
                                          ArrayRef<Code> operands) {
  if (isa<arith::SelectOp>(op))
    return operands[0] + " ? " + operands[1] + " : " + operands[2];
  // Arithmetic on 16-bit types uses floats.
  SmallVector<Code> x;
  for (auto [operand, code] : llvm::zip(op.getOperands(), operands))
    x.push_back(loaded(operand.getType(), code));
  Type type = op.getResult(0).getType();
  std::optional<Code> code;
  if (isa<arith::CmpFOp, arith::CmpIOp>(op))
    return comparison(op, x);
  if (op.getNumOperands() == 1)
    code = conversion(op, x[0]);
  if (!code)
    code =
        isa<FloatType>(type) ? floatOperation(op, x) : integerOperation(op, x);
  if (code)
    code = stored(type, *code);
  return code;
}

} // namespace brew::compiler::cuda

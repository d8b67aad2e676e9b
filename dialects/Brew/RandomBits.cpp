//===- RandomBits.cpp - Random numbers in kernels -------------------------===//
#include "dialects/Brew/RandomBits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Builds wrapping arithmetic of 32-bit integers.
struct WordBuilder {
  OpBuilder &b;
  Location loc;

  Value constant(uint32_t value) {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value mul(Value x, uint32_t y) {
    return arith::MulIOp::create(b, loc, x, constant(y));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value bitXor(Value x, Value y) { return arith::XOrIOp::create(b, loc, x, y); }
  Value xorShift(Value x, uint32_t by) {
    return bitXor(x, arith::ShRUIOp::create(b, loc, x, constant(by)));
  }
  /// Hashes x bijectively, so that every bit of the result depends about
  /// evenly on every bit of x. The constants are from C. Wellons, "Prospecting
  /// for hash functions", as improved by TheIronBorn.
  Value mix(Value x) {
    x = mul(xorShift(x, 16), 0x21f0aaadu);
    x = mul(xorShift(x, 15), 0xd35a2d97u);
    return xorShift(x, 15);
  }
};

} // namespace

Value brew::dialects::randomBits(const NestBuilder::Body &body, Value key,
                                 Value number) {
  ScalarBuilder s = body.s;
  WordBuilder w{s.b, s.loc};
  auto word = [&](int64_t i) { return body.read(key, {s.index(i)}); };
  // The golden ratio spreads the numbers. One word of the key enters before the
  // two rounds and one between them, so that streams of different keys are
  // unrelated.
  Value state = w.add(w.mul(number, 0x9e3779b9u), word(0));
  return w.mix(w.bitXor(w.mix(state), word(1)));
}

Value brew::dialects::randomUniform(const NestBuilder::Body &body, Value key,
                                    Value number, Type type) {
  ScalarBuilder s = body.s;
  Value bits = randomBits(body, key, number);
  // 24 bits are exact in f32, and positive as a signed integer.
  Value high = arith::ShRUIOp::create(s.b, s.loc, bits,
                                      WordBuilder{s.b, s.loc}.constant(8));
  return s.mul(arith::SIToFPOp::create(s.b, s.loc, type, high),
               s.constant(type, 0x1p-24));
}

Value brew::dialects::elementNumber(const NestBuilder::Body &body,
                                    ArrayRef<int64_t> shape) {
  ScalarBuilder s = body.s;
  Value number = s.index(0);
  for (auto [loop, extent] : llvm::enumerate(shape))
    number = loop ? s.addi(s.muli(number, extent), body.loop(loop))
                  : body.loop(loop);
  return arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(), number);
}

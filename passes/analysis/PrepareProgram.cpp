//===- PrepareProgram.cpp - Builder of the program `prepare` --------------===//
#include "passes/analysis/PrepareProgram.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace brew;
using namespace brew::passes;
using namespace brew::dialects;

PrepareProgram::PrepareProgram(ModuleOp module, ProgramOp user)
    : module(module), symbols(module), user(user), b(module.getContext()) {
  for (auto existing : module.getOps<ProgramOp>())
    if (existing.getRole() == ProgramRole::Prepare)
      program = existing;
  if (program)
    b.setInsertionPointToEnd(&program.getBody().front());
}

void PrepareProgram::create() {
  if (program)
    return;
  OpBuilder outer(user);
  program = ProgramOp::create(
      outer, user.getLoc(), programName(ProgramRole::Prepare), NetPhase::Test,
      ProgramRole::Prepare, nullptr, nullptr, nullptr, false);
  // Its values are not blobs of the net.
  program.setBlobsAttr(outer.getDictionaryAttr({}));
  program.setParamsAttr(outer.getDictionaryAttr({}));
  program.setCaffeBytes(0);
  b.createBlock(&program.getBody());
}

Value PrepareProgram::readParam(ParamValueOp param) {
  // brew.param_value would read the value before the run.
  for (auto store : program.getBody().front().getOps<StoreParamOp>())
    if (store.getParam() == param.getParam())
      return store.getValue();
  return b.clone(*param)->getResult(0);
}

Value PrepareProgram::createDerivedParam(Value value, StringRef layer,
                                         int64_t index, StringRef suffix,
                                         OpBuilder &builder) {
  OpBuilder outer(program);
  auto type = tensorTypeOf(value);
  auto attribute = [&](StringRef name, Attribute content) {
    return outer.getNamedAttr(name, content);
  };
  std::string name = (layer + "." + Twine(index) + "." + suffix).str();
  SmallVector<NamedAttribute> attributes = {
      attribute("sym_name", outer.getStringAttr(name)),
      attribute("type", TypeAttr::get(type)),
      attribute("layer", outer.getStringAttr(layer)),
      attribute("index", outer.getI64IntegerAttr(index)),
      attribute("file_dims", outer.getDenseI64ArrayAttr(type.getShape())),
      attribute(kDerivedAttr, outer.getUnitAttr())};
  auto param = ParamOp::create(outer, value.getLoc(), TypeRange(), ValueRange(),
                               attributes);
  symbols.insert(param);
  auto symbol = FlatSymbolRefAttr::get(param.getSymNameAttr());
  StoreParamOp::create(b, value.getLoc(), value, symbol);
  return ParamValueOp::create(builder, value.getLoc(), type, symbol);
}

void PrepareProgram::eraseUnused() {
  llvm::StringSet<> read;
  module.walk([&](ParamValueOp value) { read.insert(value.getParam()); });
  Block &block = program.getBody().front();
  for (auto store : llvm::make_early_inc_range(block.getOps<StoreParamOp>()))
    if (!read.contains(store.getParam())) {
      symbols.erase(symbols.lookup(store.getParam()));
      store.erase();
    }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

//===- BrewDialect.td - The brew dialect and its attributes ---------------===//
#ifndef BREW_DIALECT_TD
#define BREW_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Brew_Dialect : Dialect {
  let name = "brew";
  let cppNamespace = "::brew::dialects";
  let summary = "A Caffe net: layers over tensors, parameters as symbols";
  let description = [{
    Layers are operations over value-semantics tensors whose dimensions are in
    Caffe's order. Learnable parameters and solver state are symbols of the
    module; programs read them as values and store new ones. The location of
    every operation is the place in the prototxt it came from.

    A net goes through the phases *import* (operations 1:1 with layers, unranked
    tensors), *graph* (static shapes, gradients and solver updates) and *fused*
    (vendor calls and `brew.kernel` regions) before it becomes the `plan`
    dialect.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
    "::brew::dialects::plan::PlanDialect"
  ];
  let extraClassDeclaration = [{
    /// For the layer groups (layers/*/*.cpp), which register their operations
    /// themselves.
    template <typename... Ops> void addLayerOperations() { addOperations<Ops...>(); }

    /// Types that the program computes. They must outlive the context's use.
    void setHostLayers(const HostLayerTypes &types) { hostLayers = &types; }
    /// The type of that name, or null.
    const HostLayerType *findHostLayer(::llvm::StringRef name) const;

  private:
    const HostLayerTypes *hostLayers = nullptr;
  }];
}

def Brew_LayoutAttr : AttrDef<Brew_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Order in memory of a tensor's dimensions";
  let description = [{
    Encoding of a ranked tensor type: its logical dimensions, outermost in
    memory first. `#brew.layout<0, 2, 3, 1>` on an N, C, H, W tensor is
    channels-last. A tensor without an encoding is row-major.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$order);
  let assemblyFormat = "`<` $order `>`";
  let genVerifyDecl = 1;
}

class Brew_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::brew::dialects";
  let genSpecializedAttr = 0;
}
class Brew_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Brew_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

// What an operation is to its program; passes ask for these and know no lists.
class Brew_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::brew::dialects";
}
def Brew_Sink : Brew_Trait<"IsSink">;
def Brew_StoreTrait : Brew_Trait<"IsStore">;
defvar Store = TraitList<[Brew_Sink, Brew_StoreTrait]>;
def Brew_PersistentRead : Brew_Trait<"IsPersistentRead">;
def Brew_View : Brew_Trait<"IsView">;
def Brew_AcceptsSubviews : Brew_Trait<"AcceptsSubviews">;

class Brew_Op<string mnemonic, list<Trait> traits = []>
    : Op<Brew_Dialect, mnemonic, traits>;

#endif // BREW_DIALECT_TD

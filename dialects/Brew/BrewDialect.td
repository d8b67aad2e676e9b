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
    Layers are operations over tensors with value semantics, whose dimensions are in
    Caffe's order (N, C, H, W). Learnable parameters are symbols of the module; programs
    read parameters and solver state as values and store new ones. The location of every
    operation is the location of its layer in the prototxt.

    A net passes through three phases before it becomes the `plan` dialect:

    - *import*: one operation per layer, unranked tensors.
    - *graph*: static shapes, gradients and solver updates.
    - *fused*: library calls and `brew.kernel` regions of loop nests.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
    "::brew::dialects::plan::PlanDialect"
  ];
  let extraClassDeclaration = [{
    /// Registers operations. The layer groups (layers/*/*.cpp) call it for
    /// their own operations.
    template <typename... Ops> void addLayerOperations() { addOperations<Ops...>(); }

    /// Sets the layer types that host code computes. `types` must outlive every
    /// use of the context.
    void setHostLayers(const HostLayerTypes &types) { hostLayers = &types; }
    /// Returns the host layer type of that name, or null.
    const HostLayerType *findHostLayer(::llvm::StringRef name) const;

  private:
    const HostLayerTypes *hostLayers = nullptr;
  }];
}

def Brew_LayoutAttr : AttrDef<Brew_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Order of a tensor's dimensions in memory";
  let description = [{
    The encoding of a ranked tensor type: the tensor's logical dimensions, outermost in
    memory first. A tensor without an encoding is row-major.

    Example: an N, C, H, W tensor that is channels-last in memory.

    ```mlir
    tensor<64x20x24x24xf32, #brew.layout<0, 2, 3, 1>>
    ```
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

// Roles of operations in a program (BrewDialect.h). Passes query these traits
// instead of listing operations.
class Brew_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::brew::dialects";
}
def Brew_Sink : Brew_Trait<"IsSink">;
def Brew_StoreTrait : Brew_Trait<"IsStore">;
defvar Store = TraitList<[Brew_Sink, Brew_StoreTrait]>;
def Brew_PersistentRead : Brew_Trait<"IsPersistentRead">;
def Brew_Input : Brew_Trait<"IsInput">;
def Brew_View : Brew_Trait<"IsView">;
def Brew_AcceptsSubviews : Brew_Trait<"AcceptsSubviews">;

class Brew_Op<string mnemonic, list<Trait> traits = []>
    : Op<Brew_Dialect, mnemonic, traits>;

#endif // BREW_DIALECT_TD

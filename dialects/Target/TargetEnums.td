//===- TargetEnums.td - Precision and layout of activations *- tablegen -*-===//
#ifndef TARGET_ENUMS_TD
#define TARGET_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class Target_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::brew::dialects::target";
  let genSpecializedAttr = 0;
}

// For nets in 32 bits; nets in 64 bits have f64 types from the import on.
def Target_Precision : Target_I32Enum<"Precision", "type of stored activations and of products", [
  I32EnumAttrCase<"F32", 0, "f32">,
  I32EnumAttrCase<"TF32", 1, "tf32">,
  I32EnumAttrCase<"BF16", 2, "bf16">,
  I32EnumAttrCase<"F16", 3, "f16">]>;

def Target_BlobLayout : Target_I32Enum<"BlobLayout",
  "memory order of the dimensions of activations", [
  I32EnumAttrCase<"Auto", 0, "auto">,
  I32EnumAttrCase<"NCHW", 1, "nchw">,
  I32EnumAttrCase<"NHWC", 2, "nhwc">]>;

#endif // TARGET_ENUMS_TD

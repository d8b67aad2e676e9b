//===- PlanBase.td - The plan dialect and its attributes ---*- tablegen -*-===//
#ifndef PLAN_BASE_TD
#define PLAN_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "dialects/EnumCases.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::brew::dialects::plan";
  let useDefaultAttributePrinterParser = 1;
  let summary = "Buffers with offsets and the ordered steps over them";
  let description = [{
    The last form of a net before kernels are generated and the plan file is written; it maps
    one to one onto the file's manifest. Every value is a buffer at a fixed offset of an arena: a
    memref whose strides are the layout.
  }];
}

class Plan_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::brew::dialects::plan";
  let genSpecializedAttr = 0;
}
class Plan_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Plan_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Plan_ArenaKind : Plan_I32Enum<"ArenaKind", "content of an arena", [
  ArenaKind_Transient, ArenaKind_Parameters, ArenaKind_Gradients, ArenaKind_State,
  ArenaKind_Scalars, ArenaKind_Constants]>;
def Plan_ArenaKindAttr : Plan_EnumAttr<Plan_ArenaKind, "arena_kind">;

def Plan_BlobValue : Plan_I32Enum<"BlobValue",
  "value of a blob that the host can read after a run", [
  I32EnumAttrCase<"Data", 0, "data">,
  I32EnumAttrCase<"Diff", 1, "diff">,
  I32EnumAttrCase<"Count", 2, "count">]>;
def Plan_BlobValueAttr : Plan_EnumAttr<Plan_BlobValue, "blob_value">;

def Plan_LayerValue : Plan_I32Enum<"LayerValue", "value of a layer that debug_info reports", [
  I32EnumAttrCase<"Top", 0, "top">,
  I32EnumAttrCase<"BottomDiff", 1, "bottom_diff">]>;
def Plan_LayerValueAttr : Plan_EnumAttr<Plan_LayerValue, "layer_value">;

// Named as the buffers of ConvolutionCall in plan.proto. `Sum` is the tensor that the call adds its
// result to.
def Plan_CallOperand : Plan_I32Enum<"CallOperand", "operand of a library call", [
  I32EnumAttrCase<"X", 0, "x">,
  I32EnumAttrCase<"W", 1, "w">,
  I32EnumAttrCase<"B", 2, "b">,
  I32EnumAttrCase<"Sum", 3, "sum">,
  I32EnumAttrCase<"Y", 4, "y">]>;

def Plan_GeneratedAttr : AttrDef<Plan_Dialect, "Generated"> {
  let mnemonic = "generated";
  let summary = "A generated kernel that can replace a library call";
  let description = [{
    `buffers` are the call's operands that a launch of `kernel` reads and writes: first those for
    its block arguments, then those for its results.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$kernel,
    ArrayRefParameter<"::brew::dialects::plan::CallOperand">:$buffers);
  let assemblyFormat = "`<` $kernel `(` $buffers `)` `>`";
}

def Plan_FillerAttr : AttrDef<Plan_Dialect, "Filler"> {
  let mnemonic = "filler";
  let summary = "Initialisation of a parameter";
  let description = [{
    A parsed caffe.FillerParameter. `text` is its prototxt on one line. Attributes are
    uniqued by text, so that two texts of one message are two attributes.
  }];
  let parameters = (ins StringRefParameter<"prototxt">:$text);
  let assemblyFormat = "`<` $text `>`";
  let genVerifyDecl = 1;
  let genStorageClass = 0;
  let builders = [
    AttrBuilder<(ins "const ::brew::caffe::FillerParameter &":$filler)>
  ];
  let extraClassDeclaration = [{
    const ::brew::caffe::FillerParameter &getFiller() const;
  }];
}

def Plan_SharerAttr : AttrDef<Plan_Dialect, "Sharer"> {
  let mnemonic = "sharer";
  let summary = "A layer that uses another layer's parameter";
  let description = [{
    `layer` is the layer that uses the parameter, as its own blob `index`. `layer_type` is the
    layer's Caffe type. Weight files contain the parameter once for each layer that uses it.
  }];
  let parameters = (ins StringRefParameter<>:$layer, "int64_t":$index,
    StringRefParameter<>:$layer_type);
  let assemblyFormat = "`<` $layer `[` $index `]` `,` $layer_type `>`";
}
def Plan_SharerArrayAttr : TypedArrayAttrBase<Plan_SharerAttr, "layers that share a parameter">;

def Plan_DataInputConfigAttr : AttrDef<Plan_Dialect, "DataInputConfig"> {
  let mnemonic = "data_input_config";
  let summary = "Settings of a data layer";
  let description = [{
    A parsed caffe.LayerParameter. `text` is its prototxt on one line. Attributes are
    uniqued by text, so that two texts of one message are two attributes. Data inputs print the
    attribute as a plain string.
  }];
  let parameters = (ins StringRefParameter<"prototxt">:$text);
  let assemblyFormat = "`<` $text `>`";
  let genVerifyDecl = 1;
  let genStorageClass = 0;
  let builders = [
    AttrBuilder<(ins "const ::brew::caffe::LayerParameter &":$layer)>
  ];
  let extraClassDeclaration = [{
    const ::brew::caffe::LayerParameter &getLayer() const;
  }];
}

#endif // PLAN_BASE_TD

//===- PlanBase.td - The plan dialect and its attributes --------*- tablegen -*-===//
#ifndef PLAN_BASE_TD
#define PLAN_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::brew::planir";
  let useDefaultAttributePrinterParser = 1;
  let summary = "Buffers with offsets and the ordered steps over them";
  let description = [{
    The last form before kernels are generated and the plan file is written; it
    maps one to one onto the file's manifest. Every value is a buffer at a fixed
    place of an arena, a memref whose strides are the layout.
  }];
}

class Plan_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::brew::planir";
  let genSpecializedAttr = 0;
}
class Plan_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Plan_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Plan_FeedConfigAttr : AttrDef<Plan_Dialect, "FeedConfig"> {
  let mnemonic = "feed_config";
  let summary = "The settings of a layer that brings data in";
  let description = [{
    A LayerParameter, which the attribute holds parsed: `text` is its prototxt on
    one line. Two texts of one message are two attributes. Feeds write it as a
    plain string.
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

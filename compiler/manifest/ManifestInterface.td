//===- ManifestInterface.td - Manifest entries of operations --------------===//
#ifndef MANIFEST_INTERFACE_TD
#define MANIFEST_INTERFACE_TD

include "mlir/IR/Interfaces.td"

def Brew_ManifestInterface : OpInterface<"ManifestInterface"> {
  let cppNamespace = "::brew::compiler";
  let description = [{
    Implemented by operations of a `plan.program` that add an entry to the plan file's
    manifest. The dialect does not depend on the plan format, so the interface is
    attached to its operations as an external model (`registerManifestEntries`).
  }];
  let methods = [InterfaceMethod<
      "Adds the entry to `program`, the last program of the manifest.",
    "void", "addToManifest",
    (ins "::brew::compiler::ManifestBuilder &":$builder,
         "::brew::plan::Program &":$program)>];
}

#endif // MANIFEST_INTERFACE_TD

//===- ManifestInterface.td - What an operation adds to a plan ------------===//
#ifndef MANIFEST_INTERFACE_TD
#define MANIFEST_INTERFACE_TD

include "mlir/IR/Interfaces.td"

def Brew_ManifestInterface : OpInterface<"ManifestInterface"> {
  let cppNamespace = "::brew::compiler";
  let description = [{
    An operation of a `plan.program` that knows its entry in the plan file's
    manifest. The dialect knows nothing of that format, so its operations are given
    this interface from outside (`registerManifestEntries`).
  }];
  let methods = [InterfaceMethod<
      "Adds the entry to `program`, the manifest's present one.",
    "void", "addToManifest",
    (ins "::brew::compiler::ManifestBuilder &":$builder,
         "::brew::plan::Program &":$program)>];
}

#endif // MANIFEST_INTERFACE_TD

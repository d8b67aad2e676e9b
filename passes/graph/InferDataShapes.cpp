//===- InferDataShapes.cpp - Shapes of data-layer tops --------------------===//
#include "caffe/DataLayerKinds.h"
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/DiagnosticMetadata.h"
#include "dialects/Brew/layers/external/External.h"
#include "passes/Passes.h"
#include "passes/graph/DataShapes.h"
#include "support/Error.h"

#include "mlir/IR/Builders.h"

#include <filesystem>
#include <set>

namespace brew::passes {
#define GEN_PASS_DEF_INFERDATASHAPES
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
namespace caffe = brew::caffe;

namespace {

struct InferDataShapes
    : brew::passes::impl::InferDataShapesBase<InferDataShapes> {
  using InferDataShapesBase::InferDataShapesBase;

  void runOnOperation() override {
    brew::passes::DataShapeOptions options;
    std::set<std::string> tops;
    try {
      options.explicitShapes = brew::passes::parseInputShapes(
          std::vector<std::string>(inputShapes.begin(), inputShapes.end()));
      if (batch < 0 || batch > INT32_MAX)
        throw brew::Error(brew::ExitStatus::Usage,
                          "--batch must be from 1 to 2147483647");
      options.batch = batch;
    } catch (const brew::Error &error) {
      return fail(getOperation(), error, "");
    }
    // Continue after errors, so that one run reports all missing sources.
    getOperation().walk([&](DataInputOp dataInput) {
      for (auto top : dataInput.getTops().getAsRange<StringAttr>())
        tops.insert(top.str());
      inferTopShapes(dataInput, options);
    });
    getOperation().walk([&](HostLayerOp layer) {
      for (auto top : layer.getTops().getAsRange<StringAttr>())
        tops.insert(top.str());
      setExplicitShapes(layer, options);
    });
    for (const auto &[blob, shape] : options.explicitShapes)
      if (!tops.count(blob))
        fail(getOperation(),
             brew::Error(
                 brew::ExitStatus::Usage,
                 "--input-shape: no data layer or host layer has a top '" +
                     blob + "'"),
             "");
  }

private:
  void inferTopShapes(DataInputOp dataInput,
                      const brew::passes::DataShapeOptions &options) {
    const std::string prefix = "layer '" + dataInput.getLayer().str() + "' (" +
                               dataInput.getKind().str() + "): ";
    const auto *kind = brew::caffe::findDataLayerKind(dataInput.getKind());
    if (kind && kind->source == brew::caffe::DataLayerSource::RandomKey) {
      // A key has two words (dialects/Brew/RandomBits.h).
      for (Value value : dataInput.getValues())
        value.setType(RankedTensorType::get({2}, elementTypeOf(value)));
      return;
    }
    try {
      // Copy the settings, because inference writes the options into them.
      caffe::LayerParameter layer = dataInput.getConfig().getLayer();
      if (layer.top_size() != static_cast<int>(dataInput.getNumResults()))
        throw brew::badInput("config belongs to a layer with other tops");
      std::vector<std::string> folders;
      std::error_code error;
      if (std::filesystem::current_path(error) != dataInput.getFolder().str())
        folders.push_back(dataInput.getFolder().str());
      const auto shapes =
          brew::passes::inferDataShapes(layer, folders, options);
      for (auto [value, shape] : llvm::zip_equal(dataInput.getValues(), shapes))
        value.setType(RankedTensorType::get(shape, elementTypeOf(value)));
      dataInput.setConfigAttr(
          brew::dialects::plan::DataInputConfigAttr::get(&getContext(), layer));
    } catch (const brew::Error &error) {
      fail(dataInput, error, prefix);
    }
  }

  /// Sets explicit shapes of the layer's tops as an attribute.
  static void setExplicitShapes(HostLayerOp layer,
                                const brew::passes::DataShapeOptions &options) {
    Builder b(layer.getContext());
    SmallVector<Attribute> shapes;
    bool hasExplicit = false;
    for (auto top : layer.getTops().getAsRange<StringAttr>()) {
      auto entry = options.explicitShapes.find(top.str());
      const bool isExplicit = entry != options.explicitShapes.end();
      hasExplicit |= isExplicit;
      shapes.push_back(isExplicit
                           ? Attribute(b.getDenseI64ArrayAttr(entry->second))
                           : b.getUnitAttr());
    }
    if (hasExplicit)
      layer.setShapesAttr(b.getArrayAttr(shapes));
  }

  /// Turns an exception into a diagnostic: exceptions must not cross the pass
  /// manager.
  void fail(Operation *op, const brew::Error &error,
            const std::string &prefix) {
    auto diagnostic = op->emitError();
    diagnostic << prefix << error.what();
    setExitStatus(diagnostic, error.status());
    if (auto layer = op->getAttrOfType<StringAttr>("layer"))
      setLayer(diagnostic, layer);
    signalPassFailure();
  }
};

} // namespace

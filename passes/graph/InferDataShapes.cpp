//===- InferDataShapes.cpp - Shapes of the tops of data layers ---------------===//
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

struct InferDataShapes : brew::passes::impl::InferDataShapesBase<InferDataShapes> {
  using InferDataShapesBase::InferDataShapesBase;

  void runOnOperation() override {
    brew::passes::DataShapeOptions given;
    std::set<std::string> tops;
    try {
      given.given = brew::passes::parseInputShapes(
          std::vector<std::string>(inputShapes.begin(), inputShapes.end()));
      if (batch < 0 || batch > INT32_MAX)
        throw brew::Error(brew::ExitStatus::Usage,
                          "--batch must be from 1 to 2147483647");
      given.batch = batch;
    } catch (const brew::Error &error) {
      return fail(getOperation(), error, "");
    }
    // Every feed is looked at, so that one run names all sources missing.
    getOperation().walk([&](DataInputOp feed) {
      for (auto top : feed.getTops().getAsRange<StringAttr>())
        tops.insert(top.str());
      resolve(feed, given);
    });
    getOperation().walk([&](HostLayerOp layer) {
      for (auto top : layer.getTops().getAsRange<StringAttr>())
        tops.insert(top.str());
      takeShapes(layer, given);
    });
    for (const auto &[blob, shape] : given.given)
      if (!tops.count(blob))
        fail(getOperation(),
             brew::Error(
                 brew::ExitStatus::Usage,
                 "--input-shape: no data layer or host layer has a top '" +
                     blob + "'"),
             "");
  }

private:
  void resolve(DataInputOp feed, const brew::passes::DataShapeOptions &given) {
    const std::string who = "layer '" + feed.getLayer().str() + "' (" +
                            feed.getKind().str() + "): ";
    const auto *kind = brew::caffe::findDataLayerKind(feed.getKind());
    if (kind && kind->source == brew::caffe::DataLayerSource::RandomKey) {
      // A key of two words (dialects/Brew/RandomBits.h).
      for (Value value : feed.getValues())
        value.setType(RankedTensorType::get({2}, elementTypeOf(value)));
      return;
    }
    try {
      // The options change it.
      caffe::LayerParameter layer = feed.getConfig().getLayer();
      if (layer.top_size() != static_cast<int>(feed.getNumResults()))
        throw brew::badInput("config is of a layer with other tops");
      std::vector<std::string> folders;
      std::error_code error;
      if (std::filesystem::current_path(error) != feed.getFolder().str())
        folders.push_back(feed.getFolder().str());
      const auto shapes = brew::passes::inferDataShapes(layer, folders, given);
      for (auto [value, shape] : llvm::zip_equal(feed.getValues(), shapes))
        value.setType(RankedTensorType::get(shape, elementTypeOf(value)));
      feed.setConfigAttr(
          brew::dialects::plan::DataInputConfigAttr::get(&getContext(), layer));
    } catch (const brew::Error &error) {
      fail(feed, error, who);
    }
  }

  /// Notes the shapes that are given of its tops.
  static void takeShapes(HostLayerOp layer,
                         const brew::passes::DataShapeOptions &given) {
    Builder b(layer.getContext());
    SmallVector<Attribute> shapes;
    bool any = false;
    for (auto top : layer.getTops().getAsRange<StringAttr>()) {
      auto found = given.given.find(top.str());
      const bool isGiven = found != given.given.end();
      any |= isGiven;
      shapes.push_back(isGiven
                           ? Attribute(b.getDenseI64ArrayAttr(found->second))
                           : b.getUnitAttr());
    }
    if (any)
      layer.setShapesAttr(b.getArrayAttr(shapes));
  }

  /// Exceptions must not cross the pass manager.
  void fail(Operation *at, const brew::Error &error, const std::string &who) {
    auto diagnostic = at->emitError();
    diagnostic << who << error.what();
    setExitStatus(diagnostic, error.status());
    if (auto layer = at->getAttrOfType<StringAttr>("layer"))
      setLayer(diagnostic, layer);
    signalPassFailure();
  }
};

} // namespace

//===- DataInputConfig.cpp - Settings of data layers ----------------------===//
#include "dialects/Plan/MessageStorage.h"
#include "dialects/Plan/PlanDialect.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

using namespace mlir;
namespace caffe = brew::caffe;
using namespace brew::dialects::plan;

namespace {

/// Suppresses the text parser's messages; attribute verifiers report errors.
struct SilentCollector : google::protobuf::io::ErrorCollector {
  void AddError(int, int, const std::string &) override {}
};
} // namespace

bool brew::dialects::plan::detail::parseMessage(
    StringRef text, google::protobuf::Message &message) {
  google::protobuf::TextFormat::Parser parser;
  SilentCollector silent;
  parser.RecordErrorsTo(&silent);
  return parser.ParseFromString(text.str(), &message);
}

LogicalResult
DataInputConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            StringRef text) {
  caffe::LayerParameter layer;
  if (!brew::dialects::plan::detail::parseMessage(text, layer))
    return emitError()
           << "a data input's configuration is not a LayerParameter";
  return success();
}

DataInputConfigAttr
DataInputConfigAttr::get(MLIRContext *context,
                         const caffe::LayerParameter &layer) {
  return get(context, StringRef(layer.ShortDebugString()));
}

StringRef DataInputConfigAttr::getText() const { return getImpl()->text; }

const brew::caffe::LayerParameter &DataInputConfigAttr::getLayer() const {
  return getImpl()->message;
}

static constexpr llvm::StringLiteral kConfig = "config";

ParseResult
brew::dialects::plan::parseDataInputDict(OpAsmParser &parser,
                                         NamedAttrList &attributes) {
  SMLoc dictLocation = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  auto text = dyn_cast_or_null<StringAttr>(attributes.get(kConfig));
  if (!text)
    return success();
  auto config = DataInputConfigAttr::getChecked(
      [&] { return parser.emitError(dictLocation); }, parser.getContext(),
      text.getValue());
  if (!config)
    return failure();
  attributes.set(kConfig, config);
  return success();
}

void brew::dialects::plan::printDataInputDict(OpAsmPrinter &printer,
                                              Operation *,
                                              DictionaryAttr attributes) {
  NamedAttrList printed(attributes);
  printed.erase("layer");
  printed.erase("kind");
  if (auto config = dyn_cast_or_null<DataInputConfigAttr>(printed.get(kConfig)))
    printed.set(kConfig,
                StringAttr::get(config.getContext(), config.getText()));
  printer << printed.getDictionary(attributes.getContext());
}

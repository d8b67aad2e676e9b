//===- FieldHints.cpp - Suggestions for unknown fields --------------------===//

#include "frontends/prototxt/text/FieldHints.h"

#include "formats/caffe.pb.h"
#include "frontends/prototxt/upgrade/ForkFields.h"
#include "support/Suggest.h"

namespace brew::prototxt {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

namespace {

/// Returns the blocks inside `type` that have a field `name`, as
/// "convolution_param or pooling_param"; "" if there are too many.
std::string blocksWithField(const Descriptor &type, const std::string &name) {
  constexpr size_t kMaxBlocks = 4;
  std::vector<std::string> blocks;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor *field = type.field(i);
    if (field->message_type() && field->message_type()->FindFieldByName(name))
      blocks.push_back(field->name());
  }
  if (blocks.empty() || blocks.size() > kMaxBlocks)
    return "";
  std::string text = blocks[0];
  for (size_t i = 1; i < blocks.size(); ++i)
    text += (i + 1 == blocks.size() ? " or " : ", ") + blocks[i];
  return text;
}

/// Returns the name of a message type in a prototxt.
std::string messageName(const Descriptor &type) {
  if (&type == caffe::LayerParameter::descriptor())
    return "layer";
  if (&type == caffe::V1LayerParameter::descriptor())
    return "layers";
  return rootName(type);
}

} // namespace

std::string rootName(const Descriptor &type) {
  if (&type == caffe::NetParameter::descriptor())
    return "a net";
  if (&type == caffe::SolverParameter::descriptor())
    return "a solver";
  return type.name();
}

std::string unknownFieldHint(const Descriptor &type,
                             const std::vector<const Descriptor *> &enclosing,
                             const std::string &name) {
  if (const char *fork = forkOwningField(type.name(), name))
    return std::string("; it belongs to ") + fork + ", not to BVLC Caffe 1.0";

  if (&type == caffe::LayerParameter::descriptor()) {
    if (name == "blobs_lr")
      return "; it is of the old `layers` form: write param { lr_mult: ... }";
    if (name == "weight_decay")
      return "; it is of the old `layers` form: write param { decay_mult: ... "
             "}";
  }
  std::string innerBlocks = blocksWithField(type, name);
  if (!innerBlocks.empty())
    return "; it belongs in " + innerBlocks;
  for (const Descriptor *outer : enclosing)
    if (outer->FindFieldByName(name))
      return "; it belongs in " + messageName(*outer);
  if (&type == caffe::NetParameter::descriptor() &&
      caffe::SolverParameter::descriptor()->FindFieldByName(name))
    return "; it belongs in a solver";
  if (&type == caffe::SolverParameter::descriptor() &&
      caffe::NetParameter::descriptor()->FindFieldByName(name))
    return "; it belongs in a net";

  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i)
    names.push_back(type.field(i)->name());
  std::string nearest = nearestName(name, names);
  if (!nearest.empty())
    return "; did you mean '" + nearest + "'?";
  return "";
}

} // namespace brew::prototxt

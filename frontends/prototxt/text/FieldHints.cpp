//===- FieldHints.cpp - Suggestions for unknown fields --------------------===//

#include "frontends/prototxt/text/FieldHints.h"

#include "formats/caffe.pb.h"
#include "frontends/prototxt/upgrade/ForkFields.h"
#include "support/JoinNames.h"
#include "support/Suggest.h"

namespace brew::prototxt {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

namespace {

/// Returns the blocks inside `type` that have a field `name`, as
/// "convolution_param or pooling_param"; "" if there are too many.
std::string blocksWithField(const Descriptor &type, const std::string &name) {
  constexpr size_t kMaxBlocks = 6;
  std::vector<std::string> blocks;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor *field = type.field(i);
    if (field->message_type() && field->message_type()->FindFieldByName(name))
      blocks.push_back(field->name());
  }
  if (blocks.empty() || blocks.size() > kMaxBlocks)
    return "";
  return joinNames(blocks, "or");
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
  if (const std::string forks = forksWithField(type.name(), name);
      !forks.empty())
    return forkHint(forks);

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

  if (const FieldDescriptor *field = meantField(type, name))
    return "; did you mean '" + field->name() + "'?";
  return "";
}

const FieldDescriptor *meantField(const Descriptor &type,
                                  const std::string &name) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i)
    if (hasNearWords(name, type.field(i)->name()))
      names.push_back(type.field(i)->name());
  return type.FindFieldByName(nearestName(name, names));
}

} // namespace brew::prototxt

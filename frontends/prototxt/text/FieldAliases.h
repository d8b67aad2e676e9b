//===- FieldAliases.h - Other names that forks have for fields --*- C++ -*-===//
#pragma once

#include <string>

namespace brew::prototxt {

/// What Caffe 1.0 calls the field `field` of the message type `message`, which
/// a fork of Caffe has under another name with the same meaning; else `field`.
std::string currentFieldName(const std::string &message,
                             const std::string &field);

} // namespace brew::prototxt

//===- FieldAliases.h - Forks' names of Caffe's fields ----------*- C++ -*-===//
#pragma once

#include <string>

namespace brew::prototxt {

/// Returns Caffe 1.0's name of the field `field` of the message type `message`,
/// if a fork of Caffe has the field under another name; otherwise `field`.
std::string currentFieldName(const std::string &message,
                             const std::string &field);

/// Returns the name of the repeated field that stores all occurrences but the
/// first of a field that a fork repeats; an empty string if there is none.
std::string fieldForRepetitions(const std::string &message,
                                const std::string &field);

} // namespace brew::prototxt

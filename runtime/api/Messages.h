//===- Messages.h - Encoded messages in the C API ---------------*- C++ -*-===//
#pragma once

#include "runtime/api/Api.h"

#include "formats/caffe.pb.h"

#include <climits>
#include <string>

namespace brew::api {

/// Parses a message of the caller. `name` names it in errors.
template <typename Proto>
Proto parse(const void *data, size_t size, const char *name) {
  if (!data && size)
    throw usage(std::string(name) + " is NULL");
  Proto message;
  if (size >= INT_MAX || !message.ParseFromArray(data, static_cast<int>(size)))
    throw usage(std::string(name) + " cannot be parsed");
  return message;
}

} // namespace brew::api

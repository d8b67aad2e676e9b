//===- SolverFields.h - The solver's fields that callers set ----*- C++ -*-===//
//
// One table for brew-run's flags, the C API and Control.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace brew::runtime {

struct SolverField {
  enum Kind {
    Number,  ///< single precision
    Integer, ///< 32 bits
    Integer64,
    Boolean, ///< true or false
    Text,
    Integers, ///< any number of Integers, separated by commas
  };
  const char *name; ///< Caffe's
  const char *flag; ///< brew-run's, without the dashes
  const char *help; ///< one line
  Kind kind;
  /// Whether it may change between iterations; else only before training.
  bool whileTraining = true;
  /// Of Integer and Integers.
  int minimum = std::numeric_limits<int>::min();
};

/// In the order in which help lists them.
const std::vector<SolverField> &solverFields();
/// By Caffe's name; null if there is none.
const SolverField *findSolverField(std::string_view name);

/// Sets a field from text. Throws Error (2) if there is no such field or the
/// text is no value of its kind. Limits are left to checkSolverFields().
void setSolverField(caffe::SolverParameter &solver, const std::string &name,
                    const std::string &value);
/// The value as setSolverField() takes it. Throws Error (2) if there is no such
/// field.
std::string solverFieldText(const caffe::SolverParameter &solver,
                            const std::string &name);
/// Throws Error (1) naming a field that is less than its least value.
void checkSolverFields(const caffe::SolverParameter &solver);

} // namespace brew::runtime

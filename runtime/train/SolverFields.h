//===- SolverFields.h - Settable fields of the solver -----------*- C++ -*-===//
//
// The table behind brew-run's flags, the C API and TrainerControl.
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
  const char *name; ///< as in caffe.proto
  const char *flag; ///< of brew-run, without dashes
  const char *help; ///< one line
  Kind kind;
  /// Whether the field may change between iterations; else only before
  /// training.
  bool whileTraining = true;
  /// The smallest valid value of Integer and Integers.
  int minimum = std::numeric_limits<int>::min();
};

/// Returns all fields, in the order of the help text.
const std::vector<SolverField> &solverFields();
/// Finds a field by Caffe's name; null if there is none.
const SolverField *findSolverField(std::string_view name);

/// Sets a field from text. Throws Error (2) if there is no such field or the
/// text is not a value of its kind. checkSolverFields() checks limits.
void setSolverField(caffe::SolverParameter &solver, const std::string &name,
                    const std::string &value);
/// Returns the value in the format of setSolverField(). Throws Error (2) if
/// there is no such field.
std::string solverFieldText(const caffe::SolverParameter &solver,
                            const std::string &name);
/// Throws Error (1) that names the field if a field is less than its minimum.
void checkSolverFields(const caffe::SolverParameter &solver);

} // namespace brew::runtime

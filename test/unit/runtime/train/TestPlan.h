//===- TestPlan.h - Hand-written plan for tests -----------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "plan/PlanFile.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::test {

/// A row-major buffer unless strides are set.
plan::Buffer makeBuffer(const std::string &name, std::uint32_t arena,
                        std::uint64_t offset, std::vector<std::int64_t> dims,
                        std::vector<std::int64_t> strides = {},
                        plan::DataType type = plan::F32);

/// Parses text format; fails the test on an error.
template <typename Message> Message parse(const std::string &text);

/// The linear model of TestKernels.c as a training plan: blobs `x` [4 x 3] and
/// `target` [4] from the data layer `feed` (in text format, with these two
/// tops); layer `ip` with parameters w [1 x 3] and b [1]; programs
/// forward_backward, update and test_0, with the output `loss` (weight 1) and,
/// in test_0, also `prediction` [4]. For the CPU, or for the CUDA simulator if
/// BREW_TEST_CUDASIM is set.
plan::Manifest linearModel(const std::string &feed, const std::string &solver);

/// The bytes of a plan of linearModel() or a variation of it; `further` are the
/// segments after the kernels.
std::string planBytes(const plan::Manifest &manifest,
                      const std::vector<std::string> &further = {});

/// The same as an open plan with this path.
std::shared_ptr<const plan::PlanFile>
loadPlan(const plan::Manifest &manifest, const std::string &path = "test.plan");

/// The model's solver, computed independently in double precision.
class LinearReference {
public:
  double w[3] = {0, 0, 0}, b = 0;
  double historyW[3] = {0, 0, 0}, historyB = 0;

  /// Loss and gradients (added to `gw`, `gb`) of 4 rows.
  double gradients(const std::vector<float> &x,
                   const std::vector<float> &target, double (&gw)[3],
                   double &gb) const;
  void update(const double (&gw)[3], double gb, double rate, double momentum,
              double decay, double scale);
};

//===----------------------------------------------------------------------===//

void parseInto(const std::string &text, google::protobuf::Message &message);

template <typename Message> Message parse(const std::string &text) {
  Message message;
  parseInto(text, message);
  return message;
}

} // namespace brew::test

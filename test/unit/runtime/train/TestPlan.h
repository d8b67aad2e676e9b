//===- TestPlan.h - Hand-written plan for tests -----------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "plan/PlanFile.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::test {

/// Returns a buffer. It is row-major unless strides are given.
plan::Buffer makeBuffer(const std::string &name, std::uint32_t arena,
                        std::uint64_t offset, std::vector<std::int64_t> dims,
                        std::vector<std::int64_t> strides = {},
                        plan::DataType type = plan::F32);

/// Parses text format. Throws std::logic_error if the text is invalid.
template <typename Message> Message parse(const std::string &text);

/// Returns a training plan of the linear model of TestKernels.c. The data layer
/// `dataLayer` (in text format) has the tops `x` [4 x 3] and `target` [4]; the
/// layer `ip` has the parameters w [1 x 3] and b [1]. The programs are
/// forward_backward, update and test_0; they output `loss` (weight 1), and
/// test_0 also `prediction` [4]. The plan is for the CPU, or for the CUDA
/// simulator if BREW_TEST_CUDASIM is set.
plan::Manifest linearModel(const std::string &dataLayer,
                           const std::string &solver);

/// Returns the bytes of a plan of linearModel() or of a variation of it.
/// `laterSegments` are the segments after the kernels.
std::string planBytes(const plan::Manifest &manifest,
                      const std::vector<std::string> &laterSegments = {});

/// Returns the plan as an open file whose path is `path`.
std::shared_ptr<const plan::PlanFile>
loadPlan(const plan::Manifest &manifest, const std::string &path = "test.plan");

/// Trains the linear model independently of Brew, in double precision.
class LinearReference {
public:
  double w[3] = {0, 0, 0}, b = 0;
  double historyW[3] = {0, 0, 0}, historyB = 0;

  /// Returns the loss of 4 rows and adds their gradients to `gw` and `gb`.
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

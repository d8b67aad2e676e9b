//===- TestPlan.h - A hand-made plan for tests ------------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "plan/PlanFile.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::test {

/// A buffer in row-major order unless strides are given.
plan::Buffer makeBuffer(const std::string &name, std::uint32_t arena,
                        std::uint64_t offset, std::vector<std::int64_t> dims,
                        std::vector<std::int64_t> strides = {},
                        plan::DataType type = plan::F32);

/// Parses text format; fails the test if it is wrong.
template <typename Message> Message parse(const std::string &text);

/// The linear model of TestKernels.c as a training plan: blobs `x` [4 x 3] and
/// `target` [4], fed by `feed` (a layer in text format with these two tops);
/// layer `ip` with parameters w [1 x 3] and b [1]; programs forward_backward,
/// update and test_0, whose outputs are `loss` (weight 1) and, in test_0, also
/// `prediction` [4]. For the CPU, or where BREW_TEST_CUDASIM is set for the
/// CUDA simulator.
plan::Manifest linearModel(const std::string &feed, const std::string &solver);

/// The bytes of a plan of linearModel() or of a variation of it, whose segments
/// after that of the kernels are `further`.
std::string planBytes(const plan::Manifest &manifest,
                      const std::vector<std::string> &further = {});

/// The same, loaded, with the path that it is told to have.
std::shared_ptr<const plan::PlanFile>
loadPlan(const plan::Manifest &manifest, const std::string &path = "test.plan");

/// What the model's solver does, computed independently in double precision.
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

//===- SolverScalars.cpp - Scalars read by parameter updates --------------===//

#include "runtime/train/SolverScalars.h"

#include "plan/Contract.h"
#include "support/Error.h"

#include <cmath>

namespace brew::runtime {

SolverScalars::SolverScalars(Executor &planExecutor) {
  const plan::Manifest &manifest = planExecutor.manifest();
  for (int i = 0; i < manifest.buffers_size(); ++i) {
    const plan::Buffer &buffer = manifest.buffers(i);
    arena = buffer.arena_index();
    const plan::Arena &memory = manifest.arenas(static_cast<int>(arena));
    if (memory.kind() != plan::SCALARS)
      continue;
    type = buffer.type();
    if ((type != plan::F32 && type != plan::F64) ||
        memory.size() < plan::scalarOffset(plan::kScalarCount))
      throw badInput("damaged plan: its solver scalars have no room");
    executor = &planExecutor;
    return;
  }
}

void SolverScalars::set(plan::SolverScalar slot, double value) {
  if (!executor)
    return;
  const std::uint64_t offset = plan::scalarOffset(slot);
  const auto single = static_cast<float>(value);
  if (type == plan::F64)
    executor->uploadBytes(arena, offset, &value, sizeof value);
  else
    executor->uploadBytes(arena, offset, &single, sizeof single);
}

void SolverScalars::setFields(const caffe::SolverParameter &solver,
                              int iteration) {
  set(plan::MOMENTUM, solver.momentum());
  set(plan::MOMENTUM2, solver.momentum2());
  set(plan::WEIGHT_DECAY, solver.weight_decay());
  set(plan::DELTA, solver.delta());
  set(plan::RMS_DECAY, solver.rms_decay());
  // Like Caffe, compute in double although the moments are single-precision
  // fields.
  const double t = iteration + 1;
  set(plan::BIAS_CORRECTION, std::sqrt(1 - std::pow(solver.momentum2(), t)) /
                                 (1 - std::pow(solver.momentum(), t)));
}

} // namespace brew::runtime

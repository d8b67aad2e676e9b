//===- SolverScalars.cpp - The numbers an update reads --------------------===//

#include "runtime/train/SolverScalars.h"

#include "formats/Error.h"

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
        memory.size() < plan::SCALAR_COUNT * plan::kAlignment)
      throw badInput("damaged plan: its solver scalars have no room");
    executor = &planExecutor;
    return;
  }
}

void SolverScalars::set(plan::SolverScalar slot, double value) {
  if (!executor)
    return;
  const std::uint64_t offset = std::uint64_t(slot) * plan::kAlignment;
  const auto single = static_cast<float>(value);
  if (type == plan::F64)
    executor->uploadBytes(arena, offset, &value, sizeof value);
  else
    executor->uploadBytes(arena, offset, &single, sizeof single);
}

} // namespace brew::runtime

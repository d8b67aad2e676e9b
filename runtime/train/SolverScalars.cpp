//===- SolverScalars.cpp - The numbers an update reads --------------------===//

#include "runtime/train/SolverScalars.h"

#include "formats/Error.h"

namespace brew::runtime {

SolverScalars::SolverScalars(Executor &executor) {
  const plan::Manifest &manifest = executor.manifest();
  for (int i = 0; i < manifest.buffers_size(); ++i) {
    const plan::Buffer &buffer = manifest.buffers(i);
    const plan::Arena &arena =
        manifest.arenas(static_cast<int>(buffer.arena_index()));
    if (arena.kind() != plan::SCALARS)
      continue;
    type = buffer.type();
    if ((type != plan::F32 && type != plan::F64) ||
        arena.size() < plan::SCALAR_COUNT * plan::kAlignment)
      throw badInput("damaged plan: its solver scalars have no room");
    base = executor.data(static_cast<std::uint32_t>(i)) - buffer.offset();
    return;
  }
}

void SolverScalars::set(plan::SolverScalar slot, double value) {
  if (!base)
    return;
  std::byte *place = base + slot * plan::kAlignment;
  if (type == plan::F64)
    *reinterpret_cast<double *>(place) = value;
  else
    *reinterpret_cast<float *>(place) = static_cast<float>(value);
}

} // namespace brew::runtime

//===- LoneProgram.cpp - A program on one thread --------------------------===//
#include "runtime/cpu/LoneProgram.h"

#include <algorithm>
#include <cstdint>

namespace brew::runtime {

LoneProgram::LoneProgram(const plan::PlanFile &plan, const Arenas &arenas,
                         HostLayers &hosts, const ExecutorOptions &options,
                         const Threads &team, int program,
                         const std::vector<std::unique_ptr<CpuStep>> &teamSteps)
    : builder(plan, arenas, self, hosts, options, team.count()) {
  const Threads::Scope scope = self.enter();
  const plan::Program &description = plan.manifest().programs(program);
  std::uint64_t bytes = 0;
  for (int i = 0; i < description.steps_size(); ++i) {
    CpuStep *step = teamSteps[static_cast<std::size_t>(i)].get();
    if (StepBuilder::hasCall(description.steps(i))) {
      calls.push_back(builder.build(program, i));
      step = calls.back().get();
    }
    steps.push_back(step);
    bytes = std::max(bytes, step->scratchBytes());
  }
  scratch = Arena(bytes, plan.path() + ", scratch of oneDNN for one thread");
  for (const auto &call : calls)
    call->bindScratch(scratch.data());
}

void LoneProgram::run() {
  const Threads::Scope scope = self.enter();
  if (!isPacked)
    for (const auto &call : calls)
      call->pack();
  isPacked = true;
  ++builder.dnnl.run;
  for (CpuStep *step : steps)
    step->run(self);
}

} // namespace brew::runtime

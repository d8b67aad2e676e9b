//===- SolverTests.cpp - Test nets of a training run ----------------------===//

#include "runtime/train/SolverTests.h"

#include "plan/Contract.h"
#include "runtime/session/NetOutputs.h"
#include "runtime/train/metrics/DetectionScores.h"
#include "support/Error.h"

namespace brew::runtime {

SolverTests::SolverTests(Session &trainedSession,
                         const caffe::SolverParameter &currentSolver,
                         const TrainingState &trainingState,
                         Collectives &collectives, bool distribute,
                         const CallerNets *netsOfCaller)
    : session(trainedSession), executor(session.executor()),
      events(session.events()), solver(currentSolver), state(trainingState),
      ranks(collectives), distributed(distribute && !ranks.isAlone()),
      callerNets(netsOfCaller) {}

void SolverTests::createNets() {
  netCount = solver.test_iter_size();
  if (callerNets)
    return;
  const plan::Manifest &manifest = session.manifest();
  const plan::DataType precision = manifest.target().precision();
  using event::NetSetUp;
  for (int i = 0; i < netCount; ++i) {
    const int program = executor.findProgram(plan::programs::testName(i));
    if (program < 0)
      throw badInput("solver: test_iter is given " + std::to_string(netCount) +
                     " times, but the plan has " + std::to_string(i) +
                     " test nets");
    if (solver.eval_type() == "detection")
      DetectionScores::checkOutputs(manifest, program);
    events.emit(
        NetSetUp{NetSetUp::Test, &manifest.programs(program), precision, i});
    nets.push_back({program, DebugInfo::create(session, program, solver),
                    &session.inputs(program)});
    netInputs.push_back(nets.back().inputs);
  }
}

void SolverTests::open() {
  if (runsHere())
    for (ProgramInputs *inputs : netInputs)
      inputs->data().open();
}

void SolverTests::restore(const std::vector<caffe::ReaderCursor> &cursors) {
  if (runsHere())
    for (ProgramInputs *inputs : netInputs)
      inputs->restore(cursors);
}

const SolverTests::Net &SolverTests::netOf(int index) const {
  if (callerNets)
    throw Error(ExitStatus::Usage,
                "the plan has no test nets: the caller runs them");
  return nets[static_cast<std::size_t>(index)];
}

void SolverTests::requireNet(int index) const {
  if (index < 0 || index >= count())
    throw Error(ExitStatus::Usage,
                "there is no test net " + std::to_string(index) +
                    ": the solver has " + std::to_string(count()));
}

std::optional<event::TestDone> SolverTests::run(int index, int batches,
                                                bool prepareFirst,
                                                const Interrupt &interrupt) {
  if (function)
    return runFunction(index, batches);
  if (prepareFirst && !callerNets)
    session.prepare(); // test programs derive values from weights
  const Net *net = callerNets ? nullptr : &netOf(index);
  events.emit(event::TestBegin{state.iteration, index});
  const bool isDetection = net && solver.eval_type() == "detection";
  OutputMeans means;
  DetectionScores scores;
  double loss = 0;
  for (int i = 0; i < batches; ++i) {
    if (interrupt()) {
      events.emit(event::TestInterrupted{state.iteration, index});
      return {};
    }
    ranks.reportProgress();
    if (!net) {
      const CallerNets::Batch batch = callerNets->test(index);
      loss += batch.loss;
      means.add(batch.outputs);
      continue;
    }
    net->inputs->feed();
    executor.run(net->program);
    if (net->debug)
      net->debug->logForward();
    if (solver.test_compute_loss())
      loss += totalLoss(executor, net->program);
    if (isDetection)
      scores.add(executor, net->program);
    else
      means.add(readOutputs(executor, net->program));
  }
  event::TestDone done{state.iteration, index, {}, means.means()};
  if (isDetection) {
    DetectionScores::Result result = scores.result(solver.ap_version());
    for (int label : result.missing)
      events.warning(log::site::testOutput,
                     "Missing true_pos for label: " + std::to_string(label));
    done.outputs = std::move(result.outputs);
    if (solver.show_per_class_result())
      done.classes = std::move(result.classes);
  }
  if (solver.test_compute_loss())
    done.loss = loss / batches;
  events.emit(done);
  return done;
}

/// Runs a test by the function.
std::optional<event::TestDone> SolverTests::runFunction(int index,
                                                        int iterations) {
  session.prepare(); // the function reads values derived from weights
  events.emit(event::TestBegin{state.iteration, index});
  const std::optional<std::vector<OutputValue>> outputs = function(iterations);
  if (!outputs) {
    events.emit(event::TestInterrupted{state.iteration, index});
    return {};
  }
  const event::TestDone done{state.iteration, index, {}, *outputs};
  events.emit(done);
  return done;
}

void SolverTests::forEachBatch(int index, const Interrupt &interrupt,
                               const std::function<void()> &body) {
  session.prepare();
  const Net &net = netOf(index);
  for (int i = 0; i < solver.test_iter(index); ++i) {
    if (interrupt())
      return;
    ranks.reportProgress();
    net.inputs->feed();
    executor.run(net.program);
    body();
  }
}

} // namespace brew::runtime

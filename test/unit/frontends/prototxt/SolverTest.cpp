//===- SolverTest.cpp - Checks and nets of solvers ------------------------===//
#include "Parse.h"

#include "support/Error.h"

#include <gtest/gtest.h>

using namespace brew::prototxt;
namespace caffe = brew::caffe;

namespace {

const std::string sgd = "base_lr: 0.1 lr_policy: 'fixed' max_iter: 10\n";

std::string solverDiagnostics(const std::string &text) {
  return diagnosticsOf(text, FileKind::Solver);
}

std::shared_ptr<const SolverDocument> solverOf(const std::string &text,
                                               Diagnostics &diagnostics) {
  return SolverDocument::fromParsed(
      parsePrototxt(text, "s.prototxt", diagnostics, FileKind::Solver),
      diagnostics);
}

/// Returns the diagnostics of expanding the solver.
std::string expansionDiagnostics(const std::string &text) {
  Diagnostics diagnostics;
  auto solver = solverOf(text, diagnostics);
  expandSolver(*solver, diagnostics);
  return diagnostics.str();
}

TEST(SolverChecks, AcceptsGoodSolvers) {
  EXPECT_EQ(solverDiagnostics(sgd), "");
  EXPECT_EQ(solverDiagnostics("base_lr: 1 lr_policy: 'inv' gamma: 1 power: 1"),
            "");
}

TEST(SolverChecks, ChecksLearningRatePolicy) {
  EXPECT_EQ(solverDiagnostics("base_lr: 1\nlr_policy: 'mutistep'"),
            "f.prototxt:2:12: error: unknown lr_policy 'mutistep'; did you "
            "mean 'multistep'? (known: fixed, step, exp, inv, multistep, poly, "
            "sigmoid, plateau, sgdr, multifixed)\n");
  EXPECT_EQ(solverDiagnostics("base_lr: 1 gamma: 1\nlr_policy: 'step'"),
            "f.prototxt:2:12: error: lr_policy 'step' needs 'stepsize'\n");
  EXPECT_EQ(
      solverDiagnostics("base_lr: 1 gamma: 1 stepsize: 0\nlr_policy: 'step'"),
      "f.prototxt:1:31: error: lr_policy 'step' needs a 'stepsize' above "
      "0, not 0\nf.prototxt:2:1: note: the policy is chosen here\n");
  EXPECT_EQ(solverDiagnostics("base_lr: 1 gamma: -1\nlr_policy: 'exp'"),
            "f.prototxt:1:19: error: lr_policy 'exp' needs a 'gamma' of 0 or "
            "more\nf.prototxt:2:1: note: the policy is chosen here\n");
  EXPECT_EQ(solverDiagnostics("base_lr: 1\nlr_policy: 'poly'"),
            "f.prototxt:2:12: warning: lr_policy 'poly' reads 'power', which "
            "is not given and so is 0: the rate stays constant\n");
  EXPECT_EQ(solverDiagnostics("base_lr: 1 gamma: 1\nlr_policy: 'multistep'"),
            "f.prototxt:2:12: warning: lr_policy 'multistep' has no "
            "'stepvalue': the rate stays constant\n");
}

TEST(SolverChecks, ChecksTypes) {
  EXPECT_EQ(solverDiagnostics(sgd + "type: 'adam'"),
            "f.prototxt:2:7: error: unknown solver type 'adam'; did you mean "
            "'Adam'? (known: SGD, Nesterov, AdaGrad, RMSProp, AdaDelta, "
            "Adam)\n");
  EXPECT_EQ(solverDiagnostics(sgd + "type: 'AdaGrad' momentum: 0.9"),
            "f.prototxt:2:27: error: momentum cannot be used with AdaGrad\n");
  EXPECT_EQ(solverDiagnostics(sgd + "type: 'RMSProp' rms_decay: 1"),
            "f.prototxt:2:28: error: rms_decay must be at least 0 and below "
            "1\n");
  EXPECT_EQ(
      solverDiagnostics(sgd + "weight_decay: 1 regularization_type: 'L3'"),
      "f.prototxt:2:38: error: unknown regularization_type 'L3' (known: "
      "L1, L2)\n");
}

TEST(SolverChecks, ChecksCounts) {
  EXPECT_EQ(solverDiagnostics(sgd +
                              "average_loss: 0\niter_size: 0\nmax_iter2: 1\n"
                              "display: -1"),
            "f.prototxt:4:1: error: unknown field 'max_iter2' in a solver; did "
            "you mean 'max_iter'?\n"
            "f.prototxt:2:15: error: average_loss must be at least 1, not 0\n"
            "f.prototxt:3:12: error: iter_size must be at least 1, not 0\n"
            "f.prototxt:5:10: error: 'display' cannot be negative\n");
}

TEST(SolverUpgrade, RenamesSolverType) {
  Diagnostics diagnostics;
  auto solver = solverOf(sgd + "solver_type: NESTEROV", diagnostics);
  EXPECT_EQ(solver->solver().type(), "Nesterov");
  EXPECT_EQ(solver->locations().where(solver->solver(), "type").str(),
            "s.prototxt:2:1");
  EXPECT_EQ(solverDiagnostics(sgd + "type: 'SGD'\nsolver_type: ADAM"),
            "f.prototxt:3:1: error: 'solver_type' is the old form of 'type'; "
            "only one of them can be given\n"
            "f.prototxt:2:1: note: 'type' is given here\n");
}

TEST(SolverUpgrade, DefaultsSnapshotPrefixToTheFile) {
  TemporaryFolder folder;
  Diagnostics diagnostics;
  auto snapshotPrefixOf = [&](const std::string &text) {
    return SolverDocument::fromFile(folder.write("my_solver.prototxt", text),
                                    diagnostics)
        ->solver()
        .snapshot_prefix();
  };
  EXPECT_EQ(snapshotPrefixOf(sgd), folder.path("my_solver"));
  EXPECT_EQ(snapshotPrefixOf(sgd + "snapshot_prefix: 'p/q'"), "p/q");
  EXPECT_EQ(
      snapshotPrefixOf(sgd + "snapshot_prefix: '" + folder.path("") + "'"),
      folder.path("my_solver"));
}

TEST(SolverNets, RequiresOneTrainingNet) {
  EXPECT_EQ(expansionDiagnostics(sgd),
            "s.prototxt:1:1: error: the solver names no net to train; it needs "
            "one of net, net_param, train_net, train_net_param\n");
  EXPECT_EQ(expansionDiagnostics(sgd + "train_net_param { }\nnet: 'n'"),
            "s.prototxt:2:1: error: the solver names more than one net to "
            "train; it takes one of net, net_param, train_net, "
            "train_net_param\ns.prototxt:3:1: note: 'net' is given here\n");
  EXPECT_EQ(
      expansionDiagnostics("base_lr: 1 net_param { }"),
      "s.prototxt:1:1: error: the solver has no lr_policy (known: fixed, "
      "step, exp, inv, multistep, poly, sigmoid, plateau, sgdr, multifixed)\n");
}

TEST(SolverNets, ChecksTestCounts) {
  EXPECT_EQ(expansionDiagnostics(sgd + "net_param { }\ntest_net_param { }"),
            "s.prototxt:3:1: error: test_iter must be given once for each test "
            "net: 0 test_iters, 1 test net\n");
  EXPECT_EQ(expansionDiagnostics(sgd + "train_net_param { }\ntest_iter: 3"),
            "s.prototxt:3:1: error: test_iter must be given once for each test "
            "net: 1 test_iter, 0 test nets\n");
  EXPECT_EQ(expansionDiagnostics(sgd + "net_param { }\ntest_iter: 3"),
            "s.prototxt:3:1: error: the solver has test nets but no "
            "test_interval above 0\n");
  EXPECT_EQ(expansionDiagnostics(sgd +
                                 "net_param { } test_iter: 3 test_interval: 1\n"
                                 "test_state { } test_state { }"),
            "s.prototxt:3:1: error: test_state must be given once for each "
            "test net, or not at all: 2 test_states, 1 test net\n");
}

TEST(SolverNets, MergesStatesOfNetSolverAndOptions) {
  Diagnostics diagnostics;
  auto solver = solverOf(
      sgd + "net_param { state { level: 1 stage: 'n' }\n"
            "  layer { name: 'a' include { phase: TRAIN stage: 't' } }\n"
            "  layer { name: 'b' include { stage: 'n' min_level: 2 } }\n"
            "  layer { name: 'c' include { stage: 'v' max_level: 1 } } }\n"
            "train_state { level: 2 stage: 't' }\n"
            "test_state { stage: 'v' } test_state { level: 3 }\n"
            "test_iter: 5 test_iter: 6 test_interval: 1",
      diagnostics);
  auto programs = expandSolver(*solver, diagnostics);
  ASSERT_EQ(diagnostics.str(), "");
  ASSERT_EQ(programs.size(), 3u);
  EXPECT_EQ(programs[0].test, -1);
  EXPECT_EQ(programs[0].net.state.phase(), caffe::TRAIN);
  EXPECT_EQ(programs[0].net.state.level(), 2);
  ASSERT_EQ(programs[0].net.layers.size(), 2u);
  EXPECT_EQ(programs[1].test, 0);
  EXPECT_EQ(programs[1].testIterations, 5);
  EXPECT_EQ(programs[1].net.state.level(), 1);
  ASSERT_EQ(programs[1].net.layers.size(), 1u);
  EXPECT_EQ(programs[1].net.layers[0]->name(), "c");
  ASSERT_EQ(programs[2].net.layers.size(), 1u);
  EXPECT_EQ(programs[2].net.layers[0]->name(), "b");
  EXPECT_EQ(programs[2].cause.str(), "s.prototxt:8:14");
  EXPECT_EQ(programs[0]
                .net.source->locations()
                .where(*programs[0].net.layers[0])
                .str(),
            "s.prototxt:3:3");

  auto withFlags = expandSolver(*solver, diagnostics, {0, {"x"}});
  EXPECT_EQ(withFlags[0].net.state.level(), 0);
  EXPECT_EQ(withFlags[0].net.state.stage_size(), 3);
  EXPECT_EQ(withFlags[1].net.state.stage_size(), 2);
}

TEST(SolverNets, OrdersTestNetsLikeCaffe) {
  TemporaryFolder folder;
  folder.write("nets/n.prototxt", "name: 'generic' layer { name: 'g' }");
  folder.write("t.prototxt", "name: 'file'");
  std::string path = folder.write(
      "s.prototxt", sgd + "net: 'nets/n.prototxt' test_net: 't.prototxt'\n"
                          "test_net_param { name: 'inline' }\n"
                          "test_iter: [1, 2, 3] test_interval: 1");
  Diagnostics diagnostics;
  auto solver = SolverDocument::fromFile(path, diagnostics);
  auto programs = expandSolver(*solver, diagnostics);
  ASSERT_EQ(diagnostics.str(), "");
  ASSERT_EQ(programs.size(), 4u);
  EXPECT_EQ(programs[1].net.source->net().name(), "inline");
  EXPECT_EQ(programs[2].net.source->net().name(), "file");
  EXPECT_EQ(programs[3].net.source->net().name(), "generic");
  // A file is read once, and its name is in the locations of its layers.
  EXPECT_EQ(programs[3].net.source, programs[0].net.source);
  EXPECT_EQ(programs[0].net.source->file(), folder.path("nets/n.prototxt"));
}

TEST(SolverNets, MissingNetFileHasALocation) {
  Diagnostics diagnostics;
  auto solver = solverOf(sgd + "net: 'no/such.prototxt'", diagnostics);
  try {
    expandSolver(*solver, diagnostics);
    FAIL();
  } catch (const LocatedError &error) {
    EXPECT_EQ(error.status(), brew::ExitStatus::Unavailable);
    EXPECT_EQ(error.where().str(), "s.prototxt:2:6");
    EXPECT_NE(std::string(error.what()).find("no/such.prototxt"),
              std::string::npos)
        << error.what();
  }
}

TEST(SolverNets, LocatesErrorsInTheNetFile) {
  TemporaryFolder folder;
  std::string net = folder.write("n.prototxt", "layer {\n  nane: 'x'\n}");
  std::string path =
      folder.write("s.prototxt", sgd + "net: 'n.prototxt' test_iter: 1\n"
                                       "test_interval: 1");
  Diagnostics diagnostics;
  auto solver = SolverDocument::fromFile(path, diagnostics);
  expandSolver(*solver, diagnostics);
  EXPECT_EQ(diagnostics.str(), net + ":2:3: error: unknown field 'nane' in "
                                     "layer; did you mean 'name'?\n");
}

TEST(SolverNets, UsesTheNetFromTheCommandLine) {
  Diagnostics diagnostics;
  auto solver = solverOf(sgd + "test_iter: 2 test_interval: 1", diagnostics);
  auto programs = expandSolver(*solver, diagnostics, {},
                               netOf("name: 'given'", diagnostics));
  ASSERT_EQ(diagnostics.str(), "");
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[0].net.source->net().name(), "given");
  EXPECT_EQ(programs[1].net.source->net().name(), "given");
}

} // namespace

//===- ImportTest.cpp - Imports nets and solvers as programs --------------===//

#include "frontends/prototxt/import/Import.h"

#include "Parse.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "frontends/prototxt/import/LayerBuilder.h"
#include "support/Error.h"

#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

namespace brew::prototxt {
namespace {

const char *trainTest = R"(name: "n"
layer { name: "d" type: "Input" top: "x" top: "l" input_param { shape { dim: 2 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y"
  param { lr_mult: 1 } param { lr_mult: 2 decay_mult: 0 }
  inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "acc" type: "Accuracy" bottom: "y" bottom: "l" top: "acc"
  include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "l" top: "loss" }
)";

struct ImportTest : testing::Test {
  ImportTest() { context.loadDialect<dialects::BrewDialect>(); }

  /// Writes `text` to the file `name` and imports the file.
  ImportedNet import(const std::string &text, const ImportOptions &options = {},
                     const std::string &name = "net.prototxt") {
    ImportedNet net =
        importText(context, SourceText::ofFile(folder.write(name, text)),
                   options, diagnostics);
    if (net.module) {
      EXPECT_TRUE(succeeded(mlir::verify(*net.module)));
    }
    return net;
  }

  /// Returns "NAME PHASE [differentiate]" of each program.
  static std::vector<std::string> listPrograms(const ImportedNet &net) {
    std::vector<std::string> list;
    mlir::ModuleOp module = net.module.get();
    for (auto program : module.getBody()->getOps<dialects::ProgramOp>())
      list.push_back((program.getSymName() + " " +
                      dialects::stringifyNetPhase(program.getNetPhase()) +
                      (program.getDifferentiate() ? " differentiate" : ""))
                         .str());
    return list;
  }

  using List = std::vector<std::string>;
  mlir::MLIRContext context;
  Diagnostics diagnostics;
  TemporaryFolder folder;
};

TEST(LayerBuilderTest, everyLayerTypeHasABuildFunction) {
  EXPECT_TRUE(findBuildFunction(declaredHostKind()));
  for (const LayerKind &kind : layerKinds())
    EXPECT_TRUE(findBuildFunction(kind)) << kind.type;
}

TEST_F(ImportTest, trainsNetsWithLossByDefault) {
  ImportedNet net = import(trainTest);
  ASSERT_TRUE(net.module) << diagnostics.str();
  EXPECT_EQ(listPrograms(net),
            (List{"forward_backward train differentiate", "test_0 test"}));
  ASSERT_TRUE(net.solver);
  EXPECT_EQ(net.solver->type(), "SGD");
  EXPECT_FLOAT_EQ(net.solver->base_lr(), 0.01f);
  EXPECT_EQ(net.solver->lr_policy(), "fixed");
  EXPECT_EQ(net.netName, "n");
  EXPECT_NE(diagnostics.str().find("no solver is given"), std::string::npos);
}

TEST_F(ImportTest, sharesParametersBetweenPrograms) {
  ImportedNet net = import(trainTest);
  ASSERT_TRUE(net.module);
  std::vector<std::string> names;
  for (auto param : net.module->getBody()->getOps<dialects::ParamOp>())
    names.push_back(param.getSymName().str());
  EXPECT_EQ(names, (List{"ip.0", "ip.1"}));
  auto bias =
      *std::next(net.module->getBody()->getOps<dialects::ParamOp>().begin());
  EXPECT_EQ(bias.getLrMult().convertToFloat(), 2);
  EXPECT_EQ(bias.getDecayMult().convertToFloat(), 0);
}

TEST_F(ImportTest, deploysNetsWithoutLoss) {
  ImportedNet net = import(R"(
layer { name: "d" type: "Input" top: "x" input_param { shape { dim: 2 } } }
layer { name: "r" type: "ReLU" bottom: "x" top: "x" }
)");
  ASSERT_TRUE(net.module);
  EXPECT_EQ(listPrograms(net), List{"deploy test"});
  EXPECT_FALSE(net.solver);
  EXPECT_EQ(diagnostics.str(), "");
}

TEST_F(ImportTest, omitsTestProgramWithoutData) {
  ImportedNet net = import(R"(
layer { name: "d" type: "Input" top: "x" top: "l" include { phase: TRAIN }
  input_param { shape { dim: 2 } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "x" bottom: "l" }
)");
  ASSERT_TRUE(net.module) << diagnostics.str();
  EXPECT_EQ(listPrograms(net), List{"forward_backward train differentiate"});
  EXPECT_NE(diagnostics.str().find("there is no test program"),
            std::string::npos);
}

TEST_F(ImportTest, importsOnePhase) {
  ImportOptions options;
  options.phase = caffe::TEST;
  EXPECT_EQ(listPrograms(import(trainTest, options)), List{"main test"});
  options.gradients = true;
  options.f64 = true;
  ImportedNet net = import(trainTest, options);
  EXPECT_EQ(listPrograms(net), List{"main test differentiate"});
  auto param = *net.module->getBody()->getOps<dialects::ParamOp>().begin();
  EXPECT_TRUE(
      mlir::cast<mlir::ShapedType>(param.getType()).getElementType().isF64());
  EXPECT_FALSE(net.solver);

  // Without a loss, the gradients of the outputs are zeros.
  EXPECT_EQ(listPrograms(import("layer { name: 'd' type: 'Input' top: 'x' "
                                "input_param { shape { dim: 2 } } }",
                                options)),
            List{"main test differentiate"});
  EXPECT_FALSE(
      import("layer { name: 'd' type: 'Input' top: 'x' }", options).module);
  EXPECT_NE(diagnostics.str().find("the shape of 'x' is not specified"),
            std::string::npos);
}

TEST_F(ImportTest, importsSolvers) {
  folder.write("net.prototxt", trainTest);
  const std::string solver =
      "net: 'net.prototxt' base_lr: 0.1 lr_policy: 'fixed' max_iter: 3 "
      "test_iter: 5 test_interval: 2 ";
  ImportedNet net = import(solver, {}, "solver.prototxt");
  ASSERT_TRUE(net.module) << diagnostics.str();
  EXPECT_EQ(listPrograms(net),
            (List{"forward_backward train differentiate", "test_0 test"}));
  EXPECT_EQ(net.solver->max_iter(), 3);
  EXPECT_EQ(net.solverFolder,
            folder.path("").substr(0, folder.path("").size() - 1));
  EXPECT_EQ(diagnostics.str(), "");

  // Importing the net with the solver as an option creates the same programs.
  ImportOptions options;
  options.solverFile = folder.path("solver.prototxt");
  net = import(trainTest, options);
  ASSERT_TRUE(net.module) << diagnostics.str();
  EXPECT_EQ(listPrograms(net).size(), 2u);
  EXPECT_EQ(net.solver->max_iter(), 3);

  ImportOptions onePhase;
  onePhase.phase = caffe::TEST;
  EXPECT_EQ(listPrograms(import(solver, onePhase, "solver.prototxt")),
            List{"main test"});
}

TEST_F(ImportTest, checksSolversWithoutTheirNets) {
  ImportOptions options;
  options.solverOnly = true;
  ImportedNet net = import("net: 'nowhere' base_lr: 0.1 lr_policy: 'fixed'",
                           options, "solver.prototxt");
  EXPECT_FALSE(net.module);
  EXPECT_TRUE(net.solver);
  EXPECT_FALSE(diagnostics.hasErrors());
  import("net: 'nowhere' base_lr: 0.1 lr_policy: 'stepp'", options,
         "solver.prototxt");
  EXPECT_TRUE(diagnostics.hasErrors());
}

TEST_F(ImportTest, requiresLossInTrainingNet) {
  folder.write("net.prototxt", "layer { name: 'd' type: 'Input' top: 'x' }");
  EXPECT_FALSE(import("net: 'net.prototxt' base_lr: 0.1 lr_policy: 'fixed'", {},
                      "solver.prototxt")
                   .module);
  EXPECT_NE(diagnostics.str().find("solver.prototxt:1:1: error: the training "
                                   "net has no loss"),
            std::string::npos);
}

TEST_F(ImportTest, reportsSharedErrorsOnce) {
  EXPECT_FALSE(import(R"(
layer { name: "d" type: "Input" top: "x" top: "l" input_param { shape { dim: 2 } } }
layer { name: "r" type: "Relu" bottom: "x" top: "y" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "l" }
)")
                   .module);
  EXPECT_EQ(diagnostics.errorCount(), 1u) << diagnostics.str();
}

TEST_F(ImportTest, refusesContradictingOptions) {
  const std::string net = folder.write("net.prototxt", trainTest);
  const std::string solver =
      folder.write("s.prototxt", "net: 'net.prototxt' base_lr: 0.1");
  auto statusOf = [&](const std::string &path, const ImportOptions &options) {
    try {
      importText(context, SourceText::ofFile(path), options, diagnostics);
    } catch (const Error &error) {
      return error.status();
    }
    return ExitStatus::Success;
  };
  ImportOptions gradients;
  gradients.gradients = true;
  EXPECT_EQ(statusOf(net, gradients), ExitStatus::Usage);
  ImportOptions solverOnly;
  solverOnly.solverOnly = true;
  EXPECT_EQ(statusOf(net, solverOnly), ExitStatus::Usage);
  ImportOptions twoSolvers;
  twoSolvers.solverFile = solver;
  EXPECT_EQ(statusOf(solver, twoSolvers), ExitStatus::Usage);
  EXPECT_EQ(statusOf(folder.path("absent"), {}), ExitStatus::Unavailable);
}

TEST_F(ImportTest, keepsLocations) {
  ImportedNet net = import(trainTest);
  ASSERT_TRUE(net.module);
  int line = 0;
  net.module->walk([&](dialects::InnerProductOp op) {
    auto nameLoc = mlir::cast<mlir::NameLoc>(op.getLoc());
    EXPECT_EQ(nameLoc.getName(), "InnerProduct");
    line = mlir::cast<mlir::FileLineColLoc>(nameLoc.getChildLoc()).getLine();
  });
  EXPECT_EQ(line, 3);
}

} // namespace
} // namespace brew::prototxt

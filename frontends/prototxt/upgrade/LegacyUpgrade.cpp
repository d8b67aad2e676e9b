//===- LegacyUpgrade.cpp - Upgrade of old prototxt forms ------------------===//

#include "frontends/prototxt/upgrade/LegacyUpgrade.h"

#include "frontends/prototxt/upgrade/FieldCopy.h"
#include "plan/Contract.h"

#include <cctype>

namespace brew::prototxt {

std::unique_ptr<caffe::NetParameter>
upgradeNet(std::unique_ptr<caffe::NetParameter> net, SourceMap &locations,
           Diagnostics &diagnostics,
           std::vector<std::unique_ptr<caffe::NetParameter>> &superseded) {
  if (hasV0Layers(*net)) {
    superseded.push_back(std::move(net));
    net = upgradeV0(*superseded.back(), locations, diagnostics);
  }
  upgradeDataTransforms(*net, locations);
  if (net->layers_size() > 0) {
    superseded.push_back(std::move(net));
    net = upgradeV1(*superseded.back(), locations, diagnostics);
  }
  upgradeInputs(*net, locations, diagnostics);
  upgradeBatchNorms(*net);
  return net;
}

void upgradeInputs(caffe::NetParameter &net, SourceMap &locations,
                   Diagnostics &diagnostics) {
  const int inputs = net.input_size();
  if (inputs == 0)
    return;
  const int shapes = net.input_shape_size();
  const int dims = net.input_dim_size();
  constexpr int rank = 4; // rank of the blobs that input_dim describes
  if (shapes > 0 && shapes < inputs) {
    diagnostics
        .error(locations.where(net, "input", shapes),
               "input '" + net.input(shapes) +
                   "' has no input_shape: " + std::to_string(inputs) +
                   " inputs, " + std::to_string(shapes) + " input_shape")
        .note(locations.where(net, "input_shape", shapes - 1),
              "the last input_shape is here");
    return;
  }
  if (shapes == 0 && dims > 0 && dims < rank * inputs) {
    const int completeInputs = dims / rank;
    diagnostics
        .error(locations.where(net, "input", completeInputs),
               "input '" + net.input(completeInputs) +
                   "' lacks dimensions: input_dim takes 4 numbers for each "
                   "input, found " +
                   std::to_string(dims) + " for " + std::to_string(inputs) +
                   (inputs == 1 ? " input" : " inputs"))
        .note(locations.where(net, "input_dim", dims - 1),
              "the last input_dim is here");
    return;
  }
  // Old weight files have only the names of inputs; then there is no layer to
  // build.
  if (shapes > 0 || dims > 0) {
    caffe::LayerParameter *layer = net.add_layer();
    layer->set_name("input");
    layer->set_type("Input");
    SourceLocation start = locations.where(net, "input");
    locations.setStart(*layer, {start.line, start.column});
    copyField(locations, net, "input", *layer, "top");
    const char *cause = shapes > 0 ? "input_shape" : "input_dim";
    auto &param = static_cast<caffe::InputParameter &>(
        getOrCreateBlock(locations, *layer, "input_param", net, cause));
    for (int i = 0; i < inputs; ++i) {
      caffe::BlobShape *shape = param.add_shape();
      const int causeIndex = shapes > 0 ? i : rank * i;
      locations.copyField(net, cause, causeIndex, param, "shape");
      if (shapes > 0) {
        *shape = net.input_shape(i);
        locations.copy(net.input_shape(i), *shape);
        continue;
      }
      SourceLocation shapeLocation = locations.where(net, cause, causeIndex);
      locations.setStart(*shape, {shapeLocation.line, shapeLocation.column});
      for (int j = rank * i; j < rank * (i + 1); ++j) {
        shape->add_dim(net.input_dim(j));
        locations.copyField(net, "input_dim", j, *shape, "dim");
      }
    }
    for (int i = net.layer_size() - 1; i > 0; --i)
      net.mutable_layer()->SwapElements(i - 1, i);
  }
  net.clear_input();
  net.clear_input_shape();
  net.clear_input_dim();
}

void upgradeBatchNorms(caffe::NetParameter &net) {
  constexpr int oldParamCount = 3;
  for (caffe::LayerParameter &layer : *net.mutable_layer()) {
    if (layer.type() != "BatchNorm" || layer.param_size() != oldParamCount)
      continue;
    for (caffe::ParamSpec &param : *layer.mutable_param()) {
      param.set_lr_mult(0);
      param.set_decay_mult(0);
    }
  }
}

namespace {

/// Converts the solver type to Caffe's spelling. MyCaffe writes it in capitals,
/// like the names of the old enumeration.
void normalizeTypeCase(caffe::SolverParameter &solver) {
  auto toCapitals = [](std::string text) {
    for (char &c : text)
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
  };
  for (const char *type : plan::kSolverTypes)
    if (solver.type() == toCapitals(type))
      solver.set_type(type);
}

} // namespace

void upgradeSolver(caffe::SolverParameter &solver, SourceMap &locations,
                   Diagnostics &diagnostics) {
  if (solver.has_type())
    normalizeTypeCase(solver);
  if (!solver.has_solver_type())
    return;
  if (solver.has_type()) {
    diagnostics
        .error(locations.where(solver, "solver_type"),
               "'solver_type' is the old form of 'type'; only one of them can "
               "be given")
        .note(locations.where(solver, "type"), "'type' is given here");
    return;
  }
  using Solver = caffe::SolverParameter;
  static_assert(Solver::SolverType_ARRAYSIZE == plan::kSolverTypeCount &&
                Solver::SGD == 0 && Solver::NESTEROV == 1 &&
                Solver::ADAGRAD == 2 && Solver::RMSPROP == 3 &&
                Solver::ADADELTA == 4 && Solver::ADAM == 5);
  solver.set_type(plan::kSolverTypes[solver.solver_type()]);
  locations.copyField(solver, "solver_type", 0, solver, "type");
  solver.clear_solver_type();
}

} // namespace brew::prototxt

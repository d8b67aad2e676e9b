//===- Session.h - A plan with its memory, ready to run ---------*- C++ -*-===//
//
// Holds all that runs of a plan need: its memory on the device, parameters,
// the state that runs carry on, and a pipeline for each program. Training
// (train/Trainer.h) is built on it.
//
// A session is used by one thread at a time; any number may exist side by side,
// in one thread or several, also over one plan.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/weights/ProvidedWeights.h"
#include "plan/PlanFile.h"
#include "runtime/data/DataPipeline.h"
#include "runtime/executor/Executor.h"
#include "runtime/session/PersistentState.h"
#include "runtime/events/Events.h"
#include "runtime/session/Parameters.h"
#include "runtime/session/Tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::runtime {

class Session;

struct SessionOptions {
  /// Threads, GPU, pool. What only concerns GPUs is ignored by plans for the
  /// CPU; on the CUDA simulator nothing is measured unasked, whatever they say,
  /// and what the timing cache says is not followed. `warn`
  /// is not used: warnings are events.
  ExecutorOptions device;
  /// What fillers, shuffling, transformations and layers' own random numbers
  /// are drawn from.
  std::uint64_t seed = 0;
  ReaderOptions reading;
  /// Where sources and weights are looked up after the folders that the plan
  /// names; "": the folder of the plan's path.
  std::string folder;
  /// Compute with the parameters of this session, in its memory, which lives as
  /// long as any of those that share it. For the CPU, and for plans whose
  /// parameters lie alike (Error 2 else): those of one net, compiled for the
  /// same processor, that derive the same ones (a net for inference has others
  /// where normalization is folded or weights are rounded ahead of runs).
  /// Whoever changes the parameters (training, weights, what Tensor::data
  /// points to) must not do so while another of the sessions runs, and must let
  /// the others prepare() before they run again.
  const Session *shareParameters = nullptr;
  /// Let layers of a plan for inference that weight files lack have the values
  /// of their fillers, with a warning that lists them, instead of an error.
  bool allowMissingWeights = false;
  /// The first listener, so that it hears of what happens in the constructor.
  Events::Listener listener;
};

/// Part of a program.
enum class Pass { Forward, Backward, Both };

class Session {
public:
  /// Allocates the plan's memory. Parameters are those embedded in the plan,
  /// else zeros until initialise(). Throws as Executor does.
  explicit Session(std::shared_ptr<const plan::PlanFile> plan,
                   SessionOptions options = {});
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  const plan::PlanFile &plan() const { return *file; }
  const plan::Manifest &manifest() const { return file->manifest(); }
  /// The last folder in which files are looked up.
  const std::string &folder() const { return lastFolder; }
  /// The device that the constructor was given.
  const ExecutorOptions &deviceOptions() const { return ownDevice; }
  bool onGpu() const {
    return manifest().target().kind() == plan::Target::CUDA;
  }

  Executor &executor() { return exec; }
  const Executor &executor() const { return exec; }
  Parameters &parameters() { return params; }
  const Parameters &parameters() const { return params; }
  PersistentState &persistentState() { return persistentState; }
  /// The ranks that train together; null: this session is alone.
  Communicator *communicator() { return ranks.get(); }
  Events &events() { return listeners; }

  //===--------------------------------------------------------------------===//
  // Parameters
  //===--------------------------------------------------------------------===//

  /// Gives the parameters their values, all that a session needs before its
  /// first run: fill(), then loadWeights(), then prepare(). With `required`,
  /// throws Error (2) if nothing but fillers is there, neither in the plan nor
  /// in `weights`.
  void initialise(const std::vector<std::string> &weights = {},
                  bool required = false);

  /// Those embedded in the plan, else what the prototxt or its fillers give,
  /// drawn from the seed. Nothing if the parameters are another session's.
  void fill();
  /// Loads weight files over the parameters, each name a file or a list
  /// separated by commas, looked up in `folders`, then in folder(). Without any
  /// name, the file that the plan names, if there is one and no weights are
  /// embedded. `training` tells listeners what they are for. Throws Error: (3)
  /// if a file is not found, (1) if it does not fit, or if a plan for inference
  /// has layers to which neither the files nor anything before them gave values
  /// (SessionOptions::allowMissingWeights). Returns where the files lie.
  std::vector<std::string>
  loadWeights(const std::vector<std::string> &weights,
              const std::vector<std::string> &folders = {},
              bool training = false);
  /// Computes what programs derive from parameters ahead of runs, if they
  /// derive anything. Due whenever parameters have changed; training and
  /// initialise() see to it.
  void prepare();

  /// Solver history, sums of gradients and carried state to zeros.
  void resetState();

  std::uint64_t seed() const { return currentSeed; }
  /// Begins all random numbers anew, and all sources at their beginning. Values
  /// and callbacks that pipelines were given stay.
  void setSeed(std::uint64_t seed);

  //===--------------------------------------------------------------------===//
  // Programs
  //===--------------------------------------------------------------------===//

  /// Index of a program. Throws Error (2) that lists the programs.
  int program(const std::string &name) const;

  /// What brings a program's inputs in; made on first use. Its sources are
  /// opened when it first feeds.
  DataPipeline &dataPipeline(int program);

  /// Feeds the next batch, then runs the program and its checks (Error 1 when
  /// one fails, e.g. a label outside its classes).
  void feedAndRun(int program);
  /// Runs a program, or one pass of it, with the inputs as they are: memory of
  /// inputs is reused within a run, so that each whole run needs a feed. Checks
  /// are made after the forward pass.
  void run(int program, Pass pass = Pass::Both);
  /// Runs what a pass computes for the layers from `first` to `last`, both
  /// included, in the net's order ("": from the first, to the last). Layers
  /// that need no step of their own are passed over. Running ranges one after
  /// the other from the first layer to the last is the same as running the
  /// whole. A range that begins later reads what is there of its bottoms:
  /// between runs only blobs that the plan keeps (outputs, brewc --pin) are.
  /// The backward pass of a range needs the forward pass and the backward pass
  /// of the layers behind it. Throws Error (2) if a layer does not exist, the
  /// two are in the wrong order, or the range would cut a fused step, which
  /// computes for several layers at once (it names them). Checks are not made.
  void runLayers(int program, const std::string &first, const std::string &last,
                 Pass pass = Pass::Forward);
  /// Names of the layers of a program that runLayers() takes, in its order.
  std::vector<std::string> layers(int program) const;

  /// Tells listeners of a program's net, as training does of its own
  /// (event::NetSetUp).
  void emitNetSetUp(int program);

  /// The net's outputs after a run, element by element; dims of counted blobs
  /// already applied.
  std::vector<OutputValue> outputs(int program) const;
  /// The weighted sum of all losses after a run.
  double loss(int program) const;

  //===--------------------------------------------------------------------===//
  // Tensors by name
  //===--------------------------------------------------------------------===//

  /// All names of a kind; of what belongs to a program, those of `program`.
  std::vector<TensorName> names(TensorKind kind, int program = 0) const;
  /// Where a tensor lies. Waits for what was started on a device. Throws Error
  /// (2) if there is none of this name that can be read (of blobs the plan
  /// keeps its outputs and those of brewc --pin).
  Tensor find(const TensorName &name) const;

  /// Copies a tensor's values, row-major, as many as Tensor::shape has. Throws
  /// Error (2) if `count` is another number.
  void read(const TensorName &name, float *values, std::int64_t count) const;
  void read(const TensorName &name, double *values, std::int64_t count) const;
  void read(const TensorName &name, std::int32_t *values,
            std::int64_t count) const;
  /// Writes all of a tensor's values, row-major, as many as it has room for.
  /// Throws Error (2) if `count` is another number. After writing parameters
  /// prepare() is due. Values that the tensor's type cannot hold are rounded.
  void write(const TensorName &name, const float *values, std::int64_t count);
  void write(const TensorName &name, const double *values, std::int64_t count);
  void write(const TensorName &name, const std::int32_t *values,
             std::int64_t count);
  /// Has a blob of the CPU lie in the caller's memory of `size` bytes, as many
  /// as the blob has, aligned to plan::kAlignment; with null in the session's
  /// own again. Values are not moved. An input that lies there and was never
  /// set keeps the caller's values. Throws Error (2) where that cannot be.
  void bindMemory(const TensorName &name, void *memory, std::uint64_t size);

private:
  std::vector<std::string> loadWeights(const std::vector<std::string> &weights,
                                       const std::vector<std::string> &folders,
                                       bool training,
                                       caffe::MissingWeights missing);
  void loadFile(const std::string &path, const std::vector<std::string> &files,
                caffe::MissingWeights missing);
  caffe::MissingWeights missingWeightsPolicy() const;
  template <typename Value>
  void readValues(const TensorName &name, Value *values,
                  std::int64_t count) const;
  template <typename Value>
  void writeValues(const TensorName &name, const Value *values,
                   std::int64_t count);
  const plan::Program &requireProgram(int program) const;
  Tensor makeTensor(std::uint32_t buffer, std::vector<std::int64_t> shape) const;

  std::shared_ptr<const plan::PlanFile> file;
  Events listeners; ///< before what emits
  Executor exec;
  Parameters params;
  PersistentState persistentState;
  ExecutorOptions ownDevice;
  std::string lastFolder;
  std::uint64_t currentSeed;
  ReaderOptions reading;
  bool sharesParameters, allowMissingWeights;
  caffe::ProvidedWeights given;
  std::shared_ptr<Communicator> ranks;
  std::vector<std::unique_ptr<DataPipeline>> pipelines; ///< by program
};

} // namespace brew::runtime

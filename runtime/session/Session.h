//===- Session.h - A plan with its memory, ready to run ---------*- C++ -*-===//
//
// Owns everything that runs of a plan need: its memory on the device, the
// parameters, the persistent state, and the inputs of each program.
// Training (train/Trainer.h) is built on it.
//
// Only one thread may use a session at a time. Any number of sessions may
// exist, in one thread or several, also for the same plan.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/weights/ProvidedWeights.h"
#include "plan/PlanFile.h"
#include "runtime/events/Events.h"
#include "runtime/executor/Executor.h"
#include "runtime/session/Initialisers.h"
#include "runtime/session/Parameters.h"
#include "runtime/session/PersistentState.h"
#include "runtime/session/ProgramInputs.h"
#include "runtime/session/Tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::runtime {

class Session;

/// Settings of learners over a session (extras/reinforcement) whose caller does
/// not pass others.
struct LearnerSettings {
  std::string trainer;       ///< algorithm; "": TrainerType of the properties
  std::string properties;    ///< override those of the solver
  std::int64_t maxSteps = 0; ///< of an episode; 0: no limit
};

struct SessionOptions {
  /// Threads, GPU, pool. Plans for the CPU ignore options for GPUs. On the CUDA
  /// simulator `tune` is always false. `warn` is ignored: warnings are events.
  ExecutorOptions device;
  /// Seed of fillers, shuffling, transformations and random layers.
  std::uint64_t seed = 0;
  ReaderOptions readerOptions;
  /// Folder in which sources and weights are looked up after the folders that
  /// the plan names; "": the folder of the plan's path.
  std::string folder;
  /// Session whose parameter memory this one uses; null: none. All sharing
  /// sessions keep the memory alive. Requires plans for the CPU with equal
  /// parameter layouts (else Error 2): plans of one net, compiled for the same
  /// processor, that derive the same parameters (a net for inference derives
  /// others if normalization is folded or weights are rounded ahead of runs). A
  /// change of the parameters (by training, weight files, or Tensor::data)
  /// requires that no other of the sessions runs meanwhile, and that the others
  /// call prepare() before their next run.
  const Session *shareParameters = nullptr;
  /// If weight files lack layers of a plan for inference, use the values of
  /// their fillers and list them in a warning, instead of throwing an error.
  bool allowMissingWeights = false;
  /// Fillers instead of those of the prototxt (Initialisers.h), as
  /// "PATTERN=FILLER". Not for plans that embed weights.
  std::vector<std::string> initialisers;
  LearnerSettings learner;
  /// First listener. It receives the events of the constructor, too.
  Events::Listener listener;
};

/// The passes of a program to run.
enum class Pass { Forward, Backward, Both };

/// A plan with its memory, parameters, state and data pipelines.
class Session {
public:
  /// Allocates the plan's memory. Parameters have the values embedded in the
  /// plan, or are zeros until initialise(). Throws the errors of Executor.
  explicit Session(std::shared_ptr<const plan::PlanFile> plan,
                   SessionOptions options = {});
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  const plan::PlanFile &plan() const { return *file; }
  const plan::Manifest &manifest() const { return file->manifest(); }
  /// Returns the last folder in which files are looked up.
  const std::string &folder() const { return lastFolder; }
  /// Returns SessionOptions::device of the constructor.
  const ExecutorOptions &deviceOptions() const { return ownDevice; }
  bool onGpu() const {
    return manifest().target().kind() == plan::Target::CUDA;
  }

  Executor &executor() { return exec; }
  const Executor &executor() const { return exec; }
  Parameters &parameters() { return params; }
  const Parameters &parameters() const { return params; }
  PersistentState &persistentState() { return persistent; }
  /// Returns the ranks of a data-parallel run, or null if this process is
  /// alone.
  Communicator *communicator() { return ranks.get(); }
  Events &events() { return listeners; }
  const LearnerSettings &learnerSettings() const { return ownLearner; }
  /// Whether a hook's function runs on the thread that trains with this
  /// session, which may then do nothing that trains, runs or loads.
  bool inHook() const { return hookRuns; }
  void setInHook(bool in) { hookRuns = in; }

  //===--------------------------------------------------------------------===//
  // Parameters
  //===--------------------------------------------------------------------===//

  /// Initialises the parameters, as needed before the first run: calls
  /// fillParameters(), loadWeights() and prepare(). With `required`, throws
  /// Error (2) if neither the plan nor `weights` provides values other than
  /// fillers.
  void initialise(const std::vector<std::string> &weights = {},
                  bool required = false);

  /// Sets the parameters to the weights embedded in the plan, or to the values
  /// of the prototxt and its fillers, or of SessionOptions::initialisers, with
  /// the seed. No-op if the parameters
  /// belong to another session.
  void fillParameters();
  /// Loads weight files into the parameters. Each name is a file or a list
  /// separated by commas, looked up in `folders`, then in folder(). Without any
  /// name, loads the file that the plan names, unless weights are embedded.
  /// `training` is passed to listeners (event::WeightsLoading). Throws Error:
  /// (3) if a file is not found, (1) if it does not fit, or if layers of a plan
  /// for inference have no values yet (SessionOptions::allowMissingWeights).
  /// Returns the paths of the files.
  std::vector<std::string>
  loadWeights(const std::vector<std::string> &weights,
              const std::vector<std::string> &folders = {},
              bool training = false);
  /// Computes the values that programs derive from parameters ahead of runs
  /// (folded or rounded weights). Call it after changes of parameters; training
  /// and initialise() do so themselves.
  void prepare();

  /// Sets solver history, accumulated gradients and persistent state to zeros.
  void resetState();

  /// Returns the seed of this rank's own streams.
  std::uint64_t seed() const { return currentSeed.rankSeed(); }
  const caffe::RankSeed &rankSeed() const { return currentSeed; }
  /// Returns the seed with which this rank's own streams use `own`.
  caffe::RankSeed rankSeed(std::uint64_t own) const {
    return caffe::RankSeed::fromOwn(own, readerOptions.rank);
  }
  /// Restarts all random streams with `seed`, and all data sources at their
  /// beginning. Keeps the caller's inputs and callbacks.
  void setSeed(caffe::RankSeed seed);

  //===--------------------------------------------------------------------===//
  // Programs
  //===--------------------------------------------------------------------===//

  /// Returns the index of a program. If there is no program of this name,
  /// throws Error (2) that lists the programs.
  int program(const std::string &name) const;

  /// Returns the inputs of a program. Creates them on first use; the sources of
  /// their data are opened with the first batch.
  ProgramInputs &inputs(int program);
  /// Returns the data of a program's inputs.
  DataPipeline &dataPipeline(int program) { return inputs(program).data(); }

  /// Feeds the next batch, then runs the program and its checks. Throws Error
  /// (1) if a check fails, e.g. for a label outside its classes.
  void feedAndRun(int program);
  /// Runs a program, or one of its passes, with the current inputs. A run
  /// reuses the memory of the inputs, so each complete run needs a new feed.
  /// Performs the checks after the forward pass.
  void run(int program, Pass pass = Pass::Both);
  /// Runs the steps of a pass for the layers from `first` to `last`, inclusive,
  /// in the net's order ("": the first or the last layer). Skips layers without
  /// a step of their own. Running consecutive ranges from the first layer to
  /// the last equals a complete run. A later range reads the current values of
  /// its bottoms: between runs only pinned blobs (outputs, brewc --keep) are
  /// valid. The backward pass of a range needs the forward pass, and the
  /// backward pass of the following layers. Does not perform checks. Throws
  /// Error (2) if a layer does not exist, `last` precedes `first`, or the range
  /// would split a step of several fused layers.
  void runLayers(int program, const std::string &first, const std::string &last,
                 Pass pass = Pass::Forward);
  /// Returns the names of the layers of a program, in the order of runLayers().
  std::vector<std::string> layers(int program) const;

  /// Emits event::NetSetUp for a program, as training does for its own.
  void emitNetSetUp(int program);

  /// Returns the net's outputs after a run, element by element. Blobs with a
  /// dynamic number of items have only their valid items.
  std::vector<OutputValue> outputs(int program) const;
  /// Returns the weighted sum of all losses after a run.
  double loss(int program) const;

  //===--------------------------------------------------------------------===//
  // Tensors by name
  //===--------------------------------------------------------------------===//

  /// Returns all names of a kind. For kinds that belong to a program, returns
  /// the names of `program`.
  std::vector<TensorName> names(TensorKind kind, int program = 0) const;
  /// Returns the memory and layout of a tensor. Waits until an asynchronous
  /// device is idle. Throws Error (2) if no readable tensor has this name (only
  /// outputs and the blobs of brewc --keep are readable).
  Tensor find(const TensorName &name) const;

  /// Copies the values of a tensor in row-major order of Tensor::shape. Throws
  /// Error (2) if `count` is not their number.
  void read(const TensorName &name, float *values, std::int64_t count) const;
  void read(const TensorName &name, double *values, std::int64_t count) const;
  void read(const TensorName &name, std::int32_t *values,
            std::int64_t count) const;
  /// Writes all values of a tensor in row-major order of Tensor::dims, rounded
  /// to its type. Throws Error (2) if `count` is not their number. Call
  /// prepare() after writing parameters.
  void write(const TensorName &name, const float *values, std::int64_t count);
  void write(const TensorName &name, const double *values, std::int64_t count);
  void write(const TensorName &name, const std::int32_t *values,
             std::int64_t count);
  /// The caller's memory for a tensor.
  struct Binding {
    TensorName name;
    void *memory = nullptr; ///< null: the session's own
    std::uint64_t size = 0; ///< in bytes: the tensor's size
  };
  /// Moves tensors of a plan for the CPU to the caller's memory, aligned to
  /// plan::kAlignment: all of them, or none if it throws. Does not copy values.
  /// An input that was never set keeps the values in the caller's memory.
  /// Throws Error (2) if a tensor cannot be moved; (3) without enough memory
  /// for the new steps.
  void bindMemory(const std::vector<Binding> &bindings);

private:
  std::vector<std::string> loadWeights(const std::vector<std::string> &weights,
                                       const std::vector<std::string> &folders,
                                       bool training,
                                       caffe::MissingWeights policy);
  void loadFile(const std::string &path, const std::vector<std::string> &files,
                std::optional<caffe::MissingWeights> policy);
  caffe::MissingWeights missingWeightsPolicy() const;
  template <typename Value>
  void readValues(const TensorName &name, Value *values,
                  std::int64_t count) const;
  template <typename Value>
  void writeValues(const TensorName &name, const Value *values,
                   std::int64_t count);
  const plan::Program &requireProgram(int program) const;
  Tensor makeTensor(std::uint32_t buffer,
                    std::vector<std::int64_t> shape) const;

  std::shared_ptr<const plan::PlanFile> file;
  Events listeners; ///< outlives the members that emit events
  Executor exec;
  Parameters params;
  PersistentState persistent;
  ExecutorOptions ownDevice;
  std::string lastFolder;
  caffe::RankSeed currentSeed;
  ReaderOptions readerOptions;
  bool sharesParameters, allowMissingWeights, hookRuns = false;
  std::vector<Initialiser> initialisers;
  LearnerSettings ownLearner;
  caffe::ProvidedWeights providedWeights;
  std::shared_ptr<Communicator> ranks;
  std::vector<std::unique_ptr<ProgramInputs>> programInputs; ///< by program
};

} // namespace brew::runtime

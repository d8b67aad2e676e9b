//===- DataPipeline.cpp - Input data of one program -----------------------===//

#include "runtime/data/DataPipeline.h"

#include "caffe/DataLayerKinds.h"
#include "caffe/weights/BufferLayout.h"
#include "runtime/data/Prefetcher.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::runtime {

namespace {

Error unknownInput(const std::string &top) {
  return badInput("the net has no input blob '" + top + "'");
}

/// Batches to read ahead, as in Caffe.
constexpr unsigned kDefaultDepth = 2;

/// Releases a batch at the end of its scope.
struct BatchReleaser {
  Prefetcher *prefetcher; ///< or null
  ~BatchReleaser() {
    if (prefetcher)
      prefetcher->release();
  }
};

} // namespace

/// Values that a callback fills in, before conversion to the buffer's layout.
struct DataPipeline::CallbackInput {
  std::vector<Request> requests;
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<double>> doubles;
  Callback callback;
};

struct DataPipeline::Input {
  DataLayerInfo info;
  const caffe::DataLayerKind *kind = nullptr;
  int number = 0; ///< index among the program's data inputs
  std::vector<std::uint32_t> buffers;
  /// Values from the caller, or zeros, in the buffer's layout; empty if the
  /// source provides them.
  std::vector<std::vector<std::byte>> fixedValues;
  std::vector<bool> takenOver; ///< by the caller, for each top
  BatchShapes shapes; ///< of the last batch, if its image has a size of its own
  std::unique_ptr<Prefetcher, DeleteUnlessForked> prefetcher;

  /// Returns whether only the caller provides values: there is no source.
  bool isFromCaller() const { return kind->isFromCaller(); }
};

DataPipeline::DataPipeline(Executor &planExecutor, int programNumber,
                           caffe::RankSeed seed, std::string planFolder,
                           Events *listeners,
                           const ReaderOptions &readerOptions)
    : executor(planExecutor), events(listeners), program(programNumber),
      ownCursors(executor.manifest().programs(program)) {
  const plan::Manifest &manifest = executor.manifest();
  const plan::Program &description = manifest.programs(program);
  for (int i = 0; i < description.data_inputs_size(); ++i) {
    const plan::DataInput &source = description.data_inputs(i);
    auto input = std::make_unique<Input>();
    input->number = i;
    DataLayerInfo &info = input->info;
    if (!info.layer.ParseFromString(source.layer()))
      throw badInput("the plan's program '" + description.name() +
                     "' has a data layer that cannot be read");
    const std::string &type = info.layer.type();
    input->kind = caffe::findDataLayerKind(type);
    if (!input->kind)
      throw badInput("layer '" + info.layer.name() + "' (" + type +
                     "): this version of brew-run cannot read data for layers "
                     "of this type");
    if (info.layer.top_size() != source.buffer_indices_size())
      throw badInput("layer '" + info.layer.name() + "' (" + type + "): has " +
                     std::to_string(info.layer.top_size()) +
                     " tops but the plan has " +
                     std::to_string(source.buffer_indices_size()) + " buffers");
    for (std::uint32_t index : source.buffer_indices()) {
      info.tops.push_back(&manifest.buffers(static_cast<int>(index)));
      input->buffers.push_back(index);
    }
    info.testPhase = description.test_phase();
    info.imageSizesVary = source.image_sizes_vary();
    info.events = events;
    info.readerOptions = readerOptions;
    info.seed = ownCursors.seedOf(seed);
    info.stream = description.name() + "/" + info.layer.name();
    if (source.has_pixel_conversion())
      info.pixels = &source.pixel_conversion();
    if (!source.folder().empty())
      info.folders.push_back(source.folder());
    if (!planFolder.empty())
      info.folders.push_back(planFolder);
    input->fixedValues.resize(info.tops.size());
    input->takenOver.resize(info.tops.size());
    inputs.push_back(std::move(input));
  }
}

DataPipeline::~DataPipeline() = default;

void DataPipeline::reset(caffe::RankSeed seed) {
  requireNoCallback();
  opened = false;
  for (const auto &input : inputs) {
    input->prefetcher.reset();
    input->info.seed = ownCursors.seedOf(seed);
  }
}

std::vector<std::string> DataPipeline::tops() const {
  std::vector<std::string> names;
  for (const auto &input : inputs)
    names.insert(names.end(), input->info.layer.top().begin(),
                 input->info.layer.top().end());
  return names;
}

DataPipeline::Input *DataPipeline::inputOf(std::string_view top,
                                           std::size_t &index) const {
  for (const auto &input : inputs)
    for (int i = 0; i < input->info.layer.top_size(); ++i)
      if (input->info.layer.top(i) == top) {
        index = static_cast<std::size_t>(i);
        return input.get();
      }
  return nullptr;
}

const plan::Buffer *DataPipeline::find(std::string_view top) const {
  std::size_t index = 0;
  Input *input = inputOf(top, index);
  return input ? input->info.tops[index] : nullptr;
}

template <typename Value>
void DataPipeline::setValues(std::string_view top, const Value *values,
                             std::int64_t count) {
  requireNoCallback();
  std::size_t index = 0;
  Input *input = inputOf(top, index);
  if (!input)
    throw unknownInput(std::string(top));
  const plan::Buffer &buffer = *input->info.tops[index];
  if (count != plan::elementCount(buffer))
    throw badInput("input blob '" + std::string(top) + "' has " +
                   std::to_string(count) + " values; the plan was built for " +
                   caffe::shapeText(buffer.dims()));
  removeFromCallbacks(std::string(top));
  input->takenOver[index] = true;
  input->fixedValues[index].resize(buffer.size());
  caffe::store(buffer, values, input->fixedValues[index].data());
}

/// Removes the top from all callbacks.
void DataPipeline::removeFromCallbacks(const std::string &top) {
  for (const auto &callbackInput : callbacks)
    callbackInput->requests.erase(
        std::remove_if(
            callbackInput->requests.begin(), callbackInput->requests.end(),
            [&](const Request &request) { return request.top == top; }),
        callbackInput->requests.end());
  callbacks.erase(
      std::remove_if(callbacks.begin(), callbacks.end(),
                     [](const std::unique_ptr<CallbackInput> &callbackInput) {
                       return callbackInput->requests.empty();
                     }),
      callbacks.end());
}

void DataPipeline::setCallback(const std::vector<std::string> &requestedTops,
                               Callback callback) {
  requireNoCallback();
  auto callbackInput = std::make_unique<CallbackInput>();
  callbackInput->callback = std::move(callback);
  for (const std::string &top :
       requestedTops.empty() ? tops() : requestedTops) {
    const plan::Buffer *buffer = find(top);
    if (!buffer)
      throw unknownInput(top);
    Request request;
    request.top = top;
    request.dims = caffe::toVector(buffer->dims());
    request.count = plan::elementCount(*buffer);
    request.isDouble = buffer->type() == plan::F64;
    const auto count = static_cast<std::size_t>(request.count);
    callbackInput->floats.emplace_back(request.isDouble ? 0 : count);
    callbackInput->doubles.emplace_back(request.isDouble ? count : 0);
    request.floats =
        request.isDouble ? nullptr : callbackInput->floats.back().data();
    request.doubles =
        request.isDouble ? callbackInput->doubles.back().data() : nullptr;
    callbackInput->requests.push_back(std::move(request));
  }
  for (const Request &request : callbackInput->requests) {
    removeFromCallbacks(request.top);
    // Mark the top as overridden, so that no source is opened for it.
    std::size_t index = 0;
    Input *input = inputOf(request.top, index);
    input->takenOver[index] = true;
    input->fixedValues[index].resize(input->info.tops[index]->size());
  }
  if (!callbackInput->requests.empty())
    callbacks.push_back(std::move(callbackInput));
}

/// Throws Error (2) if a callback is running: it must not be removed.
void DataPipeline::requireNoCallback() const {
  if (inCallback)
    throw Error(
        ExitStatus::Usage,
        "a feed callback must not change its program's inputs or feed it");
}

void DataPipeline::runCallbacks() {
  struct CallbackScope {
    bool &flag;
    explicit CallbackScope(bool &running) : flag(running) { flag = true; }
    ~CallbackScope() { flag = false; }
  } const scope(inCallback);
  for (const auto &callbackInput : callbacks) {
    callbackInput->callback(callbackInput->requests);
    for (const Request &request : callbackInput->requests) {
      std::size_t index = 0;
      Input *input = inputOf(request.top, index);
      const plan::Buffer &buffer = *input->info.tops[index];
      std::byte *target = input->fixedValues[index].data();
      if (request.isDouble)
        caffe::store(buffer, request.doubles, target);
      else
        caffe::store(buffer, request.floats, target);
    }
  }
}

void DataPipeline::set(std::string_view top, const double *values,
                       std::int64_t count) {
  setValues(top, values, count);
}
void DataPipeline::set(std::string_view top, const float *values,
                       std::int64_t count) {
  setValues(top, values, count);
}
void DataPipeline::set(std::string_view top, const std::int32_t *values,
                       std::int64_t count) {
  const std::vector<double> exact(values,
                                  values + std::max<std::int64_t>(count, 0));
  setValues(top, exact.data(), count);
}

std::vector<std::string> DataPipeline::unsetTops() const {
  std::vector<std::string> names;
  for (const auto &input : inputs)
    for (int i = 0; input->isFromCaller() && i < input->info.layer.top_size();
         ++i)
      if (!input->takenOver[static_cast<std::size_t>(i)])
        names.push_back(input->info.layer.top(i));
  return names;
}

/// Returns whether the device can convert the first top from the source's
/// bytes. If so, copies the source's mean to the device.
bool DataPipeline::configurePixelConversion(const Input &input,
                                            const BatchSource &source) {
  const plan::DataInput &description =
      executor.manifest().programs(program).data_inputs(input.number);
  const PixelMean *mean = source.pixelMean();
  if (!mean || !executor.convertsPixels(program, input.number) ||
      mean->dims != std::vector<std::int64_t>(
                        description.pixel_conversion().mean_dims().begin(),
                        description.pixel_conversion().mean_dims().end()))
    return false;
  executor.setPixelMean(program, input.number, mean->values);
  return true;
}

std::unique_ptr<BatchSource> DataPipeline::openSource(const Input &input) {
  // Deliver the source's log lines before its error.
  try {
    std::unique_ptr<BatchSource> source =
        findSourceKind(input.kind->source)->open(input.info);
    deliverEvents();
    return source;
  } catch (...) {
    deliverEvents();
    throw;
  }
}

void DataPipeline::deliverEvents() {
  if (events)
    events->deliver();
}

void DataPipeline::open() {
  if (opened)
    return;
  for (const auto &input : inputs) {
    if (input->prefetcher)
      continue; // opened by an earlier call
    std::vector<bool> areWanted;
    bool needsSource = false;
    for (std::size_t i = 0; i < input->fixedValues.size(); ++i) {
      const bool fromSource = input->fixedValues[i].empty();
      if (input->isFromCaller() && fromSource)
        input->fixedValues[i].resize(input->info.tops[i]->size()); // zeros
      areWanted.push_back(fromSource);
      needsSource |= fromSource;
    }
    if (needsSource && !input->isFromCaller()) {
      const SourceKind &sourceKind = *findSourceKind(input->kind->source);
      std::unique_ptr<BatchSource> source = openSource(*input);
      const bool deliversPixels =
          areWanted[0] && configurePixelConversion(*input, *source);
      input->prefetcher = {
          new Prefetcher(std::move(source), input->info, areWanted,
                         sourceKind.prefetchDepth
                             ? sourceKind.prefetchDepth(input->info.layer)
                             : kDefaultDepth,
                         deliversPixels),
          DeleteUnlessForked()};
    }
  }
  opened = true;
}

/// Opens the sources again, for threads of this process, and continues with the
/// batches that the parent would have read next.
void DataPipeline::reopenAfterFork() {
  const std::vector<caffe::ReaderCursor> positions = cursors();
  for (const auto &input : inputs)
    input->prefetcher.reset();
  opened = false;
  restore(positions);
  readerForks = forkCount();
}

void DataPipeline::start() {
  if (readerForks != forkCount())
    reopenAfterFork();
  open();
  for (const auto &input : inputs)
    if (input->prefetcher)
      input->prefetcher->start();
}

void DataPipeline::feedData() {
  requireNoCallback();
  start();
  runCallbacks();
  for (const auto &input : inputs) {
    const Prefetcher::Batch *batch =
        input->prefetcher ? &input->prefetcher->acquire() : nullptr;
    // Always release the batch; otherwise the reader would run out of batches.
    const BatchReleaser releaser{batch ? input->prefetcher.get() : nullptr};
    if (batch)
      input->shapes = batch->shapes;
    for (std::size_t i = 0; i < input->buffers.size(); ++i) {
      const std::vector<std::byte> &fixedValues = input->fixedValues[i];
      // A bound input that was never set keeps its values.
      if (input->isFromCaller() && !input->takenOver[i] &&
          executor.hasBoundMemory(input->buffers[i]))
        continue;
      if (i == 0 && batch && batch->arePixels)
        executor.feedPixels(program, input->number, batch->pixels);
      else
        executor.feed(input->buffers[i], fixedValues.empty()
                                             ? batch->tops[i]
                                             : fixedValues.data());
    }
  }
  deliverEvents();
}

std::optional<std::vector<std::int64_t>>
DataPipeline::shapeOfImage(std::uint32_t buffer) const {
  for (const auto &input : inputs)
    for (std::size_t i = 0; i < input->shapes.size(); ++i)
      if (input->buffers[i] == buffer && !input->takenOver[i])
        return input->shapes[i];
  return std::nullopt;
}

plan::Buffer DataPipeline::lastBuffer(std::string_view top) const {
  std::size_t index = 0;
  const Input *input = inputOf(top, index);
  if (!input)
    throw unknownInput(std::string(top));
  plan::Buffer buffer = *input->info.tops[index];
  if (const auto shape = shapeOfImage(input->buffers[index])) {
    // The image is dense from the first element on.
    buffer.mutable_dims()->Assign(shape->begin(), shape->end());
    std::int64_t stride = 1;
    for (int i = buffer.dims_size() - 1; i >= 0; --i) {
      buffer.set_strides(i, stride);
      stride *= buffer.dims(i);
    }
  }
  return buffer;
}

template <typename Value>
void DataPipeline::readValues(std::string_view top, Value *values,
                              std::int64_t count) {
  const plan::Buffer buffer = lastBuffer(top);
  if (count != plan::elementCount(buffer))
    throw usageError("input blob '" + std::string(top) + "' has " +
                     std::to_string(plan::elementCount(buffer)) +
                     " values, not " + std::to_string(count));
  // Run no steps. This makes a device finish copying the inputs.
  executor.run(program, 0, 0);
  std::size_t index = 0;
  const Input &input = *inputOf(top, index);
  executor.read(input.buffers[index], [&](const std::byte *bytes) {
    caffe::load(buffer, bytes, values);
  });
}

void DataPipeline::read(std::string_view top, float *values,
                        std::int64_t count) {
  readValues(top, values, count);
}
void DataPipeline::read(std::string_view top, double *values,
                        std::int64_t count) {
  readValues(top, values, count);
}

std::string DataPipeline::identity() const {
  std::string text;
  for (const auto &input : inputs)
    if (input->prefetcher)
      text += input->info.layer.name() + "\n" + input->prefetcher->identity() +
              "\n";
  return text;
}

std::vector<caffe::ReaderCursor> DataPipeline::cursors() const {
  std::vector<caffe::ReaderCursor> result;
  for (const auto &input : inputs)
    if (input->prefetcher)
      result.push_back(ownCursors.make(input->info.layer.name(),
                                       input->prefetcher->consumed()));
  return result;
}

void DataPipeline::restore(const std::vector<caffe::ReaderCursor> &cursors) {
  open();
  for (const auto &input : inputs)
    if (input->prefetcher)
      if (const caffe::ReaderCursor *cursor =
              ownCursors.find(cursors, input->info.layer.name()))
        input->prefetcher->seek(
            {cursor->records(), cursor->epoch(), cursor->position()});
}

std::vector<DataPipeline::Stall> DataPipeline::stalls() const {
  std::vector<Stall> result;
  for (const auto &input : inputs)
    if (input->prefetcher && input->prefetcher->waits())
      result.push_back({input->info.layer.name(), input->prefetcher->waits(),
                        input->prefetcher->secondsWaited()});
  return result;
}

std::vector<DataPipeline::ReaderLoad> DataPipeline::readerLoads() const {
  std::vector<ReaderLoad> result;
  for (const auto &input : inputs)
    if (input->prefetcher && input->kind->isRefilled) {
      const Prefetcher::Load load = input->prefetcher->load();
      if (load.seconds > 0)
        result.push_back({input->info.layer.name(), load.idle / load.seconds,
                          input->prefetcher->secondsWaited() / load.seconds,
                          load.skipped});
    }
  return result;
}

} // namespace brew::runtime

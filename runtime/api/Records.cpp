//===- Records.cpp - C API: records and HDF5 files ------------------------===//

#include "runtime/api/Handles.h"

#include "caffe/weights/BufferLayout.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "formats/hdf5/Hdf5.h"
#include "runtime/data/Samples.h"

using namespace brew;
using namespace brew::api;

struct brew_records {
  Message message;
  std::unique_ptr<runtime::SampleSource> source;
  runtime::Sample sample;
};

struct brew_tensor_file {
  Message message;
  std::unique_ptr<formats::Hdf5Reader> reader;
  std::unique_ptr<formats::Hdf5Writer> writer;
  std::vector<std::string> names;
  std::vector<const char *> views;
  std::set<std::string> writtenPaths; ///< full paths
  bool isCommitted = false;

  formats::Hdf5Reader &requireReader() const {
    if (!reader)
      throw usage("the file is not open for reading");
    return *reader;
  }
  formats::Hdf5Writer &requireWriter() const {
    if (!writer)
      throw usage("the file is not open for writing");
    if (isCommitted)
      throw usage("the file was committed: nothing more can be written to it");
    return *writer;
  }
};

/// Throws unless images may be resized to a transform's size, then cropped.
static void checkResize(const brew_input_transform &transform,
                        const std::vector<std::int64_t> &shape) {
  const int height = transform.resize_height, width = transform.resize_width;
  constexpr int kMaxSide = 1 << 16; // pixels, as in a plan
  if ((height == 0 && width == 0) || shape.size() != 3)
    return;
  if (height < shape[1] || width < shape[2] || height > kMaxSide ||
      width > kMaxSide)
    throw usage("the transform resizes images to " + std::to_string(height) +
                "x" + std::to_string(width) + "; it needs at least the " +
                std::to_string(shape[1]) + "x" + std::to_string(shape[2]) +
                " of the records, and at most " + std::to_string(kMaxSide) +
                " rows and columns");
}

brew_status brew_records_open(const char *path,
                              const brew_records_options *options,
                              brew_records **records) {
  return api::open(records, [&](brew_records &handle) {
    const brew_records_options cOptions = copyFromCaller(options);
    if (cOptions.ndim > BREW_MAX_DIMS)
      throw usage("the records have too many dimensions");
    const std::vector<std::int64_t> shape(cOptions.dims,
                                          cOptions.dims + cOptions.ndim);
    for (std::int64_t dim : shape)
      if (dim < 1)
        throw usage("a dimension of the records is less than 1");
    runtime::Preprocessing preprocessing;
    if (cOptions.transform) {
      const brew_input_transform transform = copyFromCaller(cOptions.transform);
      if (!transform.mean && transform.mean_count)
        throw usage("the mean of the transform is NULL");
      checkResize(transform, shape);
      preprocessing.scale = static_cast<float>(transform.scale);
      preprocessing.resizeHeight = transform.resize_height;
      preprocessing.resizeWidth = transform.resize_width;
      runtime::setMean({transform.mean, transform.mean + transform.mean_count},
                       shape, preprocessing);
    }
    if (cOptions.scale)
      preprocessing.scale = static_cast<float>(*cOptions.scale);
    if (cOptions.mean)
      runtime::readMean(cOptions.mean, shape, preprocessing);
    handle.source = runtime::openSamples(
        text(path, "the path"), cOptions.dataset ? cOptions.dataset : "", shape,
        preprocessing);
  });
}

const char *brew_records_message(const brew_records *records) {
  return records ? records->message.text() : Message::outOfMemory();
}

void brew_records_destroy(brew_records *records) { delete records; }

brew_status brew_records_next(brew_records *records, brew_record *record,
                              int *more) {
  if (!records)
    return BREW_USAGE;
  return guarded(records->message, [&] {
    if (!records->source)
      throw usage("the records could not be opened");
    if (!more)
      throw usage("the pointer to `more` is NULL");
    runtime::Sample &sample = records->sample;
    *more = records->source->next(sample);
    if (!*more)
      return;
    brew_record result{};
    result.name = sample.name.c_str();
    result.values = sample.values.data();
    result.count = static_cast<std::int64_t>(sample.values.size());
    result.has_label = sample.label.has_value();
    result.label = sample.label.value_or(0);
    result.is_image = sample.isImage;
    result.label_error =
        sample.labelError.empty() ? nullptr : sample.labelError.c_str();
    copyToCaller(record, result);
  });
}

//===----------------------------------------------------------------------===//
// Databases of features
//===----------------------------------------------------------------------===//

struct brew_record_writer {
  Message message;
  std::unique_ptr<formats::DbWriter> database; ///< null after finishing
};

brew_status brew_record_writer_open(const char *path, const char *backend,
                                    int overwrite,
                                    brew_record_writer **writer) {
  return api::open(writer, [&](brew_record_writer &handle) {
    const auto kind = formats::parseBackend(text(backend, "the backend"));
    if (!kind)
      throw usage("the backend '" + std::string(backend) +
                  "' is neither lmdb nor leveldb");
    handle.database = formats::DbWriter::create(text(path, "the path"), *kind,
                                                overwrite != 0);
  });
}

const char *brew_record_writer_message(const brew_record_writer *writer) {
  return writer ? writer->message.text() : Message::outOfMemory();
}

void brew_record_writer_destroy(brew_record_writer *writer) { delete writer; }

brew_status brew_record_writer_put(brew_record_writer *writer, const char *key,
                                   int channels, int height, int width,
                                   const float *values) {
  if (!writer)
    return BREW_USAGE;
  return guarded(writer->message, [&] {
    if (!writer->database)
      throw usage("the database is not open for writing");
    if (!values || channels < 1 || height < 1 || width < 1)
      throw usage("a record needs values, and extents of at least 1");
    writer->database->put(
        text(key, "the record's key"),
        formats::encodeFloatDatum(channels, height, width, values));
  });
}

brew_status brew_record_writer_finish(brew_record_writer *writer) {
  if (!writer)
    return BREW_USAGE;
  return guarded(writer->message, [&] {
    if (!writer->database)
      throw usage("the database was finished");
    writer->database->finish();
    writer->database.reset();
  });
}

//===----------------------------------------------------------------------===//
// HDF5 files
//===----------------------------------------------------------------------===//

namespace {

template <typename Body>
brew_status withFile(brew_tensor_file *file, Body &&body) {
  if (!file)
    return BREW_USAGE;
  return guarded(file->message, std::forward<Body>(body));
}

template <typename Value>
void copyDataset(const std::vector<Value> &from, const char *name, void *values,
                 std::int64_t count) {
  if (count != static_cast<std::int64_t>(from.size()))
    throw usage("dataset '" + std::string(name) + "' has " +
                std::to_string(from.size()) + " values, not " +
                std::to_string(count));
  std::copy(from.begin(), from.end(), static_cast<Value *>(values));
}

} // namespace

brew_status brew_tensor_file_open(const char *path, brew_file_mode mode,
                                  brew_tensor_file **file) {
  return api::open(file, [&](brew_tensor_file &handle) {
    const char *name = text(path, "the path");
    if (mode == BREW_READ)
      handle.reader = std::make_unique<formats::Hdf5Reader>(name);
    else if (mode == BREW_WRITE)
      handle.writer = std::make_unique<formats::Hdf5Writer>(name);
    else
      throw usage("a file is opened to read or to write");
  });
}

const char *brew_tensor_file_message(const brew_tensor_file *file) {
  return file ? file->message.text() : Message::outOfMemory();
}

void brew_tensor_file_destroy(brew_tensor_file *file) { delete file; }

brew_status brew_tensor_file_list(brew_tensor_file *file, const char *group,
                                  const char *const **names, size_t *count) {
  return withFile(file, [&] {
    if (!names || !count)
      throw usage("the pointer to the names is NULL");
    file->names = file->requireReader().datasets(group ? group : "/");
    file->views.clear();
    for (const std::string &name : file->names)
      file->views.push_back(name.c_str());
    *names = file->views.data();
    *count = file->views.size();
  });
}

brew_status brew_tensor_file_find(brew_tensor_file *file, const char *name,
                                  brew_dataset *dataset) {
  return withFile(file, [&] {
    const formats::Hdf5Reader &reader = file->requireReader();
    const std::string datasetName = text(name, "the dataset's name");
    const std::vector<std::int64_t> dims = reader.dims(datasetName);
    brew_dataset result{};
    result.dtype = reader.isDouble(datasetName) ? BREW_F64 : BREW_F32;
    result.ndim = setDims(result.dims, dims);
    result.count = caffe::product(dims);
    copyToCaller(dataset, result);
  });
}

brew_status brew_tensor_file_read(brew_tensor_file *file, const char *name,
                                  brew_dtype dtype, void *values,
                                  int64_t count) {
  return withFile(file, [&] {
    const formats::Hdf5Reader &reader = file->requireReader();
    const char *datasetName = text(name, "the dataset's name");
    if (!values && count)
      throw usage("the values are NULL");
    if (dtype == BREW_F32)
      copyDataset(reader.readFloats(datasetName), datasetName, values, count);
    else if (dtype == BREW_F64)
      copyDataset(reader.readDoubles(datasetName), datasetName, values, count);
    else
      throw usage("values of a dataset are read as BREW_F32 or BREW_F64");
  });
}

brew_status brew_tensor_file_write(brew_tensor_file *file, const char *name,
                                   brew_dtype dtype, const int64_t *dims,
                                   size_t ndim, const void *values) {
  return withFile(file, [&] {
    formats::Hdf5Writer &writer = file->requireWriter();
    if ((!dims && ndim) || ndim > BREW_MAX_DIMS)
      throw usage("the dimensions are NULL or too many");
    const std::vector<std::int64_t> shape(dims, dims + ndim);
    if (!values && caffe::product(shape) > 0)
      throw usage("the values are NULL");
    const std::string datasetName = text(name, "the dataset's name");
    const std::string path = (datasetName[0] == '/' ? "" : "/") + datasetName;
    if (file->writtenPaths.count(path))
      throw usage("dataset '" + datasetName + "' was written before");
    withType(dtype, values, [&](const auto *typed) {
      writer.write(datasetName, shape, typed);
    });
    file->writtenPaths.insert(path);
  });
}

brew_status brew_tensor_file_commit(brew_tensor_file *file) {
  return withFile(file, [&] {
    formats::Hdf5Writer &writer = file->requireWriter();
    // Set before committing, since the content is lost if that fails.
    file->isCommitted = true;
    writer.commit();
  });
}

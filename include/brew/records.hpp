//===- records.hpp - Files of records and of tensors ------------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/records.h>
#include <brew/support.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::api {

class Records {
public:
  /// `dims`: the shape of one record. `mean` and `scale`, unless empty, replace
  /// those of `transform`, which may be null.
  Records(const std::string &path, const std::vector<std::int64_t> &dims,
          const std::string &dataset = "", const std::string &mean = "",
          std::optional<double> scale = std::nullopt,
          const brew_input_transform *transform = nullptr) {
    auto options = makeStruct<brew_records_options>();
    if (dims.size() > BREW_MAX_DIMS)
      throw Error(BREW_USAGE, "the records have too many dimensions");
    options.ndim = dims.size();
    for (std::size_t i = 0; i < dims.size(); ++i)
      options.dims[i] = dims[i];
    options.dataset = dataset.c_str();
    options.mean = mean.empty() ? nullptr : mean.c_str();
    options.scale = scale ? &*scale : nullptr;
    options.transform = transform;
    brew_records *opened = nullptr;
    const brew_status status =
        brew_records_open(path.c_str(), &options, &opened);
    records.reset(opened);
    detail::check(status, brew_records_message(opened));
  }
  /// Returns the next record, whose pointers are valid until the next call, or
  /// nullopt at the end.
  std::optional<brew_record> next() {
    auto record = makeStruct<brew_record>();
    int more = 0;
    const brew_status status = brew_records_next(records.get(), &record, &more);
    detail::check(status, brew_records_message(records.get()));
    if (!more)
      return std::nullopt;
    return record;
  }

private:
  detail::UniqueHandle<brew_records, brew_records_destroy> records;
};

class RecordWriter {
public:
  RecordWriter(const std::string &path, const std::string &backend,
               bool overwrite = false) {
    brew_record_writer *opened = nullptr;
    const brew_status status = brew_record_writer_open(
        path.c_str(), backend.c_str(), overwrite, &opened);
    writer.reset(opened);
    check(status);
  }
  void put(const std::string &key, int channels, int height, int width,
           const float *values) {
    check(brew_record_writer_put(writer.get(), key.c_str(), channels, height,
                                 width, values));
  }
  void finish() { check(brew_record_writer_finish(writer.get())); }

private:
  void check(brew_status status) const {
    detail::check(status, brew_record_writer_message(writer.get()));
  }

  detail::UniqueHandle<brew_record_writer, brew_record_writer_destroy> writer;
};

class TensorFile {
public:
  TensorFile(const std::string &path, brew_file_mode mode) {
    brew_tensor_file *opened = nullptr;
    const brew_status status =
        brew_tensor_file_open(path.c_str(), mode, &opened);
    file.reset(opened);
    check(status);
  }
  std::vector<std::string> list(const std::string &group = "/") {
    const char *const *names = nullptr;
    std::size_t count = 0;
    check(brew_tensor_file_list(file.get(), group.c_str(), &names, &count));
    return {names, names + count};
  }
  brew_dataset find(const std::string &name) {
    auto dataset = makeStruct<brew_dataset>();
    check(brew_tensor_file_find(file.get(), name.c_str(), &dataset));
    return dataset;
  }
  /// `Value`: float or double.
  template <typename Value = float>
  std::vector<Value> read(const std::string &name) {
    std::vector<Value> values(static_cast<std::size_t>(find(name).count));
    check(brew_tensor_file_read(file.get(), name.c_str(),
                                detail::dtypeOf<Value>(), values.data(),
                                static_cast<std::int64_t>(values.size())));
    return values;
  }
  template <typename Value>
  void write(const std::string &name, const std::vector<std::int64_t> &dims,
             const Value *values) {
    check(brew_tensor_file_write(file.get(), name.c_str(),
                                 detail::dtypeOf<Value>(), dims.data(),
                                 dims.size(), values));
  }
  void commit() { check(brew_tensor_file_commit(file.get())); }

private:
  void check(brew_status status) const {
    detail::check(status, brew_tensor_file_message(file.get()));
  }

  detail::UniqueHandle<brew_tensor_file, brew_tensor_file_destroy> file;
};

} // namespace brew::api

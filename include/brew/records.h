/*===- records.h - Files of records and of tensors ----------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_RECORDS_H
#define BREW_RECORDS_H

#include <brew/plan.h>
#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Records of databases, images and HDF5 files ----------------------===*/

typedef struct brew_records_options {
  size_t struct_size;
  /* The shape of one record: the input's dimensions without its batch. */
  size_t ndim;
  int64_t dims[BREW_MAX_DIMS];
  /* The dataset of an HDF5 file: this name, or this name below inputs/. */
  const char *dataset;
  /* Subtracted from images: numbers separated by commas, one or one per
   * channel, or the name of a .binaryproto; NULL: the transform's. A mean image
   * of another height and width is reduced to the means of its channels. */
  const char *mean;
  /* Factor for images, applied after the mean; NULL: the transform's. */
  const double *scale;
  /* How images are prepared; NULL: resized to the height and width of `dims`,
   * without a mean, times 1. Its size must not be smaller than `dims`. */
  const brew_input_transform *transform;
} brew_records_options;

/* Opens `path` by its kind: a folder (LMDB, LevelDB, or image files in it
 * and its subfolders, ordered by name), an HDF5 file or NumPy's .npy (a
 * record per row, unchanged), a list of images and labels (.txt), an image
 * file, or an IDX file of images, gzipped or not. The labels of an IDX file
 * are in the file of the same folder whose name has "labels-idx1" instead of
 * "images-idx3". Images are prepared as `options` say. Returns
 * BREW_UNAVAILABLE if `path` is not found, and BREW_BAD_INPUT if it is of no
 * such kind or does not match `options`. */
BREW_API brew_status brew_records_open(const char *path,
                                       const brew_records_options *options,
                                       brew_records **records);
BREW_API const char *brew_records_message(const brew_records *records);
BREW_API void brew_records_destroy(brew_records *records);

typedef struct brew_record {
  size_t struct_size;
  const char *name;    /* valid until the next call on the records */
  const float *values; /* the product of dims; likewise */
  int64_t count;
  int has_label;
  int label;
  /* The reason why the record has no label although the source has labels: they
   * are damaged, or belong to other images. NULL otherwise. Valid until the
   * next call. */
  const char *label_error;
  int is_image; /* the values were prepared from an image */
} brew_record;

/* Reads the next record; `*more` is 0 at the end. */
BREW_API brew_status brew_records_next(brew_records *records,
                                       brew_record *record, int *more);

/*===-- Databases of features --------------------------------------------===*/

/* Creates a database of Caffe's Datum records with float_data. `path` is
 * unchanged until the database is finished. `backend` is "lmdb" or "leveldb".
 * Returns BREW_BAD_INPUT if `path` exists, unless `overwrite` is set and `path`
 * is a database. */
BREW_API brew_status brew_record_writer_open(const char *path,
                                             const char *backend, int overwrite,
                                             brew_record_writer **writer);
BREW_API const char *
brew_record_writer_message(const brew_record_writer *writer);
/* Destroys the writer. Discards a database that is not finished. */
BREW_API void brew_record_writer_destroy(brew_record_writer *writer);
/* Adds a record of channels x height x width values. */
BREW_API brew_status brew_record_writer_put(brew_record_writer *writer,
                                            const char *key, int channels,
                                            int height, int width,
                                            const float *values);
/* Finishes the database. Must be the last call, made once. Returns
 * BREW_UNAVAILABLE if the database cannot be written. */
BREW_API brew_status brew_record_writer_finish(brew_record_writer *writer);

/*===-- HDF5 files of tensors --------------------------------------------===*/

typedef enum brew_file_mode {
  BREW_READ = 0,
  /* The file appears under its name when it is committed. */
  BREW_WRITE = 1
} brew_file_mode;

BREW_API brew_status brew_tensor_file_open(const char *path,
                                           brew_file_mode mode,
                                           brew_tensor_file **file);
BREW_API const char *brew_tensor_file_message(const brew_tensor_file *file);
/* Closes the file. Discards a file that was being written and is not committed.
 */
BREW_API void brew_tensor_file_destroy(brew_tensor_file *file);

/* Lists all datasets below a group, ordered by name: full paths, valid until
 * the next call on the file. */
BREW_API brew_status brew_tensor_file_list(brew_tensor_file *file,
                                           const char *group,
                                           const char *const **names,
                                           size_t *count);

typedef struct brew_dataset {
  size_t struct_size;
  brew_dtype dtype; /* BREW_F64 if stored as double, else BREW_F32 */
  size_t ndim;      /* 0: a scalar */
  int64_t dims[BREW_MAX_DIMS];
  int64_t count;
} brew_dataset;

BREW_API brew_status brew_tensor_file_find(brew_tensor_file *file,
                                           const char *name,
                                           brew_dataset *dataset);
/* Reads all values, converted to `dtype` (BREW_F32 or BREW_F64). Returns
 * BREW_USAGE if `count` is not their number. */
BREW_API brew_status brew_tensor_file_read(brew_tensor_file *file,
                                           const char *name, brew_dtype dtype,
                                           void *values, int64_t count);
/* Writes a dataset and creates its groups as needed. `dtype` is BREW_F32,
 * BREW_F64 or BREW_I32. Returns BREW_USAGE if the name was written before or
 * the file is committed. */
BREW_API brew_status brew_tensor_file_write(brew_tensor_file *file,
                                            const char *name, brew_dtype dtype,
                                            const int64_t *dims, size_t ndim,
                                            const void *values);
/* Commits the file. Must be the last call, made once. Returns BREW_UNAVAILABLE
 * if the file cannot be written, which loses its content, and BREW_USAGE if it
 * was committed before. */
BREW_API brew_status brew_tensor_file_commit(brew_tensor_file *file);

#ifdef __cplusplus
}
#endif

#endif

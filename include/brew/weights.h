/*===- weights.h - Weight files as arrays -------------------------*- C -*-===*\
|*
|* Reads and writes Caffe's weight files without a plan. Part of brew.h, which
|* documents the rules common to all calls.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_WEIGHTS_H
#define BREW_WEIGHTS_H

#include <brew/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Caffe's two formats of snapshots. Files are read in either. */
typedef enum brew_snapshot_format {
  BREW_BINARY_PROTO = 0, /* less than 2 GB */
  BREW_HDF5 = 1
} brew_snapshot_format;

/* A tensor of a snapshot. */
typedef struct brew_snapshot_blob {
  size_t struct_size;
  size_t ndim; /* 0: a scalar */
  int64_t dims[BREW_MAX_DIMS];
  /* Row-major values, as many as the product of `dims`. NULL if the blob is
   * shared and the file, an HDF5 file, omits its values. */
  float *values;
  const float *diffs; /* the gradients, or NULL; never read from files */
  /* Whether brew_weights_copy() has written the values. */
  int is_loaded;
  /* Another layer owns the parameter. Known for layers of a caller and for HDF5
   * files, which omit the values of such blobs. */
  int is_shared;
} brew_snapshot_blob;

/* A brew_weights has layers with blobs. There are two kinds:
 * - of a file: the library owns the values;
 * - of a net: the values are arrays of the caller, which must stay valid until
 *   the brew_weights is destroyed. brew_weights_write() writes them to a file,
 *   and brew_weights_copy() loads the weights of a file into them. */

/* Reads a binary caffemodel of any version of Caffe, or an HDF5 file. Returns
 * BREW_UNAVAILABLE if the file is not found or not readable, and BREW_BAD_INPUT
 * if it is damaged. Doubles and half-precision values become floats. */
BREW_API brew_status brew_weights_read(const char *path,
                                       brew_weights **weights);
/* Like brew_weights_read() for the `size` bytes of a binary caffemodel in
 * memory. `source` names them in messages. */
BREW_API brew_status brew_weights_parse(const void *data, size_t size,
                                        const char *source,
                                        brew_weights **weights);
/* Creates the weights of a net, without layers. `net` is an encoded
 * NetParameter of `size` bytes without layers, which binary files contain. */
BREW_API brew_status brew_weights_create(const void *net, size_t size,
                                         brew_weights **weights);
BREW_API const char *brew_weights_message(const brew_weights *weights);
BREW_API void brew_weights_destroy(brew_weights *weights);

/* Returns the number of layers. Several may have the same name. */
BREW_API size_t brew_weights_layers(const brew_weights *weights);

typedef struct brew_weight_layer {
  size_t struct_size;
  const char *name; /* valid as long as the weights */
  const char *type; /* likewise; "" for HDF5 files, which contain no types */
  size_t blobs;     /* their number */
} brew_weight_layer;

BREW_API brew_status brew_weights_layer(brew_weights *weights, size_t index,
                                        brew_weight_layer *layer);
/* The pointers to values are valid as long as the weights. */
BREW_API brew_status brew_weights_blob(brew_weights *weights, size_t layer,
                                       size_t index, brew_snapshot_blob *blob);

/* Adds a layer to the weights of a net. `layer` is an encoded LayerParameter of
 * `size` bytes without blobs, with at least a name and a type; binary files
 * contain it. */
BREW_API brew_status brew_weights_add_layer(brew_weights *weights,
                                            const void *layer, size_t size);
/* Adds a blob to the last layer of the weights of a net. Does not copy the
 * values. */
BREW_API brew_status brew_weights_add_blob(brew_weights *weights,
                                           const brew_snapshot_blob *blob);

/* Copies the weights `from` a file `to` the arrays of a net, by layer name.
 * Ignores layers that only one of them has. Shapes must be equal; a legacy
 * four-dimensional shape with the same number of values fits as well, and so
 * does every shape if the layer has strict_dim: false (DeepLab). Converts
 * between the BatchNorm blobs of NVIDIA's Caffe (five) and Caffe (three) where
 * that is lossless. Returns BREW_BAD_INPUT and changes nothing if blobs do not
 * fit; the message of `to` lists them. `source` names `from` in messages. */
BREW_API brew_status brew_weights_copy(const brew_weights *from,
                                       brew_weights *to, const char *source);

/* Writes the weights of a net to a file, which appears under its name when it
 * is complete. HDF5 files omit the values of shared blobs. Files contain the
 * gradients of layers whose blobs all have them. Returns BREW_UNAVAILABLE if
 * the file cannot be written, BREW_BAD_INPUT if a binary file would reach 2 GB.
 */
BREW_API brew_status brew_weights_write(brew_weights *weights, const char *path,
                                        brew_snapshot_format format);

#ifdef __cplusplus
}
#endif

#endif

/*===- embedding.h - Two-dimensional views of feature vectors -----*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls. These
|* functions may be called by any thread and use no handles. They write the
|* error message to `message`, which has room for `size` bytes (NULL: discards
|* it).
|*
|* Features are a row-major matrix, one row per sample; they are only read. All
|* functions compute on the CPU unless stated otherwise. Results are bitwise
|* equal for any number of threads on CPUs of one kind.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_EMBEDDING_H
#define BREW_EMBEDDING_H

#include <brew/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Principal components ----------------------------------------------===*/

typedef struct brew_pca_options {
  size_t struct_size;
  int64_t components; /* at most the number of columns; 0 means 2 */
  uint64_t seed;      /* of the initial vectors of the iteration */
  int threads;        /* 0: OMP_NUM_THREADS, else one per core */
  /* With a plan compiled for CUDA, GPU `gpu` computes the products with the
   * features in single precision, with the library that the plan's programs
   * use. The CPU computes the rest, and everything for another plan or NULL.
   * brew_pca() returns BREW_UNAVAILABLE if there is no such GPU or library, or
   * if the GPU has too little memory. */
  const brew_plan *plan;
  int gpu;
} brew_pca_options;

/* Output arrays of the caller; NULL for a result that is not wanted. */
typedef struct brew_pca_result {
  size_t struct_size;
  float *scores;     /* rows x components: the rows along the components */
  float *directions; /* components x columns, each of length 1 */
  double *variances; /* of each component, divided by rows - 1; descending */
  double *variance;  /* of all columns together */
} brew_pca_result;

/* Computes the principal components of the centered rows; the largest entry of
 * each direction is positive. Beyond the rank of the centered rows, variances
 * and scores are 0 up to rounding, and directions are meaningless. Returns
 * BREW_BAD_INPUT if a feature is not finite, there are fewer than two rows, or
 * a score exceeds the range of float. */
BREW_API brew_status brew_pca(const float *features, int64_t rows,
                              int64_t columns, const brew_pca_options *options,
                              const brew_pca_result *result, char *message,
                              size_t size);

/*===-- t-SNE -------------------------------------------------------------===*/

typedef struct brew_tsne_progress {
  size_t struct_size;
  int iteration;          /* iterations done */
  int iterations;         /* in total */
  double divergence;      /* Kullback-Leibler, without exaggeration */
  const float *embedding; /* rows x 2, valid until the function returns */
} brew_tsne_progress;

/* Called at the beginning, every 50 iterations and at the end, and with NULL in
 * between. A status other than BREW_OK ends the call with that status. */
typedef brew_status (*brew_tsne_function)(const brew_tsne_progress *progress,
                                          void *user);

typedef struct brew_tsne_options {
  size_t struct_size;
  /* 0 selects the default in brackets. */
  double perplexity;   /* [30], more than 1 */
  double exaggeration; /* [12], at least 1 */
  int64_t exact_rows;  /* [1000]: up to this number of rows, exact t-SNE */
  /* [0.5]: theta of Barnes-Hut t-SNE, which is used above exact_rows rows;
   * above 0 and up to 1. */
  double theta;
  double learning_rate;       /* [rows / exaggeration of the phase] */
  int exaggerated_iterations; /* [250]; negative: none */
  int iterations;             /* [500], after these; negative: none */
  uint64_t seed;
  int threads;                 /* [OMP_NUM_THREADS, else one per core] */
  brew_tsne_function progress; /* [none] */
  void *user;
} brew_tsne_options;

/* Embeds the rows in a plane. `embedding` has room for rows x 2 values;
 * `divergence`, which may be NULL, receives the Kullback-Leibler divergence
 * between features and embedding. Returns BREW_BAD_INPUT if a feature is not
 * finite or there are fewer rows than three times the perplexity plus one, and
 * BREW_UNAVAILABLE if there is too little memory for the neighbours of all
 * rows. */
BREW_API brew_status brew_tsne(const float *features, int64_t rows,
                               int64_t columns,
                               const brew_tsne_options *options,
                               float *embedding, double *divergence,
                               char *message, size_t size);

/*===-- Scatter plots -----------------------------------------------------===*/

typedef struct brew_scatter_options {
  size_t struct_size;
  /* The class of each point, counted from 0; negative: no class. NULL: no
   * classes. */
  const int32_t *classes;
  /* Names of classes 0 to class_count - 1 (NULL: their numbers). */
  const char *const *class_names;
  size_t class_count;
  const char *title; /* NULL: no title */
  int width, height; /* of the image in pixels; 0: 1000 and 800 */
} brew_scatter_options;

/* Draws points (rows x 2) with a colour per class and a legend, with equal
 * scales on both axes. `path` ends in .svg or .png; the file is written
 * atomically. Returns BREW_USAGE for another file extension, BREW_BAD_INPUT if
 * a point is not finite, and BREW_UNAVAILABLE if the file cannot be written. */
BREW_API brew_status brew_scatter_write(const char *path, const float *points,
                                        int64_t rows,
                                        const brew_scatter_options *options,
                                        char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif

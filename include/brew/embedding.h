/*===- embedding.h - Pictures of many features ------------------------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls. Functions of any thread,
|* without handles: a failure's words go to `message`, which has room for `size`
|* bytes (NULL: nowhere).
|*
|* Features are rows of so many columns, one row per sample, row-major; they are
|* only read. All computing is the processor's. The results are the same bits for
|* any number of threads on processors of one kind.
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
  int64_t components; /* 0: 2; at most the columns */
  uint64_t seed;      /* of the vectors that the search begins with */
  int threads;        /* 0: OMP_NUM_THREADS, else one per core */
  /* Of one compiled for CUDA the products of the features are done on GPU `gpu`,
   * by the library that its programs use (in single precision); the rest, and
   * all of it for another plan or NULL, by the host. BREW_UNAVAILABLE: there
   * is no such GPU or library, or it has too little memory. */
  const brew_plan *plan;
  int gpu;
} brew_pca_options;

/* What the caller has room for; NULL: is not wanted. */
typedef struct brew_pca_result {
  size_t struct_size;
  float *scores;        /* rows x components: the rows along the components */
  float *directions;    /* components x columns, each of length 1 */
  double *variances;    /* of each component, with rows - 1; largest first */
  double *variance;     /* of all columns together */
} brew_pca_result;

/* Components are those of the rows less their mean; the largest entry of each
 * direction is positive. Beyond the dimensions that the rows lie in variances and
 * scores are 0, but for rounding, and directions have no meaning. BREW_BAD_INPUT: a feature is not finite, there are
 * fewer than two rows, or a score is larger than floats are. */
BREW_API brew_status brew_pca(const float *features, int64_t rows,
                              int64_t columns, const brew_pca_options *options,
                              const brew_pca_result *result, char *message,
                              size_t size);

/*===-- t-SNE -------------------------------------------------------------===*/

typedef struct brew_tsne_progress {
  size_t struct_size;
  int iteration;  /* done ... */
  int iterations; /* ... of so many */
  double divergence; /* Kullback and Leibler's, without exaggeration */
  const float *embedding; /* rows x 2, until the function returns */
} brew_tsne_progress;

/* Called at the beginning, every 50 iterations and at the end, and meanwhile
 * with NULL. Anything but BREW_OK ends the call with that status. */
typedef brew_status (*brew_tsne_function)(const brew_tsne_progress *progress,
                                          void *user);

typedef struct brew_tsne_options {
  size_t struct_size;
  /* 0 everywhere: the value in brackets. */
  double perplexity;            /* [30], more than 1 */
  double exaggeration;          /* [12], at least 1 */
  int64_t exact_rows;           /* [1000]: up to so many all pairs count */
  /* Beyond these Barnes and Hut's theta, above 0 and up to 1 [0.5]. */
  double theta;
  double learning_rate;         /* [rows / exaggeration of the phase] */
  int exaggerated_iterations;   /* [250]; none: a negative number */
  int iterations;               /* [500], after these; likewise */
  uint64_t seed;
  int threads;                  /* [OMP_NUM_THREADS, else one per core] */
  brew_tsne_function progress;  /* [none] */
  void *user;
} brew_tsne_options;

/* Lays the rows out in a plane: `embedding` has room for rows x 2 values,
 * `divergence` (or NULL) is how well the layout agrees with the features.
 * BREW_BAD_INPUT: a feature is not finite, or there are fewer rows than three
 * times the perplexity and one. BREW_UNAVAILABLE: the neighbours of all rows
 * need more memory than there is. */
BREW_API brew_status brew_tsne(const float *features, int64_t rows,
                               int64_t columns,
                               const brew_tsne_options *options,
                               float *embedding, double *divergence,
                               char *message, size_t size);

/*===-- Scatter plots -----------------------------------------------------===*/

typedef struct brew_scatter_options {
  size_t struct_size;
  /* Each point's class, from 0 on; less: none. NULL: no classes. */
  const int32_t *classes;
  /* Names of classes 0 to class_count - 1 (NULL: their numbers). */
  const char *const *class_names;
  size_t class_count;
  const char *title; /* NULL: none */
  int width, height; /* pixels of the picture; 0: 1000 and 800 */
} brew_scatter_options;

/* Draws points (rows x 2) with a colour per class and a legend, to the same
 * scale in both directions. `path` ends in .svg or .png; the file appears whole
 * or not at all. BREW_USAGE: it ends otherwise; BREW_BAD_INPUT: a point is not
 * finite; BREW_UNAVAILABLE: it cannot be written. */
BREW_API brew_status brew_scatter_write(const char *path, const float *points,
                                        int64_t rows,
                                        const brew_scatter_options *options,
                                        char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif

//===- VendorTable.h - The interface of vendor libraries --------*- C++ -*-===//
//
// Brew's interface of a library of neural-network primitives: a table of
// functions. On a GPU the cuDNN adapter (CudnnAdapter.h) implements it. For the
// CUDA simulator, a shared library that exports `brewVendorTable` implements
// it. The structures are plain C, so that the two sides may use different
// compilers.
//
// A call is created once, from shapes and layouts. The library may have several
// implementations of the call ("candidates"), fastest first by its own
// estimate. The caller chooses the candidate and provides the scratch memory.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BREW_VENDOR_TABLE_VERSION 5
#define BREW_VENDOR_MAX_RANK 8
#define BREW_VENDOR_MAX_SPATIAL 3

/// Values as in plan.proto's DataType.
enum BrewVendorType {
  BREW_VENDOR_F32 = 1,
  BREW_VENDOR_F64 = 2,
  BREW_VENDOR_BF16 = 5,
  BREW_VENDOR_F16 = 6
};

/// Element type, extents and strides (in elements) of a tensor. Dimensions may
/// be in any order in memory, with gaps.
struct BrewVendorTensor {
  int32_t type; ///< BrewVendorType
  int32_t rank;
  /// Alignment of the tensor's address in bytes, a power of two.
  int64_t alignment;
  int64_t dims[BREW_VENDOR_MAX_RANK];
  int64_t strides[BREW_VENDOR_MAX_RANK];
};

/// Values as in plan.proto's Direction.
enum BrewVendorDirection {
  BREW_VENDOR_FORWARD = 1,
  BREW_VENDOR_BACKWARD_DATA = 2,
  BREW_VENDOR_BACKWARD_WEIGHTS = 3
};

enum BrewVendorMath {
  BREW_VENDOR_STRICT = 1, ///< F32 operands are multiplied as F32
  BREW_VENDOR_TF32 = 2    ///< products may round F32 operands to TF32
};

/// A cross-correlation of x [N,C,H,W], w [K,C/groups,R,S], b [K] and y
/// [N,K,P,Q], or with a depth before height and width: x [N,C,D,H,W] and so on.
/// In the backward directions, the written tensors and y are gradients:
///   FORWARD           y = act(conv(x, w) + b [+ y])
///   BACKWARD_DATA     x = [x +] conv'(y, w)
///   BACKWARD_WEIGHTS  w = [w +] conv'(x, y), and with has_bias also
///                     b = [b +] sum of y over all but K
/// The terms in [] are added if `accumulate` is set. act(v) is v, or with
/// `relu` v > 0 ? v : negative_slope * v.
struct BrewVendorConvolution {
  int32_t direction; ///< BrewVendorDirection
  int32_t math;      ///< BrewVendorMath
  /// Allows only candidates with bitwise reproducible results.
  int32_t deterministic;
  int32_t has_bias;
  struct BrewVendorTensor x, w, b, y;
  /// One value per spatial dimension (x.rank - 2 of them). `pad` is the padding
  /// before the first element, `pad_end` the padding after the last.
  int64_t pad[BREW_VENDOR_MAX_SPATIAL];
  int64_t pad_end[BREW_VENDOR_MAX_SPATIAL];
  int64_t stride[BREW_VENDOR_MAX_SPATIAL];
  int64_t dilation[BREW_VENDOR_MAX_SPATIAL];
  int64_t groups;
  int32_t accumulate;
  int32_t relu;
  float negative_slope;
};

/// The library's state for a device (the thread's current CUDA context).
struct BrewVendorContext;
/// A call and its candidates.
struct BrewVendorCall;

/// Size of a buffer for an error message, including the null terminator.
#define BREW_VENDOR_MESSAGE_SIZE 512

/// Functions that can fail return 0 on success. Otherwise they return another
/// value and write `message`.
struct BrewVendorTable {
  uint32_t version; ///< BREW_VENDOR_TABLE_VERSION

  /// Opens the library for the calling thread's current CUDA context.
  int (*open)(struct BrewVendorContext **context, char *message);
  void (*close)(struct BrewVendorContext *context);
  /// Returns the name and version, such as "cuDNN 9.19.0", which are part of
  /// the timing cache's keys. The text is valid as long as the context.
  const char *(*name)(struct BrewVendorContext *context);

  /// Creates a call. Fails if there is no candidate. workspace() reports which
  /// candidates the library can build within `workspace_limit` bytes of
  /// scratch.
  int (*create_convolution)(struct BrewVendorContext *context,
                            const struct BrewVendorConvolution *description,
                            uint64_t workspace_limit,
                            struct BrewVendorCall **call, char *message);
  void (*destroy)(struct BrewVendorCall *call);

  /// Returns the number of candidates, at least 1.
  int32_t (*candidates)(struct BrewVendorCall *call);
  /// Returns a candidate's name, which is unique within the call and stable
  /// across runs with the same library and device. The text is valid as long as
  /// the call.
  const char *(*describe)(struct BrewVendorCall *call, int32_t candidate);
  /// Returns the name of the candidate's engine; candidates are settings of
  /// engines. The text is valid as long as the call.
  const char *(*engine)(struct BrewVendorCall *call, int32_t candidate);
  /// Frees the resources that workspace() and run() have built for a candidate.
  /// None of its runs may be pending. Later calls of these functions rebuild
  /// the resources.
  void (*release)(struct BrewVendorCall *call, int32_t candidate);
  /// Returns the size of the scratch memory in bytes, or UINT64_MAX for an
  /// unusable candidate.
  uint64_t (*workspace)(struct BrewVendorCall *call, int32_t candidate);

  /// Enqueues the call on `stream` (a CUstream), which may be capturing. `x`,
  /// `w`, `b` and `y` are the tensors' device addresses; `b` is null without a
  /// bias. `workspace` is scratch of the candidate's size, 256-byte aligned.
  int (*run)(struct BrewVendorCall *call, int32_t candidate, void *x, void *w,
             void *b, void *y, void *workspace, void *stream, char *message);
};

/// The symbol that a shared library with a vendor table exports.
extern const struct BrewVendorTable brewVendorTable;

#ifdef __cplusplus
}
#endif

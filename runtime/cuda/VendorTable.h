//===- VendorTable.h - The vendor calls that a CUDA plan needs --*- C++ -*-===//
//
// Brew's own narrow view of a library of neural-network primitives. On a device
// the cuDNN adapter (CudnnAdapter.h) stands behind it; where there is no device
// the tests stage a stand-in there, built as a shared object that exports
// `brewVendorTable`. Plain C structures, so that the two need not share a
// compiler or anything else.
//
// A call is created once, from shapes and layouts; the library may know several
// ways to do it ("candidates", the most promising first). Which one is used,
// and where its scratch lies, is decided by the caller.
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

/// The numbers of plan.proto's DataType.
enum BrewVendorType {
  BREW_VENDOR_F32 = 1,
  BREW_VENDOR_F64 = 2,
  BREW_VENDOR_BF16 = 5,
  BREW_VENDOR_F16 = 6
};

/// Elements' type, extents and strides (in elements); any order, gaps allowed.
struct BrewVendorTensor {
  int32_t type; ///< BrewVendorType
  int32_t rank;
  /// Bytes that its address is a multiple of: a power of two.
  int64_t alignment;
  int64_t dims[BREW_VENDOR_MAX_RANK];
  int64_t strides[BREW_VENDOR_MAX_RANK];
};

/// The numbers of plan.proto's Direction.
enum BrewVendorDirection {
  BREW_VENDOR_FORWARD = 1,
  BREW_VENDOR_BACKWARD_DATA = 2,
  BREW_VENDOR_BACKWARD_WEIGHTS = 3
};

enum BrewVendorMath {
  BREW_VENDOR_STRICT = 1, ///< F32 operands are multiplied as F32
  BREW_VENDOR_TF32 = 2    ///< products may round F32 operands to TF32
};

/// Cross-correlation over x [N,C,H,W], w [K,C/groups,R,S], b [K], y [N,K,P,Q],
/// or with a depth before height and width: x [N,C,D,H,W] and so on. For a
/// gradient its tensor takes the place of the value's. Written is
///   FORWARD           y = act(conv(x, w) + b [+ y])
///   BACKWARD_DATA     x = [x +] conv'(y, w)
///   BACKWARD_WEIGHTS  w = [w +] conv'(x, y), and with has_bias also
///                     b = [b +] sum of y over all but K
/// where [] depends on `accumulate` and act(v) is v, or with `relu` v > 0 ? v :
/// negative_slope * v.
struct BrewVendorConvolution {
  int32_t direction; ///< BrewVendorDirection
  int32_t math;      ///< BrewVendorMath
  /// Only candidates that give the same bits every time.
  int32_t deterministic;
  int32_t has_bias;
  struct BrewVendorTensor x, w, b, y;
  /// Along each spatial dimension, of which there are x.rank - 2; the padding
  /// before the first element and behind the last.
  int64_t pad[BREW_VENDOR_MAX_SPATIAL];
  int64_t pad_end[BREW_VENDOR_MAX_SPATIAL];
  int64_t stride[BREW_VENDOR_MAX_SPATIAL];
  int64_t dilation[BREW_VENDOR_MAX_SPATIAL];
  int64_t groups;
  int32_t accumulate;
  int32_t relu;
  float negative_slope;
};

/// A device (the thread's current context) and the library's handle on it.
struct BrewVendorContext;
/// One call with its candidates.
struct BrewVendorCall;

/// Room for a sentence about what went wrong, ended by a zero byte.
#define BREW_VENDOR_MESSAGE_SIZE 512

/// Functions that can fail return 0 for success and else fill `message`; the
/// library lacks something or does not support the call.
struct BrewVendorTable {
  uint32_t version; ///< BREW_VENDOR_TABLE_VERSION

  /// Opens the library for the calling thread's current CUDA context.
  int (*open)(struct BrewVendorContext **context, char *message);
  void (*close)(struct BrewVendorContext *context);
  /// Name and version, "cuDNN 9.19.0"; part of the timing cache's keys. Lives
  /// as long as the context.
  const char *(*name)(struct BrewVendorContext *context);

  /// Fails if no candidate is known. Which of them the library can really
  /// build, within `workspace_limit` bytes of scratch, may only turn out when
  /// workspace() asks for one.
  int (*create_convolution)(struct BrewVendorContext *context,
                            const struct BrewVendorConvolution *description,
                            uint64_t workspace_limit,
                            struct BrewVendorCall **call, char *message);
  void (*destroy)(struct BrewVendorCall *call);

  /// At least 1.
  int32_t (*candidates)(struct BrewVendorCall *call);
  /// What a candidate is called, unique within the call and the same in every
  /// run with this library and device. Lives as long as the call.
  const char *(*describe)(struct BrewVendorCall *call, int32_t candidate);
  /// The engine that a candidate is a setting of. Lives as long as the call.
  const char *(*engine)(struct BrewVendorCall *call, int32_t candidate);
  /// Gives back what workspace() and run() have built for a candidate; they
  /// build it again when they are asked. None of its runs may be under way.
  void (*release)(struct BrewVendorCall *call, int32_t candidate);
  /// Bytes of scratch; UINT64_MAX for a candidate that cannot be used.
  uint64_t (*workspace)(struct BrewVendorCall *call, int32_t candidate);

  /// Enqueues the call on a stream (a CUstream), which may be capturing. `x`,
  /// `w`, `b` and `y` are device addresses of the tensors, `b` null without a
  /// bias; `workspace` is 256-byte aligned scratch of the candidate's size.
  int (*run)(struct BrewVendorCall *call, int32_t candidate, void *x, void *w,
             void *b, void *y, void *workspace, void *stream, char *message);
};

/// What a stand-in's shared object exports.
extern const struct BrewVendorTable brewVendorTable;

#ifdef __cplusplus
}
#endif

//===- OpenCv.h - Functions computed with OpenCV ----------------*- C++ -*-===//
//
// OpenCV brings some 25 libraries into a process, and few runs need it. Only
// libbrew_opencv.so links it; the runtime opens that plugin when a run first
// needs one of the functions below. Both are built together and link
// libbrew_common, so that C++ objects and exceptions cross between them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "formats/image/ImageDecode.h"
#include "runtime/data/annotated/RandomDraws.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::embedding {
struct ScatterLayout;
}

namespace brew::runtime {

/// Eigenvalues of a symmetric matrix, the largest first, and an eigenvector for
/// each: the rows of a square matrix, stored row by row.
struct EigenDecomposition {
  std::vector<double> values, vectors;
};

/// Functions of libbrew_opencv.so. They throw Error and OpenCV's cv::Exception,
/// which is a std::exception.
struct OpenCvFunctions {
  std::uint32_t version; ///< kOpenCvVersion, or the plugin is refused

  // AnnotatedData's steps on pixels (runtime/data/annotated/ImageAugmentation.h).
  void (*distort)(formats::Image &image,
                  const caffe::DistortionParameter &settings, RandomDraws &draws);
  formats::Image (*expanded)(const formats::Image &image, int height, int width,
                             int top, int left,
                             const std::vector<float> &colour);
  /// Scales the image to `height` x `width` and, if the settings ask for
  /// padding, pads the result to their size.
  formats::Image (*resized)(const formats::Image &image,
                            const caffe::ResizeParameter &settings, int height,
                            int width, RandomDraws &draws);
  void (*addNoise)(formats::Image &image, const caffe::NoiseParameter &settings,
                   RandomDraws &draws);

  // Embeddings.
  /// `matrix`: size x size values, row by row.
  EigenDecomposition (*symmetricEigen)(const std::vector<double> &matrix,
                                       int size);
  std::string (*scatterPng)(const embedding::ScatterLayout &plan);

  // Films of episodes; `picture` has 3 channels.
  /// `position` of the cart in metres, `angle` of the pole in radians.
  void (*drawCartPole)(formats::Image &picture, double position, double angle);
  /// Writes a line of small text into the upper left corner.
  void (*drawCaption)(formats::Image &picture, const std::string &text);
};

constexpr std::uint32_t kOpenCvVersion = 1;
/// Name of the plugin's function that returns its OpenCvFunctions.
#define BREW_OPENCV_ENTRY "brew_opencv_functions"

/// The plugin's functions, for any thread. The first call opens the plugin.
/// Throws Error (3) if that fails. `task` says in the error what cannot be done
/// without them: "draw an episode".
const OpenCvFunctions &openCvPlugin(const char *task);

} // namespace brew::runtime

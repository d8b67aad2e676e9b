//===- OpenCv.h - Functions of the OpenCV plugin ----------------*- C++ -*-===//
//
// OpenCV loads about 25 libraries into a process, and few runs need it. Only
// libbrew_opencv.so links it; the runtime opens that plugin when a run first
// needs one of the functions below. Both are built together and link
// libbrew_common, so C++ objects and exceptions can cross between them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "formats/image/ImageDecode.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::embedding {
struct ScatterLayout;
}

namespace brew::runtime {

class RandomDraws;

/// Eigenvalues of a symmetric matrix in descending order, and the eigenvectors
/// as the rows of a row-major matrix.
struct EigenDecomposition {
  std::vector<double> values, vectors;
};

/// The functions of libbrew_opencv.so. They throw Error and OpenCV's
/// cv::Exception, which is a std::exception.
struct OpenCvFunctions {
  std::uint32_t version; ///< must be kOpenCvVersion

  // Pixel transformations of AnnotatedData
  // (runtime/data/annotated/ImageAugmentation.h).
  void (*distort)(formats::Image &image,
                  const caffe::DistortionParameter &settings,
                  RandomDraws &draws);
  formats::Image (*expandImage)(const formats::Image &image, int height,
                                int width, int top, int left,
                                const std::vector<float> &colour);
  /// Scales the image to `height` x `width` and pads the result if the settings
  /// request it.
  formats::Image (*resizeImage)(const formats::Image &image,
                                const caffe::ResizeParameter &settings,
                                int height, int width, RandomDraws &draws);
  void (*addNoise)(formats::Image &image, const caffe::NoiseParameter &settings,
                   RandomDraws &draws);

  // Embeddings.
  /// `matrix`: size x size values, row by row.
  EigenDecomposition (*symmetricEigen)(const std::vector<double> &matrix,
                                       int size);
  std::string (*scatterPng)(const embedding::ScatterLayout &layout);

  // Pictures of episodes; `picture` has 3 channels.
  /// `position` of the cart in metres, `angle` of the pole in radians.
  void (*drawCartPole)(formats::Image &picture, double position, double angle);
  /// Writes a line of small text into the upper left corner.
  void (*drawCaption)(formats::Image &picture, const std::string &text);
};

constexpr std::uint32_t kOpenCvVersion = 1;
/// Name of the plugin's function that returns the OpenCvFunctions.
#define BREW_OPENCV_ENTRY "brew_opencv_functions"

/// Returns the plugin's functions. Thread-safe. The first call opens the plugin
/// and throws Error (3) if that fails; the message names the `task` that needs
/// them, such as "draw an episode".
const OpenCvFunctions &openCvPlugin(const char *task);

} // namespace brew::runtime

//===- Plugin.cpp - The entry function of libbrew_opencv.so ---------------===//

#include "extras/opencv/Plugin.h"

#include <opencv2/imgproc.hpp>

namespace brew::runtime::opencv {

EigenDecomposition symmetricEigen(const std::vector<double> &matrix, int size) {
  const cv::Mat symmetric(size, size, CV_64F,
                          const_cast<double *>(matrix.data()));
  cv::Mat values, vectors;
  cv::eigen(symmetric, values, vectors);
  return {{values.begin<double>(), values.end<double>()},
          {vectors.begin<double>(), vectors.end<double>()}};
}

void drawCaption(formats::Image &picture, const std::string &text) {
  cv::Mat pixels(picture.height, picture.width, CV_8UC3, picture.pixels.data());
  cv::putText(pixels, text, cv::Point(6, 16), cv::FONT_HERSHEY_SIMPLEX, 0.42,
              cv::Scalar(90, 90, 90), 1, cv::LINE_AA);
}

} // namespace brew::runtime::opencv

extern "C" __attribute__((visibility("default")))
const brew::runtime::OpenCvFunctions *
brew_opencv_functions() {
  using namespace brew::runtime;
  static const OpenCvFunctions functions = {
      kOpenCvVersion,      opencv::distort,      opencv::expandImage,
      opencv::resizeImage, opencv::addNoise,     opencv::symmetricEigen,
      opencv::scatterPng,  opencv::drawCartPole, opencv::drawCaption};
  return &functions;
}

//===- Plugin.h - Functions of libbrew_opencv.so ----------------*- C++ -*-===//
//
// The implementations of OpenCvFunctions (OpenCv.h), which documents them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/opencv/OpenCv.h"

namespace brew::runtime::opencv {

void distort(formats::Image &image, const caffe::DistortionParameter &settings,
             RandomDraws &draws);
formats::Image expandImage(const formats::Image &image, int height, int width,
                           int top, int left, const std::vector<float> &colour);
formats::Image resizeImage(const formats::Image &image,
                           const caffe::ResizeParameter &settings, int height,
                           int width, RandomDraws &draws);
void addNoise(formats::Image &image, const caffe::NoiseParameter &settings,
              RandomDraws &draws);

EigenDecomposition symmetricEigen(const std::vector<double> &matrix, int size);
std::string scatterPng(const embedding::ScatterLayout &layout);

void drawCartPole(formats::Image &picture, double position, double angle);
void drawCaption(formats::Image &picture, const std::string &text);

} // namespace brew::runtime::opencv

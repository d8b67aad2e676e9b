//===- CartPolePicture.cpp - Drawing of Cart-Pole -------------------------===//

#include "extras/opencv/Plugin.h"
#include "extras/reinforcement/CartPole.h"

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cmath>

namespace brew::runtime::opencv {
namespace {

/// In metres: half of the visible track, the pole, the cart.
constexpr double kHalfTrack = 2.7, kPoleLength = 1, kCartWidth = 0.5,
                 kCartHeight = 0.3;
/// The picture is drawn at kSupersampling times its size and then averaged.
/// Coordinates have kFractionBits fractional bits.
constexpr int kSupersampling = 2, kFractionBits = 4;

} // namespace

void drawCartPole(formats::Image &picture, double position, double angle) {
  constexpr double kEdge = reinforcement::CartPole::kEdge;
  cv::Mat small(picture.height, picture.width, CV_8UC3, picture.pixels.data());
  cv::Mat large(picture.height * kSupersampling, picture.width * kSupersampling,
                CV_8UC3, cv::Scalar(255, 255, 255));
  // The largest scale at which the track and the pole fit.
  const double pixelsPerMetre =
      std::min(large.cols / (2 * kHalfTrack), large.rows / (2.2 * kPoleLength));
  const double ground = large.rows * 0.5 + pixelsPerMetre * 0.6;
  // Converts metres to the right of the centre and above the ground.
  auto pointAt = [&](double right, double above) {
    const double fine = 1 << kFractionBits;
    return cv::Point(static_cast<int>(std::lround(
                         (large.cols / 2.0 + right * pixelsPerMetre) * fine)),
                     static_cast<int>(std::lround(
                         (ground - above * pixelsPerMetre) * fine)));
  };
  auto thickness = [&](double metres) {
    return std::max(kSupersampling,
                    static_cast<int>(std::lround(metres * pixelsPerMetre)));
  };
  const cv::Scalar track(170, 170, 170), cart(60, 50, 45), pole(70, 130, 205),
      axle(200, 120, 110);
  cv::line(large, pointAt(-kEdge, 0), pointAt(kEdge, 0), track, kSupersampling,
           cv::LINE_AA, kFractionBits);
  for (double edge : {-kEdge, kEdge}) // the episode ends beyond the edges
    cv::line(large, pointAt(edge, -0.12), pointAt(edge, 0.12), track,
             kSupersampling, cv::LINE_AA, kFractionBits);
  const double x = std::clamp(position, -2 * kHalfTrack, 2 * kHalfTrack);
  cv::rectangle(large, pointAt(x - kCartWidth / 2, -kCartHeight / 2),
                pointAt(x + kCartWidth / 2, kCartHeight / 2), cart, cv::FILLED,
                cv::LINE_AA, kFractionBits);
  cv::line(large, pointAt(x, kCartHeight / 4),
           pointAt(x + kPoleLength * std::sin(angle),
                   kCartHeight / 4 + kPoleLength * std::cos(angle)),
           pole, thickness(0.09), cv::LINE_AA, kFractionBits);
  cv::circle(large, pointAt(x, kCartHeight / 4),
             thickness(0.05) << kFractionBits, axle, cv::FILLED, cv::LINE_AA,
             kFractionBits);
  cv::resize(large, small, small.size(), 0, 0, cv::INTER_AREA);
}

} // namespace brew::runtime::opencv

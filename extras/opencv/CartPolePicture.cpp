//===- CartPolePicture.cpp - Drawing of Cart-Pole -------------------------===//

#include "extras/opencv/Plugin.h"
#include "extras/reinforcement/CartPole.h"

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cmath>

namespace brew::runtime::opencv {
namespace {

/// In metres: half of the visible track, the pole, the cart.
constexpr double kSeen = 2.7, kPoleLength = 1, kCartWidth = 0.5,
                 kCartHeight = 0.3;
/// The picture is drawn at twice its size and then averaged. Coordinates have
/// kFraction fractional bits.
constexpr int kTimes = 2, kFraction = 4;

} // namespace

void drawCartPole(formats::Image &picture, double position, double angle) {
  constexpr double kEdge = reinforcement::CartPole::kEdge;
  cv::Mat small(picture.height, picture.width, CV_8UC3, picture.pixels.data());
  cv::Mat large(picture.height * kTimes, picture.width * kTimes, CV_8UC3,
                cv::Scalar(255, 255, 255));
  // The largest scale at which the track and the pole fit.
  const double metre =
      std::min(large.cols / (2 * kSeen), large.rows / (2.2 * kPoleLength));
  const double ground = large.rows * 0.5 + metre * 0.6;
  // Converts metres to the right of the centre and above the ground.
  auto at = [&](double right, double above) {
    const double fine = 1 << kFraction;
    return cv::Point(
        static_cast<int>(
            std::lround((large.cols / 2.0 + right * metre) * fine)),
        static_cast<int>(std::lround((ground - above * metre) * fine)));
  };
  auto thick = [&](double metres) {
    return std::max(kTimes, static_cast<int>(std::lround(metres * metre)));
  };
  const cv::Scalar track(170, 170, 170), cart(60, 50, 45), pole(70, 130, 205),
      axle(200, 120, 110);
  cv::line(large, at(-kEdge, 0), at(kEdge, 0), track, kTimes, cv::LINE_AA,
           kFraction);
  for (double edge : {-kEdge, kEdge}) // beyond which the episode ends
    cv::line(large, at(edge, -0.12), at(edge, 0.12), track, kTimes, cv::LINE_AA,
             kFraction);
  const double x = std::clamp(position, -2 * kSeen, 2 * kSeen);
  cv::rectangle(large, at(x - kCartWidth / 2, -kCartHeight / 2),
                at(x + kCartWidth / 2, kCartHeight / 2), cart, cv::FILLED,
                cv::LINE_AA, kFraction);
  cv::line(large, at(x, kCartHeight / 4),
           at(x + kPoleLength * std::sin(angle),
              kCartHeight / 4 + kPoleLength * std::cos(angle)),
           pole, thick(0.09), cv::LINE_AA, kFraction);
  cv::circle(large, at(x, kCartHeight / 4), thick(0.05) << kFraction, axle,
             cv::FILLED, cv::LINE_AA, kFraction);
  cv::resize(large, small, small.size(), 0, 0, cv::INTER_AREA);
}

} // namespace brew::runtime::opencv

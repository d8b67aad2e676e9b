//===- CallTimingKey.cpp - Timing cache keys of library calls -------------===//
#include "runtime/executor/CallTimingKey.h"

#include "support/NumberText.h"

namespace brew::runtime {

std::string layoutText(const plan::Buffer &buffer) {
  auto list = [](const auto &values) {
    std::string text;
    for (std::int64_t value : values)
      text += (text.empty() ? "" : ",") + std::to_string(value);
    return "[" + text + "]";
  };
  return plan::DataType_Name(buffer.type()) + list(buffer.dims()) + ":" +
         list(buffer.strides());
}

static std::string operandsText(const plan::Buffer &x, const plan::Buffer &w,
                                const plan::Buffer *b, const plan::Buffer &y) {
  std::string text =
      " x=" + layoutText(x) + " w=" + layoutText(w) + " y=" + layoutText(y);
  if (b)
    text += " bias=" + layoutText(*b);
  return text;
}

static std::string epilogueText(const plan::Epilogue &epilogue) {
  std::string text;
  if (epilogue.accumulate())
    text += " accumulate";
  if (epilogue.relu())
    text += " relu=" + shortestText(epilogue.negative_slope());
  return text;
}

std::string convolutionKey(const plan::ConvolutionCall &call,
                           const plan::Buffer &x, const plan::Buffer &w,
                           const plan::Buffer *b, const plan::Buffer &y) {
  const plan::Window &window = call.window();
  std::string windowText;
  for (int i = 0; i < window.kernel_size(); ++i)
    windowText += " window=" + std::to_string(window.kernel(i)) + "/" +
                  std::to_string(window.stride(i)) + "/" +
                  std::to_string(window.dilation(i)) + "/" +
                  std::to_string(window.pad(i)) + "," +
                  std::to_string(window.pad_end(i));
  return "convolution " + plan::Direction_Name(call.direction()) +
         operandsText(x, w, b, y) + windowText +
         " groups=" + std::to_string(call.group()) +
         epilogueText(call.epilogue());
}

std::string innerProductKey(const plan::InnerProductCall &call,
                            const plan::Buffer &x, const plan::Buffer &w,
                            const plan::Buffer *b, const plan::Buffer &y) {
  return "inner product " + plan::Direction_Name(call.direction()) +
         operandsText(x, w, b, y) + " axis=" + std::to_string(call.axis()) +
         (call.transpose() ? " transposed" : "") +
         epilogueText(call.epilogue());
}

} // namespace brew::runtime

//===- RandomKeys.cpp - Keys of random number layers ----------------------===//

#include "runtime/data/RandomKeys.h"

#include "support/Error.h"

#include <array>

namespace brew::runtime {

void RandomKeys::add(const plan::Manifest &manifest, const std::string &program,
                     const std::string &layer, std::uint32_t buffer,
                     std::uint64_t seed) {
  const plan::Buffer &keyBuffer = manifest.buffers(static_cast<int>(buffer));
  if (keyBuffer.type() != plan::I32 || plan::elementCount(keyBuffer) != 2)
    throw badInput("damaged plan: the key of the random numbers of layer '" +
                   layer + "' is not a pair of I32");
  keys.push_back(
      {layer, buffer,
       caffe::RandomStream(seed, "random " + program + "/" + layer)});
}

void RandomKeys::feed(Executor &executor) {
  for (const Key &key : keys) {
    const caffe::RandomBlock block = key.stream.block(count);
    const std::array<std::uint32_t, 2> words = {block[0], block[1]};
    executor.feed(key.buffer,
                  reinterpret_cast<const std::byte *>(words.data()));
  }
  ++count;
}

std::vector<std::string> RandomKeys::layers() const {
  std::vector<std::string> names;
  for (const Key &key : keys)
    names.push_back(key.layer);
  return names;
}

} // namespace brew::runtime

//===- RandomKeys.cpp - Keys of random number layers ----------------------===//

#include "runtime/session/RandomKeys.h"

#include <array>

namespace brew::runtime {

RandomKeys::RandomKeys(const plan::Program &program, std::uint64_t seed) {
  for (const plan::RandomKey &key : program.random_keys())
    keys.push_back({key.layer(), key.buffer_index(),
                    caffe::RandomStream(seed, "random " + program.name() + "/" +
                                                  key.layer())});
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

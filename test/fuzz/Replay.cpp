//===- Replay.cpp - Replay of a corpus ------------------------------------===//
//
// Calls the entry for each file of the folders on the command line, without
// libFuzzer.
//
//===----------------------------------------------------------------------===//
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size);

int main(int count, char **folders) {
  int inputs = 0;
  for (int i = 1; i < count; ++i)
    for (const auto &entry : std::filesystem::directory_iterator(folders[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
      LLVMFuzzerTestOneInput(
          reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size());
      ++inputs;
    }
  std::printf("%d inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}

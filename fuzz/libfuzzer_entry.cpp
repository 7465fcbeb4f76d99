// Implements the functions that libFuzzer calls. It first fills an empty corpus directory with the target's seeds.
#include <filesystem>
#include <fstream>
#include <string>

#include "target.hpp"

namespace {

void write_seeds(const std::filesystem::path& directory) {
  int number = 0;
  for (const perdure::fuzz::Bytes& seed : perdure::fuzz::seeds()) {
    std::ofstream file(directory / ("seed-" + std::to_string(number++)), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::filesystem::path path((*argv)[i]);
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored) && std::filesystem::is_empty(path, ignored)) write_seeds(path);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perdure::fuzz::run_one(std::as_bytes(std::span(data, size)));
  return 0;
}

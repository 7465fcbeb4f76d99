// Measures the references of a capture: the same bytes copied in memory, and written to a fresh file.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

double seconds(const std::chrono::steady_clock::time_point& begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t mib = 1024;
  std::string directory = "/dev/shm";
  CLI::App app("Plain copies");
  app.add_option("--mib", mib, "how much is copied")->check(CLI::Range(1, 1 << 20));
  app.add_option("--directory", directory, "of the file");
  CLI11_PARSE(app, argc, argv);
  const std::size_t bytes = mib << 20;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  auto begun = std::chrono::steady_clock::now();
  std::memcpy(to.data(), from.data(), bytes);
  const double memcpy_s = seconds(begun);
  const std::string path = directory + "/plain_copy_" + std::to_string(::getpid());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return 2;
  ::unlink(path.c_str());
  begun = std::chrono::steady_clock::now();
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t written = ::write(file, to.data() + done, bytes - done);
    if (written <= 0) return 2;
    done += static_cast<std::size_t>(written);
  }
  const double write_s = seconds(begun);
  ::close(file);
  std::printf("{\"memcpy_s\": %.6f, \"write_s\": %.6f, \"bytes\": %zu}\n", memcpy_s, write_s, bytes);
  return 0;
}

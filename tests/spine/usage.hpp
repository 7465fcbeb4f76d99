#pragma once
// Measures a process's use of system resources, for leak tests.
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "support/sanitized.hpp"

namespace perdure::test_support {

inline constexpr bool kMemoryIsMeasurable = !kSanitized;  ///< sanitizers keep freed memory, and shadow all memory

struct Usage {
  std::uint64_t anonymous_bytes = 0;  ///< RssAnon: the heap and stacks, not the arena
  std::uint64_t shared_bytes = 0;     ///< RssShmem
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::size_t mappings = 0;
};

inline std::size_t entries_in(const std::filesystem::path& directory) {
  std::error_code error;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) ++count;
  return count;
}

inline Usage usage_of(int pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  Usage usage;
  std::ifstream status(process + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) usage.anonymous_bytes = std::stoull(line.substr(8)) * 1024;
    if (line.starts_with("RssShmem:")) usage.shared_bytes = std::stoull(line.substr(9)) * 1024;
  }
  std::ifstream maps(process + "/maps");
  for (std::string line; std::getline(maps, line);) ++usage.mappings;
  usage.descriptors = entries_in(process + "/fd");
  usage.threads = entries_in(process + "/task");
  return usage;
}

/// Measures this process, without free memory in its heap, which depends on timing.
inline Usage usage_of_this_process() {
  ::malloc_trim(0);
  return usage_of(::getpid());
}

struct Files {
  std::size_t count = 0;
  std::uint64_t bytes = 0;  ///< allocated bytes, without holes
};

/// Returns all regular files below `directory`; none if it does not exist. Files that vanish meanwhile do not count.
inline Files files_below(const std::string& directory) {
  Files files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code gone;
    if (!it->is_regular_file(gone) || gone) continue;
    ++files.count;
    struct stat facts {};
    if (::stat(it->path().c_str(), &facts) == 0) files.bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
  }
  return files;
}

/// Samples RssAnon of a process until it is stopped, to find peaks.
class PeakMemory {
 public:
  explicit PeakMemory(int pid)
      : thread_([this, pid] {
          while (!stop_) {
            peak_ = std::max(peak_.load(), usage_of(pid).anonymous_bytes);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));  // wait: it looks at a peak now and then
          }
        }) {}
  std::uint64_t stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return peak_;
  }
  ~PeakMemory() { stop(); }
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> peak_ = 0;
  std::thread thread_;
};

}  // namespace perdure::test_support

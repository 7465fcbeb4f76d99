#pragma once
// Helpers of the tests about damage, wrong use and death: checks inside ranks, bits to flip, engines to find and kill.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "scenario.hpp"
#include "support/eventually.hpp"

/// For the function of a rank: a failed check is printed and ends the rank with status 1.
#define REQUIRE(condition)                                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                                    \
    }                                                                              \
  } while (false)
/// The same for the outcome of a call.
#define REQUIRE_STATUS(expected, handle, call)                                                                 \
  do {                                                                                                         \
    const perdure_status status_ = (call);                                                                     \
    if (status_ != (expected)) {                                                                               \
      std::fprintf(stderr, "%s:%d: %s gave %s: %s\n", __FILE__, __LINE__, #call, perdure_status_name(status_), \
                   perdure_error_text(handle));                                                                \
      return 1;                                                                                                \
    }                                                                                                          \
  } while (false)

namespace perdure::test_support {

namespace fs = std::filesystem;

inline std::vector<char> read_bytes(const fs::path& path) {
  std::vector<char> bytes;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return bytes;
  std::array<char, 1U << 16> block;  // not cleared: waits read small files of /proc again and again
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(block.data(), 1, block.size(), file);
    bytes.insert(bytes.end(), block.data(), block.data() + got);
  }
  std::fclose(file);
  return bytes;
}

inline void write_bytes(const fs::path& path, const std::vector<char>& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline void flip_bit(const fs::path& path, std::uint64_t offset) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ 4);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

/// Where slots of the tiers in options_in(directory, ...) hold something: file and offset of its first byte.
struct FoundState {
  fs::path file;
  std::uint64_t offset = 0;
};
inline std::vector<FoundState> find_bytes(const std::string& directory, const std::vector<char>& wanted) {
  std::vector<FoundState> found;
  for (const char* tier : {"/node", "/file"}) {
    if (!fs::exists(directory + tier)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(directory + tier)) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_regular_file() || (!name.starts_with("arena") && !name.starts_with("slot-"))) continue;
      const auto bytes = read_bytes(entry.path());
      const void* at = ::memmem(bytes.data(), bytes.size(), wanted.data(), wanted.size());
      if (at != nullptr)
        found.push_back({entry.path(), static_cast<std::uint64_t>(static_cast<const char*>(at) - bytes.data())});
    }
  }
  return found;
}

/// The state of `rank` at `step`.
inline std::vector<FoundState> find_state(const std::string& directory, int rank, std::uint64_t step) {
  const auto words = state_at(rank, step, 16);
  const auto* first = reinterpret_cast<const char*>(words.data());
  return find_bytes(directory, {first, first + words.size() * sizeof words[0]});
}

/// Flips a bit of that state wherever a slot holds it; how many slots that were.
inline std::size_t damage_slots(const std::string& directory, int rank, std::uint64_t step) {
  const auto found = find_state(directory, rank, step);
  for (const auto& place : found) flip_bit(place.file, place.offset + 77);
  return found.size();
}

/// The perdureds that work in `directory`, by the settings they were started with.
inline std::vector<int> engine_pids(const std::string& directory) {
  std::vector<int> pids;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // The name first: whoever reads a command line reads the process's memory, which may be in the midst of a resume.
    const auto program = read_bytes(entry.path() / "comm");
    if (!std::string_view(program.data(), program.size()).starts_with("perdured")) continue;
    const auto line = read_bytes(entry.path() / "cmdline");
    const std::string text(line.begin(), line.end());
    if (text.find(directory + "/node") != std::string::npos) pids.push_back(std::stoi(name));
  }
  return pids;
}

/// Its letter in /proc/N/stat; X: it is gone.
inline char state_of(int pid) {
  const auto stat = read_bytes("/proc/" + std::to_string(pid) + "/stat");
  const std::string text(stat.begin(), stat.end());
  const std::size_t end = text.rfind(')');
  return end == std::string::npos || end + 2 >= text.size() ? 'X' : text[end + 2];
}

/// A process that is gone, or a zombie: its locks and sockets are given back by then.
inline bool is_over(int pid) {
  const char state = state_of(pid);
  return state == 'Z' || state == 'X';
}

/// Returns when they are over.
inline void kill_engines(const std::string& directory) {
  const auto pids = engine_pids(directory);
  for (int pid : pids) ::kill(pid, SIGKILL);
  (void)eventually("the engines that were killed are over",
                   [&] { return std::all_of(pids.begin(), pids.end(), is_over); });
}

/// Memory that the test and all its ranks share.
template <class T>
class SharedMemory {
 public:
  SharedMemory()
      : data_(new (::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T{}) {}
  ~SharedMemory() { ::munmap(data_, sizeof(T)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  T& operator*() const { return *data_; }
  T* operator->() const { return data_; }

 private:
  T* data_;
};

/// A rank's protected memory as Program has it: regions 1 (step) and 2 (words).
struct State {
  int rank = 0;
  std::uint64_t step = 0;
  std::vector<std::uint64_t> words;

  State(int of_rank, std::size_t count) : rank(of_rank), words(state_at(of_rank, 0, count)) {}
  void protect(perdure_t* handle) {
    perdure_protect(handle, 1, &step, sizeof step, 1);
    perdure_protect(handle, 2, words.data(), sizeof words[0], words.size());
  }
  void advance(std::uint64_t to) {
    step = to;
    const auto next = state_at(rank, to, words.size());
    std::copy(next.begin(), next.end(), words.begin());
  }
  /// Until it is captured. Where the call leaves that to be done (capture.mode=cow), the words are written anew
  /// meanwhile.
  perdure_status capture(perdure_t* handle, std::int64_t version) {
    const perdure_status called = perdure_checkpoint(handle, "app", version);
    if (called != PERDURE_OK) return called;
    std::fill(words.begin(), words.end(), ~std::uint64_t{0});
    const perdure_status copied = perdure_wait(handle, "app", version, PERDURE_LEVEL_PROCESS, PERDURE_FOREVER);
    advance(step);
    return copied;
  }
  bool right() const { return words == state_at(rank, step, words.size()); }
};

/// Every report that the background has for this handle, one a line.
inline std::string all_reports(perdure_t* handle) {
  std::string all;
  for (char text[1024]; perdure_next_report(handle, text, sizeof text) == PERDURE_OK;) all += std::string(text) + "\n";
  return all;
}

}  // namespace perdure::test_support

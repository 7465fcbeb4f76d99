#pragma once
// Helps tests of damage, wrong use and death: checks inside ranks, flipped bits, and engines to find and kill.
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

/// In a rank's function: a failed check prints a message and ends the rank with status 1.
#define REQUIRE(condition)                                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                                    \
    }                                                                              \
  } while (false)
/// Checks the status of a call in the same way.
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
  std::array<char, 1U << 16> block;  // not zeroed, because waits read small files of /proc again and again
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

/// A slot in use on a tier of options_in(directory, ...): its file, and the offset of its first byte.
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

/// Finds the state of `rank` at `step`.
inline std::vector<FoundState> find_state(const std::string& directory, int rank, std::uint64_t step) {
  const auto words = state_at(rank, step, 16);
  const auto* first = reinterpret_cast<const char*>(words.data());
  return find_bytes(directory, {first, first + words.size() * sizeof words[0]});
}

/// Flips a bit of that state in every slot that holds it; returns the number of slots.
inline std::size_t damage_slots(const std::string& directory, int rank, std::uint64_t step) {
  const auto found = find_state(directory, rank, step);
  for (const auto& place : found) flip_bit(place.file, place.offset + 77);
  return found.size();
}

/// Returns the perdureds that work in `directory`, by the settings they were started with.
inline std::vector<int> engine_pids(const std::string& directory) {
  std::vector<int> pids;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // Checks the name first: reading a command line reads the process's memory, which may be in the middle of a resume.
    const auto program = read_bytes(entry.path() / "comm");
    if (!std::string_view(program.data(), program.size()).starts_with("perdured")) continue;
    const auto line = read_bytes(entry.path() / "cmdline");
    const std::string text(line.begin(), line.end());
    if (text.find(directory + "/node") != std::string::npos) pids.push_back(std::stoi(name));
  }
  return pids;
}

/// Returns its letter in /proc/N/stat, or X if it is gone.
inline char state_of(int pid) {
  const auto stat = read_bytes("/proc/" + std::to_string(pid) + "/stat");
  const std::string text(stat.begin(), stat.end());
  const std::size_t end = text.rfind(')');
  return end == std::string::npos || end + 2 >= text.size() ? 'X' : text[end + 2];
}

/// Whether the process is gone or a zombie: its locks and sockets are then released.
inline bool is_over(int pid) {
  const char state = state_of(pid);
  return state == 'Z' || state == 'X';
}

/// Kills them, and returns once they have ended.
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

/// A rank's protected memory as in Program: regions 1 (step) and 2 (words).
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
  /// Waits until it is captured. If the call copies in the background (capture.mode=cow), the words are overwritten
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

/// Returns all background reports of this handle, one per line.
inline std::string all_reports(perdure_t* handle) {
  std::string all;
  for (char text[1024]; perdure_next_report(handle, text, sizeof text) == PERDURE_OK;) all += std::string(text) + "\n";
  return all;
}

}  // namespace perdure::test_support

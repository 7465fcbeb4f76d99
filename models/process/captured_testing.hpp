#pragma once
// Captures programs into memory, ends them, and resumes them from there. Their output goes to a file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "process/facts.hpp"
#include "process/image_source.hpp"
#include "process/image_target.hpp"
#include "process/obstacles.hpp"
#include "process/read_image.hpp"
#include "support/eventually.hpp"
#include "support/seeds.hpp"

namespace perdure::process {

/// Runs a program as a child of this process, and kills it at the end.
class Program {
 public:
  Program(const std::vector<std::string>& command, const std::string& output) {
    std::vector<char*> arguments;
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::array<int, 2> begun{};
    EXPECT_EQ(::pipe2(begun.data(), O_CLOEXEC), 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
      const int nothing = ::open("/dev/null", O_RDWR);
      ::dup2(nothing, 0);
      ::dup2(file, 1);
      ::dup2(nothing, 2);
      ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    char byte = 0;
    ::close(begun[1]);
    EXPECT_EQ(::read(begun[0], &byte, 1), 0) << "closed when the program itself begins";
    ::close(begun[0]);
  }
  ~Program() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    (void)end();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  pid_t process() const { return process_; }
  /// Returns its exit status; a negative result is minus the signal that ended it.
  int end() {
    int status = 0;
    EXPECT_EQ(::waitpid(process_, &status, 0), process_) << "it was no child";
    ended_ = process_;
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  /// Returns its present or last number.
  pid_t last() const { return process_ > 0 ? process_ : ended_; }
  /// The resumed process has the number again.
  void lives_again() { process_ = ended_; }

 private:
  pid_t process_ = 0, ended_ = 0;
};

/// Waits until the file, such as the output of a program, contains the text.
inline void wait_for_text(const std::string& path, const std::string& text) {
  EXPECT_TRUE(test_support::eventually(path + " says: " + text, [&] {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str().find(text) != std::string::npos;
  }));
}

/// Waits for a random moment in the life of a program that takes some tens of milliseconds. On a busy machine more
/// moments were too late, and the next ones are earlier.
inline void wait_for_a_moment(std::mt19937_64& rng, std::uint64_t too_late) {
  const auto most_us = 60'000U >> std::min<std::uint64_t>(too_late / 2, 6);
  std::this_thread::sleep_for(std::chrono::microseconds(rng() % most_us));  // wait: a drawn moment
}

/// Some seeds must meet the program while it runs. Continues beyond those in `drawn` as long as none did.
inline bool goes_on(const test_support::ManySeeds& drawn, std::uint64_t seed, bool met) {
  return seed < drawn.end || (drawn.usual && !met && seed < drawn.begin + 60);
}

struct CapturedImage {
  std::vector<segment::RegionEntry> entries;
  std::vector<std::byte> bytes;
  ProcessImage image;
};

/// Looks again at the process that stands still, as the guard does.
inline base::Status still_nothing_in_the_way(pid_t process) {
  PERDURE_TRY(const auto now, read_facts_again(process));
  return refused(process, obstacles_of_facts(now));
}

/// Calls `while_it_stands` with the record before anything is copied; it may change the record.
template <typename WhileItStands>
base::Result<CapturedImage> capture_to_memory(pid_t process, WhileItStands&& while_it_stands) {
  PERDURE_TRY(auto tracee, Tracee::seize(process));
  PERDURE_CHECK(still_nothing_in_the_way(process));
  PERDURE_TRY(auto read, read_image(tracee));
  while_it_stands(read.image);
  ImageSource source(process, read.image);
  PERDURE_TRY(const auto described, source.describe());
  CapturedImage captured{described.entries, {}, read.image};
  captured.bytes.reserve(described.bytes);
  PERDURE_CHECK(source.read({0, described.bytes}, [&](base::ConstByteSpan part) {
    captured.bytes.insert(captured.bytes.end(), part.begin(), part.end());
    return base::Status();
  }));
  PERDURE_CHECK(tracee.release());
  return captured;
}

inline base::Result<CapturedImage> capture_to_memory(pid_t process) {
  return capture_to_memory(process, [](const ProcessImage&) {});
}

/// Writes in pieces of `piece` bytes, as chunks come.
inline base::Status write_to(ImageTarget& target, const CapturedImage& captured, std::uint64_t piece) {
  PERDURE_CHECK(target.accept(captured.entries));
  for (std::uint64_t at = 0; at < captured.bytes.size(); at += piece) {
    const std::uint64_t length = std::min(piece, captured.bytes.size() - at);
    PERDURE_CHECK(target.write({at, length}, base::ConstByteSpan(captured.bytes).subspan(at, length)));
  }
  return {};
}

/// Tries again if the number is taken: concurrent tests make processes, whose numbers are soon free again.
inline base::Status resume_from_memory(const CapturedImage& captured, std::uint64_t piece = 1 << 20) {
  for (int tries = 0;; ++tries) {
    ImageTarget target([](ProcessImage&, Operations&) { return base::Status(); });
    auto resumed = write_to(target, captured, piece);
    if (resumed) resumed = target.finish();
    if (resumed) return target.release();
    if (resumed.error().code != PERDURE_EXISTS || tries == 50) return resumed;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // wait: for the number, before it is tried again
  }
}

}  // namespace perdure::process

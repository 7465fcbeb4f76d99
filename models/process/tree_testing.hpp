#pragma once
// Captures trees of processes into memory, ends them, and resumes them from there.
#include <sys/prctl.h>
#include <sys/wait.h>

#include "process/captured_testing.hpp"
#include "process/held_tree.hpp"
#include "process/tree_source.hpp"
#include "process/tree_target.hpp"

namespace perdure::process {

/// Makes the test the parent of orphans, and reaps them, so that their numbers are free again.
class Adoption {
 public:
  Adoption() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Adoption() {
    wait_for_all();
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }
  Adoption(const Adoption&) = delete;
  Adoption& operator=(const Adoption&) = delete;
  /// Reaps all children of the test.
  static void wait_for_all() {
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
  }
};

struct CapturedTree {
  std::vector<segment::RegionEntry> entries;
  std::vector<std::byte> bytes;
  TreeImage tree;
};

/// Calls `meanwhile` while the whole tree stands still.
inline base::Result<CapturedTree> capture_tree_to_memory(
    pid_t root, const std::function<void()>& meanwhile = [] {}) {
  PERDURE_TRY(const auto seen, look_at_tree(root, {}));
  PERDURE_TRY(auto held, HeldTree::seize(root));
  PERDURE_TRY(const auto read, held.read({}, seen));
  TreeSource source(read.tree);
  PERDURE_TRY(const auto described, source.describe());
  CapturedTree captured{described.entries, {}, read.tree};
  captured.bytes.reserve(described.bytes);
  for (std::uint64_t at = 0; at < described.bytes; at += base::MiB)
    PERDURE_CHECK(
        source.read({at, std::min<std::uint64_t>(base::MiB, described.bytes - at)}, [&](base::ConstByteSpan part) {
          captured.bytes.insert(captured.bytes.end(), part.begin(), part.end());
          return base::Status();
        }));
  meanwhile();
  (void)held.release();
  return captured;
}

inline base::Status write_tree_to(TreeTarget& target, const CapturedTree& captured, std::uint64_t piece) {
  PERDURE_CHECK(target.accept(captured.entries));
  for (std::uint64_t at = 0; at < captured.bytes.size(); at += piece) {
    const std::uint64_t length = std::min(piece, captured.bytes.size() - at);
    PERDURE_CHECK(target.write({at, length}, base::ConstByteSpan(captured.bytes).subspan(at, length)));
  }
  return {};
}

inline base::Status anything(ProcessImage&, Operations&) { return {}; }

/// As resume_from_memory().
inline base::Status resume_tree_from_memory(const CapturedTree& captured, std::uint64_t piece = 1 << 20) {
  for (int tries = 0;; ++tries) {
    TreeTarget target(anything);
    auto resumed = write_tree_to(target, captured, piece);
    if (resumed) resumed = target.finish();
    if (resumed) return target.release();
    if (resumed.error().code != PERDURE_EXISTS || tries == 50) return resumed;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // wait: for the numbers, before it is tried again
  }
}

}  // namespace perdure::process

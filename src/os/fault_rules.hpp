#pragma once
// Faults by rule, for tests of whole programs: PERDURE_TEST_FAULTS makes chosen system calls fail, wait, or move fewer
// bytes than they were asked to.
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "os/hooks.hpp"

namespace perdure::os {

/// One rule: calls named `call` ("*": any) on paths that contain `path` fail, from the `from`-th on, `count` times (0:
/// for ever), with `error_number`; or, with `delay_ms`, all of them wait; or, with `most_bytes`, every "pwrite" and
/// "pread" moves that many bytes at most.
struct FaultRule {
  std::string call;
  std::string path;
  int error_number = 0;
  std::uint64_t from = 1;
  std::uint64_t count = 0;
  std::uint64_t delay_ms = 0;
  std::uint64_t most_bytes = 0;
};

/// The error BAD_ALLOC is memory that the caller could not get: std::bad_alloc. The calls "thread" and "thread_body"
/// have the thread's name for their path (os/thread.hpp). Rules separated by ';' or a new line, each
/// "CALL:PATH:ERRNO[:FROM[:COUNT]]", "slow:PATH:MILLISECONDS" or "short:PATH:BYTES"; '#' begins a comment.
/// "pwrite:/store/:ENOSPC:3:2" lets the 3rd and 4th pwrite below /store/ fail. Without FROM: the first and all later
/// ones; with FROM and without COUNT: from that one on. Paths hold no ':' and no ';'.
base::Result<std::vector<FaultRule>> parse_fault_rules(std::string_view text);

class FaultRules : public Hooks {
 public:
  explicit FaultRules(std::vector<FaultRule> rules);
  /// Reads the rules of `file` again whenever it changes (replace it by rename); counting starts anew then. A missing
  /// file means no rules; one with a mistake leaves those before it in force.
  static FaultRules* watching(std::string file);
  /// The first rule that applies decides; every rule counts every call it matches.
  int before(const Operation& operation) override;
  std::size_t most(const Operation& operation, std::size_t asked) override;

 private:
  struct Stamp {
    std::uint64_t inode = 0;
    std::uint64_t bytes = 0;
    std::int64_t changed_ns = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  void reload_if_changed();
  void set_rules(std::vector<FaultRule> rules);

  std::mutex mutex_;
  std::vector<FaultRule> rules_;
  std::vector<std::uint64_t> matches_;
  std::string file_;
  Stamp stamp_;
};

/// Installs, once per process, the rules of PERDURE_TEST_FAULTS: the rules themselves, or "@/path/of/a/file" with them.
/// PERDURE_INVALID_ARGUMENT when they cannot be understood; nothing is installed then.
base::Status install_faults_from_environment();

}  // namespace perdure::os

#pragma once
// Injects faults by rule, for tests of whole programs. PERDURE_TEST_FAULTS makes chosen system calls fail, wait, or
// move fewer bytes than asked.
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "os/hooks.hpp"

namespace perdure::os {

/// One rule for calls named `call` ("*": any) on paths that contain `path`. Such calls fail with `error_number`, from
/// the `from`-th on, `count` times (0: for ever). With `delay_ms` all of them wait instead. With `most_bytes` every
/// "pwrite" and "pread" moves at most so many bytes.
struct FaultRule {
  std::string call;
  std::string path;
  int error_number = 0;
  std::uint64_t from = 1;
  std::uint64_t count = 0;
  std::uint64_t delay_ms = 0;
  std::uint64_t most_bytes = 0;
};

/// Parses rules that are separated by ';' or a new line, each "CALL:PATH:ERRNO[:FROM[:COUNT]]",
/// "slow:PATH:MILLISECONDS" or "short:PATH:BYTES". '#' begins a comment. "pwrite:/store/:ENOSPC:3:2" lets the 3rd and
/// 4th pwrite below /store/ fail. Without FROM all calls fail; with FROM and without COUNT all from that one on. Paths
/// hold no ':' and no ';'. The error BAD_ALLOC stands for refused memory: std::bad_alloc. The calls "thread" and
/// "thread_body" have the thread's name for their path (os/thread.hpp).
base::Result<std::vector<FaultRule>> parse_fault_rules(std::string_view text);

class FaultRules : public Hooks {
 public:
  explicit FaultRules(std::vector<FaultRule> rules);
  /// Reads the rules of `file` again whenever it changes, and restarts counting. Replace the file by rename. A missing
  /// file means no rules; from a malformed one the rules before it stay in force.
  static FaultRules* watching(std::string file);
  /// The first applicable rule decides. Every rule counts every call that it matches.
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

/// Installs the rules of PERDURE_TEST_FAULTS once per process: the rules themselves, or "@/path/of/a/file". Fails with
/// PERDURE_INVALID_ARGUMENT if they cannot be parsed; nothing is installed then.
base::Status install_faults_from_environment();

}  // namespace perdure::os

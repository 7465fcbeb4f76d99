#pragma once
// Defines a small program to protect: ranks compute steps, checkpoint each, and can check their state.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perdure/perdure.h"
#include "ranks.hpp"

namespace perdure::test_support {

/// Returns a rank's state after `step` steps. It is a pure function of rank and step, so that any restored state can be
/// checked.
std::vector<std::uint64_t> state_at(int rank, std::uint64_t step, std::size_t words);

/// The suffix of modes whose checkpoints copy on write: "embedded_on_write", "daemon_on_write".
inline constexpr std::string_view kOnWrite = "_on_write";

/// Whether it is such a mode and the system cannot copy on write, so that the call would copy everything. The test is
/// then skipped with the reason.
bool lacks_protection(std::string_view mode);
inline constexpr const char* kNoProtection = "this system cannot protect memory against writes";

/// Returns options for a store and node directories inside `directory`, with small chunks and arena.
std::string options_in(const std::string& directory, const std::string& mode, const std::string& more = {});

/// Protects state as regions 1 (step) and 2 (words), and restores the newest version of "app" if there is one. Then it
/// runs to step `last` with a checkpoint after each. Exit code 0; 91: wrong content restored; 92: an unexpected error
/// (printed); 93: restored an unexpected version.
struct Program {
  std::string options;
  std::uint64_t last = 5;
  std::size_t words = 40000;
  std::int64_t must_restore_at_least = -1;  ///< -1: may start from nothing
  bool wait_for_store = false;              ///< at the end
  bool store_each_step = false;             ///< waits for the store after each checkpoint, too
  bool restore_at_end = false;              ///< once more, out of the tiers
  /// Each rank writes to `<acknowledged>.<rank>` the last version whose checkpoint succeeded. From then on, that
  /// version must survive any crash. Empty: no file.
  std::string acknowledged{};
  /// Repeats once a checkpoint that fails because its engine died (daemon mode: the next call starts a new engine).
  bool tolerate_lost_engine = false;
  /// For options with capture.mode=cow: overwrites the state while it is captured, and acknowledges a version after
  /// waiting for it.
  bool on_write = false;
  int run(const Rank& rank) const;

 private:
  perdure_status checkpoint(perdure_t* handle, const Rank& rank, const std::uint64_t& step,
                            std::vector<std::uint64_t>& state) const;
  perdure_status wait_until_stored(perdure_t* handle, std::uint64_t step) const;
  void note_acknowledged(int rank, std::uint64_t step) const;
};

/// Returns the newest step that any rank recorded as acknowledged under `prefix`; 0: none.
std::int64_t newest_acknowledged(const std::string& prefix, int ranks);

/// Copies `program` into `directory`, for a user without access to the build. Returns the new path.
std::string within_reach(const std::string& program, const std::string& directory);

/// Makes this process that user from now on, in a directory open to everybody. Returns false if it lacks the
/// permission.
bool become_user(unsigned user);

/// Ends the perdureds of options_in(directory, ...) in order: they finish their flushes first. Returns once none holds
/// a lock there any more.
void stop_daemons(const std::string& directory);

/// Checks that the store holds exactly `versions` of `name`, each complete and verified in every byte. There may be no
/// temporary file, hidden directory or partial version.
void expect_clean_store(const std::string& path, const std::string& name, const std::vector<std::uint64_t>& versions);

}  // namespace perdure::test_support

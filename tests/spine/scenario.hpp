#pragma once
// A small program to protect: ranks that compute steps, checkpoint each, and can tell whether their state is right.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perdure/perdure.h"
#include "ranks.hpp"

namespace perdure::test_support {

/// State of a rank after `step` steps: a pure function of rank and step, so that any restored state can be judged.
std::vector<std::uint64_t> state_at(int rank, std::uint64_t step, std::size_t words);

/// Ends the name of a mode whose checkpoints copy on write: "embedded_on_write", "daemon_on_write".
inline constexpr std::string_view kOnWrite = "_on_write";

/// Whether it is such a mode, and the system cannot do that: all would be copied in the call. A test is skipped then,
/// saying why.
bool lacks_protection(std::string_view mode);
inline constexpr const char* kNoProtection = "this system cannot protect memory against writes";

/// Options for a store and node directories inside `directory`, small chunks and arena.
std::string options_in(const std::string& directory, const std::string& mode, const std::string& more = {});

/// Protects state as regions 1 (step) and 2 (words), restores the newest version of "app" if there is one, and steps to
/// `last`, with a checkpoint after each step. Exit code 0; 91: wrong content restored; 92: an unexpected error
/// (printed); 93: restored something not expected.
struct Program {
  std::string options;
  std::uint64_t last = 5;
  std::size_t words = 40000;
  std::int64_t must_restore_at_least = -1;  ///< -1: may start from nothing
  bool wait_for_store = false;              ///< at the end
  bool store_each_step = false;             ///< waits for the store after each checkpoint, too
  bool restore_at_end = false;              ///< once more, out of the tiers
  /// Each rank writes to `<acknowledged>.<rank>` the last version whose checkpoint returned with success: from then on
  /// it must survive every process. Empty: nowhere.
  std::string acknowledged{};
  /// A checkpoint that fails because its engine died is repeated once (daemon mode: the next call starts a new engine).
  bool tolerate_lost_engine = false;
  /// For options with capture.mode=cow: the state is written anew while it is captured, and a version is acknowledged
  /// when it has been waited for.
  bool on_write = false;
  int run(const Rank& rank) const;

 private:
  perdure_status checkpoint(perdure_t* handle, const Rank& rank, const std::uint64_t& step,
                            std::vector<std::uint64_t>& state) const;
  perdure_status wait_until_stored(perdure_t* handle, std::uint64_t step) const;
  void note_acknowledged(int rank, std::uint64_t step) const;
};

/// The newest step that any of the ranks noted as acknowledged under `prefix`; 0: none.
std::int64_t newest_acknowledged(const std::string& prefix, int ranks);

/// `program` once more in `directory`, for a user who cannot reach the build. Returns its path there.
std::string within_reach(const std::string& program, const std::string& directory);

/// This process is that user from now on, and is where everybody may be. False when it may not become that.
bool become_user(unsigned user);

/// Ends the perdureds of options_in(directory, ...) in order: they finish their flushes first. Returns when none holds
/// a lock there any more.
void stop_daemons(const std::string& directory);

/// The store holds exactly `versions` of `name`, each complete and with every byte verified, and nothing else: no
/// temporary file, no hidden directory, no partial version.
void expect_clean_store(const std::string& path, const std::string& name, const std::vector<std::uint64_t>& versions);

}  // namespace perdure::test_support

#pragma once
// `perdure doctor` makes these checks. A new check is a function and a line in doctor.cpp.
#include <optional>
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "config/variables.hpp"
#include "os/cpu_facts.hpp"
#include "os/file.hpp"
#include "os/interfaces.hpp"
#include "os/write_protection.hpp"

namespace perdure::inspect {

enum class Verdict { ok, warning, problem };

struct Check {
  std::string name;
  Verdict verdict = Verdict::ok;
  std::string finding;
  std::string remedy;  ///< empty when all is well
};

const char* verdict_name(Verdict verdict);

struct DoctorOptions {
  std::uint64_t sample_bytes = 64 << 20;  ///< bytes that the speed checks write; 0: none
};

std::vector<Check> check_memory(const config::Config& config);
std::vector<Check> check_memory_tier(const config::Config& config, const DoctorOptions& options);
std::vector<Check> check_disk_tiers(const config::Config& config, const DoctorOptions& options);
std::vector<Check> check_models(const config::Config& config);
std::vector<Check> check_store(const config::Config& config, const DoctorOptions& options);
std::vector<Check> check_limits(const config::Config& config);
/// The limits of this process (ulimit), and its needs.
struct LimitFacts {
  static constexpr std::uint64_t kUnlimited = UINT64_MAX;
  std::uint64_t files = kUnlimited, most_files = kUnlimited;  ///< open ones: now, and as far as they can be raised
  std::uint64_t locked_bytes = kUnlimited;
  std::uint64_t file_bytes = kUnlimited;  ///< most bytes of one file
  std::uint64_t threads = kUnlimited;     ///< most threads of this user
  std::uint64_t threads_there = 0;        ///< threads of this user now
  std::uint64_t chunk_bytes = 0;
  bool redundancy = false;  ///< engines connect with one another
};
/// Judges given facts.
std::vector<Check> judge_limits(const LimitFacts& facts);
std::vector<Check> check_processors(const config::Config& config);
/// Judges given facts.
Check judge_processors(const std::string& option, const os::CpuFacts& facts);
/// Checks the addresses where engines listen for one another; nothing without redundancy.
std::vector<Check> check_network(const config::Config& config);
/// Judges this network.bind on a node that has these interfaces.
Check judge_interface(const std::string& bind, const std::vector<os::Interface>& there);
/// Checks whether checkpoints can go on copying after their call (capture.mode).
std::vector<Check> check_copy_on_write(const config::Config& config);
/// Judges this mode by the result of opening it.
Check judge_copy_on_write(const std::string& mode, const base::Result<os::WriteReach>& reach,
                          const std::string& huge_pages);
/// Checks for variables that begin with PERDURE_ and are no options; nothing if there is none.
std::vector<Check> check_environment();
/// Judges given facts.
std::vector<Check> judge_environment(const config::Environment& environment);
std::vector<Check> check_sockets(const config::Config& config);
std::vector<Check> check_programs(const config::Config& config);
std::vector<Check> check_node_directories(const config::Config& config);

/// Adds the judgement of a store's room to its check: engines write whole chunks, and a full store stops every flush.
/// (A full tier is only passed over.)
void judge_room(Check& check, const std::string& location, const os::Space& space, std::uint64_t chunk_bytes);

/// Does the same for the files that the store can still have: a checkpoint takes one for each node, and directories.
void judge_free_files(Check& check, const std::string& location, const os::Space& space);

/// Gives the chosen word of a kernel setting: "always [advise] never" -> "advise".
std::string bracketed(const std::string& setting);
/// Gives the first 4096 bytes of a file of the system; empty if it cannot be read.
std::string text_of(const std::string& path);

/// A directory of our own, removed with everything in it at the end.
class Scratch {
 public:
  /// Makes it in `wanted`, or in its nearest existing parent.
  static base::Result<Scratch> in(const std::string& wanted);
  Scratch(Scratch&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();
  const std::string& path() const { return path_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Gives `path` or its nearest existing parent.
std::string nearest_existing(std::string path);

/// Gives the problem with the directory of the engines' directories, if there is one: it can neither be entered nor
/// made. `tier` empty: that of node.path.
std::optional<Check> wrong_root(const config::Config& config, const std::string& name, const std::string& tier = {});

}  // namespace perdure::inspect

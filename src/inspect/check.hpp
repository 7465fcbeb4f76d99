#pragma once
// The checks behind `perdure doctor`. A new check is a function and a line in doctor.cpp.
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
  std::uint64_t sample_bytes = 64 << 20;  ///< how much the speed checks write; 0: none
};

std::vector<Check> check_memory(const config::Config& config);
std::vector<Check> check_memory_tier(const config::Config& config, const DoctorOptions& options);
std::vector<Check> check_disk_tiers(const config::Config& config, const DoctorOptions& options);
std::vector<Check> check_models(const config::Config& config);
std::vector<Check> check_store(const config::Config& config, const DoctorOptions& options);
std::vector<Check> check_limits(const config::Config& config);
/// Limits of this process (ulimit), and what it needs.
struct LimitFacts {
  static constexpr std::uint64_t kUnlimited = UINT64_MAX;
  std::uint64_t files = kUnlimited, most_files = kUnlimited;  ///< open ones: now, and as far as they can be raised
  std::uint64_t locked_bytes = kUnlimited;
  std::uint64_t file_bytes = kUnlimited;  ///< of one file
  std::uint64_t threads = kUnlimited;     ///< of this user
  std::uint64_t threads_there = 0;        ///< of this user, by now
  std::uint64_t chunk_bytes = 0;
  bool redundancy = false;  ///< engines connect with one another
};
/// The same from facts that are given.
std::vector<Check> judge_limits(const LimitFacts& facts);
std::vector<Check> check_processors(const config::Config& config);
/// The same from facts that are given.
Check judge_processors(const std::string& option, const os::CpuFacts& facts);
/// Where engines listen for one another; nothing without redundancy.
std::vector<Check> check_network(const config::Config& config);
/// The same for this network.bind on a node that has these interfaces.
Check judge_interface(const std::string& bind, const std::vector<os::Interface>& there);
/// Whether checkpoints can go on copying after their call (capture.mode).
std::vector<Check> check_copy_on_write(const config::Config& config);
/// The same for this mode, from what opening it came to.
Check judge_copy_on_write(const std::string& mode, const base::Result<os::WriteReach>& reach,
                          const std::string& huge_pages);
/// Variables that begin with PERDURE_ and are no options; nothing where there is none.
std::vector<Check> check_environment();
/// The same from facts that are given.
std::vector<Check> judge_environment(const config::Environment& environment);
std::vector<Check> check_sockets(const config::Config& config);
std::vector<Check> check_programs(const config::Config& config);
std::vector<Check> check_node_directories(const config::Config& config);

/// Adds the judgement of a store's room to its check: engines write whole chunks, and a full store stops every
/// flush (a tier that is full is only passed over).
void judge_room(Check& check, const std::string& location, const os::Space& space, std::uint64_t chunk_bytes);

/// The same of the files that it can still have: a checkpoint takes one for each node, and directories.
void judge_free_files(Check& check, const std::string& location, const os::Space& space);

/// The chosen word of a kernel setting: "always [advise] never" -> "advise".
std::string bracketed(const std::string& setting);
/// The first 4096 bytes of a file of the system; empty where it cannot be read.
std::string text_of(const std::string& path);

/// A directory of our own, removed with everything in it at the end.
class Scratch {
 public:
  /// In `wanted`, or in its nearest parent that is there.
  static base::Result<Scratch> in(const std::string& wanted);
  Scratch(Scratch&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();
  const std::string& path() const { return path_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// `path` or its nearest parent that is there.
std::string nearest_existing(std::string path);

/// The problem with a directory in which engines have theirs, if there is one: it can neither be entered nor made.
/// `tier` empty: that of node.path.
std::optional<Check> wrong_root(const config::Config& config, const std::string& name, const std::string& tier = {});

}  // namespace perdure::inspect

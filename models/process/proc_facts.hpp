#pragma once
// Parses files of /proc about a process. Pure; the texts are the kernel's.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

/// The numbers of /proc/PID/stat after the name, by their field numbers in proc(5). The state is field 3, so value(4)
/// is the parent. A missing field is 0.
class StatNumbers {
 public:
  explicit StatNumbers(std::string_view text);
  std::uint64_t value(std::size_t field) const {
    return field < 3 || field - 3 >= values_.size() ? 0 : values_[field - 3];
  }

 private:
  std::vector<std::uint64_t> values_;
};

/// Returns the addresses that /proc/PID/stat has. It does not set `brk` and `auxiliary`.
MemoryLayout layout_of(const StatNumbers& stat);

/// Returns the first number of the line "key:" in a text like /proc/PID/status; 0 if there is none.
std::uint64_t first_number(std::string_view text, std::string_view key, int base = 10);
/// Splits texts that end with zero bytes, as in cmdline.
std::vector<std::string> split_at_zeros(std::string_view text);

/// Returns VmFlags of each mapping in /proc/PID/smaps by its start address, two letters each.
std::map<std::uint64_t, std::vector<std::string>> parse_smaps_flags(std::string_view text);
/// Returns the policy of each mapping in /proc/PID/numa_maps by its start address.
std::map<std::uint64_t, std::string> parse_policies(std::string_view text);
/// For each mapping in /proc/PID/numa_maps, by start address: the node with all of its pages. Nothing: several nodes
/// have pages, or none does.
using SoleNodes = std::map<std::uint64_t, std::optional<std::uint32_t>>;
SoleNodes parse_sole_nodes(std::string_view text);

}  // namespace perdure::process

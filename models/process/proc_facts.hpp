#pragma once
// What files of /proc say of a process. Pure; the texts are the kernel's.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

/// The numbers of /proc/PID/stat behind the name, by the numbers of proc(5), where the state is 3: value(4) is the
/// parent's. What is not there is 0.
class StatNumbers {
 public:
  explicit StatNumbers(std::string_view text);
  std::uint64_t value(std::size_t field) const {
    return field < 3 || field - 3 >= values_.size() ? 0 : values_[field - 3];
  }

 private:
  std::vector<std::uint64_t> values_;
};

/// Where parts of a process are, of /proc/PID/stat; `brk` and `auxiliary` are not there.
MemoryLayout layout_of(const StatNumbers& stat);

/// The first number of the line "key:" of a text like /proc/PID/status; 0 when there is none.
std::uint64_t first_number(std::string_view text, std::string_view key, int base = 10);
/// Texts that end with zero bytes, as in cmdline.
std::vector<std::string> split_at_zeros(std::string_view text);

/// VmFlags of each mapping of /proc/PID/smaps, by its begin: two letters each.
std::map<std::uint64_t, std::vector<std::string>> parse_smaps_flags(std::string_view text);
/// Policy of each mapping of /proc/PID/numa_maps, by its begin.
std::map<std::uint64_t, std::string> parse_policies(std::string_view text);
/// Of each mapping of /proc/PID/numa_maps, by its begin: the node that has all of its pages; nothing: several have, or
/// none.
using SoleNodes = std::map<std::uint64_t, std::optional<std::uint32_t>>;
SoleNodes parse_sole_nodes(std::string_view text);

}  // namespace perdure::process

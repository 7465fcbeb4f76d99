#pragma once
// Parses the hosts of --hosts or --hostfile. Pure.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace perdure::launch {

struct Host {
  std::string name;
  std::uint64_t slots = 0;  ///< 0: unknown
  std::string line;         ///< as it stands in a hostfile
};

/// Parses "a,b,c:2"; a number behind a colon is that of slots.
base::Result<std::vector<Host>> hosts_of_list(std::string_view list);

/// Parses one host a line, optionally with "slots=N" or ":N"; the rest of the line belongs to the launcher. '#' begins
/// a comment. Errors are about `path`.
base::Result<std::vector<Host>> hosts_of_file(std::string_view text, const std::string& path);

/// Returns the host's line with another number of slots, if it has one.
std::string line_with_slots(const Host& host, std::uint64_t slots);

}  // namespace perdure::launch

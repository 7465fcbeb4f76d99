#pragma once
// The hosts that --hosts or --hostfile names. Pure.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace perdure::launch {

struct Host {
  std::string name;
  std::uint64_t slots = 0;  ///< 0: not said
  std::string line;         ///< as it stands in a hostfile
};

/// "a,b,c:2"; a number behind a colon are slots.
base::Result<std::vector<Host>> hosts_of_list(std::string_view list);

/// One host a line, with "slots=N" or ":N" if wanted; what else stands in the line is the launcher's. '#' begins a
/// comment. Errors are about `path`.
base::Result<std::vector<Host>> hosts_of_file(std::string_view text, const std::string& path);

/// The host's line with another number of slots, where it says one.
std::string line_with_slots(const Host& host, std::uint64_t slots);

}  // namespace perdure::launch

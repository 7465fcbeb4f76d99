#pragma once
// What a process may do beside what its user may: capabilities and supplementary groups.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"

namespace perdure::process {

/// Capabilities bit by bit, as the kernel numbers them.
struct Privileges {
  std::uint64_t permitted = 0, effective = 0, inheritable = 0;
  std::uint64_t bounding = 0;         ///< what it may ever get
  std::vector<std::uint32_t> groups;  ///< supplementary ones, ascending
  PERDURE_FIELDS(permitted, effective, inheritable, bounding, groups)
};

/// Of /proc/PID/status. Pure.
Privileges parse_privileges(std::string_view status);
/// What both have of capabilities.
Privileges common_capabilities(const Privileges& one, const Privileges& other);
bool same_capabilities(const Privileges& one, const Privileges& other);
/// For people: what a process that had `before` misses with `now`, or has beyond it; nothing where nothing differs.
std::vector<std::string> differences(const Privileges& before, const Privileges& now);

}  // namespace perdure::process

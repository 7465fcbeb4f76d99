#pragma once
// Reads and compares rights of a process beyond those of its user: capabilities and supplementary groups.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"

namespace perdure::process {

/// Capability sets, with the kernel's bit numbers.
struct Privileges {
  std::uint64_t permitted = 0, effective = 0, inheritable = 0;
  std::uint64_t bounding = 0;         ///< the limit of the capabilities that it can ever get
  std::vector<std::uint32_t> groups;  ///< supplementary ones, ascending
  PERDURE_FIELDS(permitted, effective, inheritable, bounding, groups)
};

/// Parses /proc/PID/status. Pure.
Privileges parse_privileges(std::string_view status);
/// Returns the capabilities that both have.
Privileges common_capabilities(const Privileges& one, const Privileges& other);
bool same_capabilities(const Privileges& one, const Privileges& other);
/// For people: says which privileges `now` lacks or has in addition to `before`; empty if they are equal.
std::vector<std::string> differences(const Privileges& before, const Privileges& now);

}  // namespace perdure::process

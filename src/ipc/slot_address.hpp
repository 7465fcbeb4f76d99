#pragma once
// Tells a client where a slot is. It has the fields of tier::SlotAddress, which ipc may not know.
#include <cstdint>
#include <string>

#include "base/fields.hpp"

namespace perdure::ipc {

struct SlotAddress {
  std::uint32_t tier = 0;
  std::uint64_t slot = 0;
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t capacity = 0;
  bool mapped = false;
  bool fresh = false;  ///< its memory was not backed yet when it was acquired
  /// the tier whose own access moves its bytes; empty: as in a file, through a mapping if it is mapped
  std::string access = {};
  PERDURE_FIELDS(tier, slot, path, offset, capacity, mapped, fresh, access)
  std::string wrong() const { return tier <= 0xffff ? "" : "field 'tier' is out of range"; }
};

}  // namespace perdure::ipc

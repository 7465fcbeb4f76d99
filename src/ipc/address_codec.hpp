#pragma once
// Slot addresses in messages. (Not in messages.hpp: ipc may not know tiers; the fields are plain.)
#include "base/cbor.hpp"

namespace perdure::ipc {

/// The fields of tier::SlotAddress.
struct WireAddress {
  std::uint32_t tier = 0;
  std::uint64_t slot = 0;
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t capacity = 0;
  bool mapped = false;
};
base::Json to_json(const WireAddress& address);
base::Result<WireAddress> address_from_json(const base::Json& json);

}  // namespace perdure::ipc

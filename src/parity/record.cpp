#include "parity/record.hpp"

#include <algorithm>

namespace perdure::parity {

std::string id_text(ConstByteSpan id) {
  const bool text =
      std::all_of(id.begin(), id.end(), [](std::byte b) { return b >= std::byte{' '} && b < std::byte{127}; });
  if (text) return "'" + std::string(reinterpret_cast<const char*>(id.data()), id.size()) + "'";
  static constexpr char kHexDigits[] = "0123456789abcdef";
  std::string digits;
  for (const std::byte byte : id.first(std::min<std::size_t>(id.size(), 64))) {
    digits += kHexDigits[std::to_integer<unsigned>(byte) >> 4U];
    digits += kHexDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  return digits;
}

base::Hash128 content_of(const Order& order) {
  base::Hasher hasher;
  const auto add = [&](std::uint64_t number) { hasher.update(std::as_bytes(std::span(&number, 1))); };
  for (const Member& member : order.members) {
    add(member.blocks.size());
    for (const Block& block : member.blocks) {
      add(block.bytes);
      add(block.hash.low);
      add(block.hash.high);
    }
  }
  hasher.update(order.note);
  return hasher.digest();
}

std::vector<StripeParity> stripes_of(const Order& order) {
  std::size_t count = 0;
  for (const Member& member : order.members) count = std::max(count, member.blocks.size());
  std::vector<StripeParity> stripes(count);
  for (unsigned position = 0; position < order.members.size(); ++position) {
    const auto& blocks = order.members[position].blocks;
    for (std::size_t s = 0; s < blocks.size(); ++s) {
      if (blocks[s].bytes == 0) continue;
      stripes[s].blocks.push_back({position, blocks[s].bytes, blocks[s].hash});
      stripes[s].parity.bytes = std::max(stripes[s].parity.bytes, blocks[s].bytes);
    }
  }
  return stripes;
}

}  // namespace perdure::parity

#include "parity/order_codec.hpp"

#include <algorithm>
#include <map>

namespace perdure::parity {
namespace {

constexpr std::size_t kMaxMemories = 1U << 16U;                    // named by one member of an order
constexpr std::uint64_t kMaxOrderBytes = std::uint64_t{1} << 59U;  // so that no sum wraps around

/// Numbers all different memories of a member, most of which have distinct keys.
class MemoryTable {
 public:
  explicit MemoryTable(const Member& member) {
    for (const Block& block : member.blocks) {
      auto& candidates = by_key_[block.memory.wire.key];
      if (find(candidates, block.memory) != nullptr) continue;
      candidates.emplace_back(&block.memory, static_cast<std::uint32_t>(all_.size()));
      all_.push_back(&block.memory);
    }
  }
  const std::vector<const network::RemoteMemory*>& all() const { return all_; }
  std::uint32_t number(const network::RemoteMemory& memory) const { return *find(by_key_.at(memory.wire.key), memory); }

 private:
  using Candidates = std::vector<std::pair<const network::RemoteMemory*, std::uint32_t>>;
  static const std::uint32_t* find(const Candidates& candidates, const network::RemoteMemory& memory) {
    for (const auto& [known, number] : candidates)
      if (*known == memory) return &number;
    return nullptr;
  }
  std::map<std::uint64_t, Candidates> by_key_;
  std::vector<const network::RemoteMemory*> all_;
};

tl::unexpected<base::Error> senseless(const std::string& what) {
  return base::fail(PERDURE_INVALID_ARGUMENT, "order", what);
}

}  // namespace

std::string PackedOrder::PackedMember::wrong() const {
  if (memories.size() > kMaxMemories) return "field 'memories' names more than 65536";
  const bool known = std::all_of(blocks.begin(), blocks.end(),
                                 [this](const PackedBlock& block) { return block.memory < memories.size(); });
  return known ? wrong_address(address) : "field 'blocks': a block is in no memory of the table";
}

std::string PackedOrder::wrong() const {
  std::size_t blocks = 0;
  for (const PackedMember& member : members) blocks += member.blocks.size();
  if (blocks > kMaxBlocks) return "field 'members' has more than " + std::to_string(kMaxBlocks) + " blocks";
  return note.size() <= kMaxNote ? wrong_id(id) : "field 'note' has more than 4 MiB";
}

PackedOrder pack(const Order& order) {
  PackedOrder packed{order.id, order.note, {}};
  for (const Member& member : order.members) {
    const MemoryTable memories(member);
    auto& to = packed.members.emplace_back();
    to.address = member.address;
    for (const network::RemoteMemory* memory : memories.all()) to.memories.push_back(*memory);
    to.blocks.reserve(member.blocks.size());
    for (const Block& block : member.blocks)
      to.blocks.push_back({memories.number(block.memory), block.offset, block.bytes, block.hash});
  }
  return packed;
}

Order unpack(PackedOrder packed) {
  Order order{std::move(packed.id), std::move(packed.note), {}};
  for (auto& member : packed.members) {
    auto& to = order.members.emplace_back(Member{std::move(member.address), {}});
    to.blocks.reserve(member.blocks.size());
    for (const auto& block : member.blocks)
      to.blocks.push_back({member.memories[block.memory], block.offset, block.bytes, block.hash});
  }
  return order;
}

base::Status check_order(const Order& order) {
  if (order.id.empty() || order.id.size() > kMaxId) return senseless("an id has 1 to 1024 bytes");
  if (order.note.size() > kMaxNote) return senseless("its note has more than 4 MiB");
  if (order.members.empty() || order.members.size() > kMaxMembers) return senseless("it has 1 to 255 members");
  std::size_t blocks = 0;
  std::uint64_t bytes = 0;
  for (const Member& member : order.members) {
    if (member.address.empty() || member.address.size() > kMaxAddress) return senseless("a member has no address");
    blocks += member.blocks.size();
    for (const Block& block : member.blocks) {
      const std::uint64_t there = block.memory.wire.bytes;
      if (block.offset > there || block.bytes > there - block.offset)
        return senseless("a block is not within the memory that it names");
      bytes += std::min(block.bytes, kMaxOrderBytes);
      if (bytes >= kMaxOrderBytes) return senseless("its blocks have more bytes than any pool");
    }
  }
  if (blocks > kMaxBlocks) return senseless("it has more than " + std::to_string(kMaxBlocks) + " blocks");
  return {};
}

}  // namespace perdure::parity

#include "parity/order_codec.hpp"

#include <algorithm>
#include <map>

namespace perdure::parity {
namespace {

constexpr std::size_t kBlockBytes = 4 + 8 + 8 + 16;
constexpr std::uint64_t kMaxOrderBytes = std::uint64_t{1} << 59U;  // so that no sum wraps around

/// The numbers of all different memories of a member, most of which have another key.
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

void put_member(ByteWriter& out, const Member& member) {
  const MemoryTable memories(member);
  out.sized(member.address);
  out.number(static_cast<std::uint32_t>(memories.all().size()));
  for (const network::RemoteMemory* memory : memories.all()) put_memory(out, *memory);
  out.number(static_cast<std::uint32_t>(member.blocks.size()));
  for (const Block& block : member.blocks) {
    out.number(memories.number(block.memory));
    out.number(block.offset);
    out.number(block.bytes);
    put_hash(out, block.hash);
  }
}

Member get_member(ByteReader& in, bool& good) {
  Member member;
  member.address = get_sized(in, kMaxAddress);
  const auto memory_count = in.number<std::uint32_t>();
  good = good && memory_count <= kMaxMemories;
  std::vector<network::RemoteMemory> memories;
  for (std::uint32_t i = 0; good && i < memory_count && in.good(); ++i) memories.push_back(get_memory(in, good));
  const auto count = in.number<std::uint32_t>();
  good = good && in.good() && count <= in.left() / kBlockBytes;  // before anything is reserved
  if (!good) return member;
  member.blocks.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Block block;
    const auto memory = in.number<std::uint32_t>();
    good = good && memory < memories.size();
    if (!good) return member;
    block.memory = memories[memory];
    block.offset = in.number<std::uint64_t>();
    block.bytes = in.number<std::uint64_t>();
    block.hash = get_hash(in);
    member.blocks.push_back(std::move(block));
  }
  return member;
}

tl::unexpected<base::Error> senseless(const std::string& what) {
  return base::fail(PERDURE_INVALID_ARGUMENT, "order", what);
}

}  // namespace

void put_order(ByteWriter& out, const Order& order) {
  out.sized(order.id);
  out.long_sized(order.note);
  out.number(static_cast<std::uint16_t>(order.members.size()));
  for (const Member& member : order.members) put_member(out, member);
}

Order get_order(ByteReader& in, bool& good) {
  Order order;
  order.id = get_sized(in, kMaxId);
  const ConstByteSpan note = in.long_sized(kMaxNote);
  order.note.assign(note.begin(), note.end());
  const auto count = in.number<std::uint16_t>();
  for (std::uint16_t i = 0; good && i < count && in.good(); ++i) order.members.push_back(get_member(in, good));
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

#include "base/field_codec.hpp"
#include "parity/frames.hpp"

namespace perdure::parity {
namespace {

template <class T>
base::Result<T> decode_answer(ConstByteSpan reply) {
  return base::decode_fields<T>(reply, "answer of a parity server");
}

}  // namespace

Bytes encode(const Standing& standing) { return base::encode_fields(standing); }
Bytes encode(const Kept& kept) { return base::encode_fields(kept); }
Bytes encode(const std::vector<Listed>& page) { return base::encode_fields(page); }
Bytes encode(const Inventory& inventory) { return base::encode_fields(inventory); }
Bytes encode(const Rebuilt& rebuilt) { return base::encode_fields(rebuilt); }
Bytes encode(const PoolMemory& memory) { return base::encode_fields(memory); }
Bytes encode_ticket(std::uint64_t ticket) { return base::encode_fields(ticket); }

base::Result<Standing> decode_standing(ConstByteSpan reply) { return decode_answer<Standing>(reply); }
base::Result<Kept> decode_kept(ConstByteSpan reply) { return decode_answer<Kept>(reply); }
base::Result<std::vector<Listed>> decode_page(ConstByteSpan reply) { return decode_answer<std::vector<Listed>>(reply); }
base::Result<Inventory> decode_inventory(ConstByteSpan reply) { return decode_answer<Inventory>(reply); }
base::Result<Rebuilt> decode_rebuilt(ConstByteSpan reply) { return decode_answer<Rebuilt>(reply); }
base::Result<PoolMemory> decode_pool_memory(ConstByteSpan reply) { return decode_answer<PoolMemory>(reply); }
base::Result<std::uint64_t> decode_ticket(ConstByteSpan reply) { return decode_answer<std::uint64_t>(reply); }

}  // namespace perdure::parity

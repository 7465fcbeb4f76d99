#include "parity/fields.hpp"
#include "parity/frames.hpp"

namespace perdure::parity {
namespace {

constexpr std::size_t kMaxErrorText = 0xffff;

void put_error(ByteWriter& out, const base::Error& error) {
  out.number(static_cast<std::uint32_t>(error.code));
  out.number(static_cast<std::uint8_t>(error.retryable));
  for (const std::string* text : {&error.object, &error.cause, &error.remedy})
    out.sized(base::as_bytes(std::string_view(*text).substr(0, kMaxErrorText)));
}

base::Error get_error(ByteReader& in, bool& good) {
  base::Error error;
  const auto code = in.number<std::uint32_t>();
  good = good && code <= PERDURE_INTERNAL;
  error.code = good ? static_cast<base::ErrorCode>(code) : PERDURE_INTERNAL;
  error.retryable = in.number<std::uint8_t>() != 0;
  error.object = in.text(kMaxErrorText);
  error.cause = in.text(kMaxErrorText);
  error.remedy = in.text(kMaxErrorText);
  return error;
}

Stage get_stage(ByteReader& in, bool& good) {
  const auto stage = in.number<std::uint8_t>();
  good = good && stage <= static_cast<std::uint8_t>(Stage::failed);
  return good ? static_cast<Stage>(stage) : Stage::unknown;
}

template <class T>
base::Result<T> whole(const ByteReader& in, bool good, T value) {
  if (!good || !in.at_end())
    return base::fail(PERDURE_CORRUPT, "answer of a parity server", "it is not what a server writes");
  return value;
}

}  // namespace

Bytes encode(const Standing& standing) {
  ByteWriter out;
  out.number(static_cast<std::uint8_t>(standing.stage));
  out.number(standing.bytes_pulled);
  out.number(standing.bytes);
  put_error(out, standing.why);
  return std::move(out.bytes());
}

base::Result<Standing> decode_standing(ConstByteSpan reply) {
  ByteReader in(reply);
  bool good = true;
  Standing standing;
  standing.stage = get_stage(in, good);
  standing.bytes_pulled = in.number<std::uint64_t>();
  standing.bytes = in.number<std::uint64_t>();
  standing.why = get_error(in, good);
  return whole(in, good, std::move(standing));
}

Bytes encode(const Kept& kept) {
  ByteWriter out;
  out.long_sized(kept.note);
  out.number(static_cast<std::uint32_t>(kept.parities.size()));
  for (const ParityBlock& parity : kept.parities) {
    out.number(parity.bytes);
    put_hash(out, parity.hash);
  }
  return std::move(out.bytes());
}

base::Result<Kept> decode_kept(ConstByteSpan reply) {
  ByteReader in(reply);
  Kept kept;
  const ConstByteSpan note = in.long_sized(kMaxNote);
  kept.note.assign(note.begin(), note.end());
  const auto count = in.number<std::uint32_t>();
  const bool good = in.good() && count <= in.left() / 24;
  for (std::uint32_t i = 0; good && i < count; ++i) {
    ParityBlock parity;
    parity.bytes = in.number<std::uint64_t>();
    parity.hash = get_hash(in);
    kept.parities.push_back(parity);
  }
  return whole(in, good, std::move(kept));
}

Bytes encode(const std::vector<Listed>& page) {
  ByteWriter out;
  for (const Listed& line : page) {
    out.sized(line.id);
    out.number(static_cast<std::uint8_t>(line.memory));
    out.number(static_cast<std::uint8_t>(line.stage));
    out.number(line.bytes);
  }
  return std::move(out.bytes());
}

base::Result<std::vector<Listed>> decode_page(ConstByteSpan reply) {
  ByteReader in(reply);
  bool good = true;
  std::vector<Listed> page;
  while (good && in.good() && in.left() > 0) {
    Listed line;
    line.id = get_sized(in, kMaxId);
    line.memory = in.number<std::uint8_t>() != 0;
    line.stage = get_stage(in, good);
    line.bytes = in.number<std::uint64_t>();
    page.push_back(std::move(line));
  }
  return whole(in, good, std::move(page));
}

Bytes encode(const Inventory& inventory) {
  ByteWriter out;
  for (const std::uint64_t number :
       {inventory.pool_bytes, inventory.free_bytes, inventory.largest_free_bytes, inventory.orders, inventory.under_way,
        inventory.memories, inventory.bytes_pulled, inventory.refused})
    out.number(number);
  return std::move(out.bytes());
}

base::Result<Inventory> decode_inventory(ConstByteSpan reply) {
  ByteReader in(reply);
  Inventory inventory;
  for (std::uint64_t* number :
       {&inventory.pool_bytes, &inventory.free_bytes, &inventory.largest_free_bytes, &inventory.orders,
        &inventory.under_way, &inventory.memories, &inventory.bytes_pulled, &inventory.refused})
    *number = in.number<std::uint64_t>();
  return whole(in, true, inventory);
}

Bytes encode(const Rebuilt& rebuilt) {
  ByteWriter out;
  out.number(static_cast<std::uint8_t>(rebuilt.stage));
  out.number(rebuilt.bytes_pulled);
  put_error(out, rebuilt.why);
  put_memory(out, rebuilt.memory);
  return std::move(out.bytes());
}

base::Result<Rebuilt> decode_rebuilt(ConstByteSpan reply) {
  ByteReader in(reply);
  bool good = true;
  Rebuilt rebuilt;
  rebuilt.stage = get_stage(in, good);
  rebuilt.bytes_pulled = in.number<std::uint64_t>();
  rebuilt.why = get_error(in, good);
  rebuilt.memory = get_memory(in, good);
  return whole(in, good, std::move(rebuilt));
}

Bytes encode(const PoolMemory& memory) {
  ByteWriter out;
  out.number(memory.bytes);
  put_memory(out, memory.memory);
  return std::move(out.bytes());
}

base::Result<PoolMemory> decode_pool_memory(ConstByteSpan reply) {
  ByteReader in(reply);
  bool good = true;
  PoolMemory memory;
  memory.bytes = in.number<std::uint64_t>();
  memory.memory = get_memory(in, good);
  return whole(in, good, std::move(memory));
}

Bytes encode_ticket(std::uint64_t ticket) {
  ByteWriter out;
  out.number(ticket);
  return std::move(out.bytes());
}

base::Result<std::uint64_t> decode_ticket(ConstByteSpan reply) {
  ByteReader in(reply);
  const auto ticket = in.number<std::uint64_t>();
  return whole(in, true, ticket);
}

}  // namespace perdure::parity

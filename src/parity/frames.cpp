#include "parity/frames.hpp"

#include <concepts>

#include "base/field_codec.hpp"
#include "parity/order_codec.hpp"

namespace perdure::parity {
namespace {

constexpr std::uint32_t kRequestMagic = 0x53525050;  // "PPRS"
constexpr std::uint8_t kProtocol = 2;

/// The encoded verb is the index in Request, which therefore only grows at its end.
template <class Fields>
Bytes frame(std::size_t verb, const Fields& fields) {
  Bytes bytes;
  base::FieldWriter out(bytes);
  out.write(kRequestMagic);
  out.write(kProtocol);
  out.write(static_cast<std::uint8_t>(verb));
  out.write(fields);
  return bytes;
}

template <std::size_t Verb>
Request read_verb(base::FieldReader& in) {
  using Asked = std::variant_alternative_t<Verb, Request>;
  if constexpr (std::same_as<Asked, Order>) {
    PackedOrder packed;
    in.read(packed);
    return in.good() ? unpack(std::move(packed)) : Order{};
  } else {
    Asked asked;
    in.read(asked);
    return asked;
  }
}

template <std::size_t... Verbs>
Request read_request(base::FieldReader& in, std::size_t verb, std::index_sequence<Verbs...>) {
  Request request;
  (void)(... || (verb == Verbs && (request = read_verb<Verbs>(in), true)));
  return request;
}

template <class T>
base::Result<T> decode_answer(ConstByteSpan reply) {
  return base::decode_fields<T>(reply, "answer of a parity server");
}

}  // namespace

Bytes encode(const Request& request) {
  return std::visit(
      [verb = request.index()]<class Asked>(const Asked& asked) {
        if constexpr (std::same_as<Asked, Order>)
          return frame(verb, pack(asked));
        else
          return frame(verb, asked);
      },
      request);
}

Bytes encode(const Order& order) { return frame(0, pack(order)); }

base::Result<Request> decode_request(ConstByteSpan frame) {
  constexpr std::size_t kVerbs = std::variant_size_v<Request>;
  base::FieldReader in(frame);
  std::uint32_t magic = 0;
  std::uint8_t protocol = 0, verb = 0;
  in.read(magic);
  in.read(protocol);
  if (in.good() && magic == kRequestMagic && protocol != kProtocol)
    return base::fail(PERDURE_UNSUPPORTED, "request", "protocol " + std::to_string(protocol) + " is not ours",
                      "use the perdure-parityd of the same version");
  in.read(verb);
  if (!in.good() || magic != kRequestMagic || verb >= kVerbs)
    return base::fail(PERDURE_CORRUPT, "request", "it is none for a parity server");
  Request request = read_request(in, verb, std::make_index_sequence<kVerbs>());
  PERDURE_CHECK(in.end("request"));
  return request;
}

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

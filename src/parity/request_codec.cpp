#include "parity/fields.hpp"
#include "parity/frames.hpp"
#include "parity/order_codec.hpp"

namespace perdure::parity {
namespace {

constexpr std::uint32_t kRequestMagic = 0x53525050;  // "PPRS"
constexpr std::uint8_t kProtocol = 1;

/// The verb on the wire is the index in Request, which therefore only grows at its end.
ByteWriter request_head(std::size_t verb) {
  ByteWriter out;
  out.number(kRequestMagic);
  out.number(kProtocol);
  out.number(static_cast<std::uint8_t>(verb));
  return out;
}

struct RequestWriter {
  ByteWriter& out;
  void operator()(const Order& order) const { put_order(out, order); }
  void operator()(const AskStanding& ask) const { out.sized(ask.id); }
  void operator()(const AskKept& ask) const { out.sized(ask.id); }
  void operator()(const Drop& drop) const { out.sized(drop.id); }
  void operator()(const OpenMemory& open) const { out.sized(open.id); }
  void operator()(const AskInventory&) const {}
  void operator()(const AskList& ask) const {
    out.sized(ask.prefix);
    out.sized(ask.after);
  }
  void operator()(const Rebuild& rebuild) const {
    out.sized(rebuild.id);
    out.number(rebuild.stripe);
    out.number(rebuild.position);
    out.number(rebuild.bytes);
    out.number(static_cast<std::uint16_t>(rebuild.survivors.size()));
    for (const Rebuild::Source& source : rebuild.survivors) {
      out.number(source.position);
      put_hash(out, source.hash);
      out.number(source.bytes);
      out.sized(source.address);
      put_memory(out, source.memory);
      out.number(source.offset);
    }
  }
  void operator()(const AskRebuilt& ask) const { out.number(ask.ticket); }
  void operator()(const EndRebuild& end) const { out.number(end.ticket); }
  void operator()(const Allocate& allocate) const {
    out.sized(allocate.id);
    out.number(allocate.bytes);
  }
  void operator()(const Put& put) const {
    out.sized(put.id);
    out.number(put.offset);
    out.raw(put.data);
  }
  void operator()(const Pull& pull) const {
    out.sized(pull.id);
    out.number(pull.offset);
    put_memory(out, pull.memory);
    out.number(pull.from);
    out.number(pull.bytes);
  }
};

Rebuild get_rebuild(ByteReader& in, bool& good) {
  Rebuild rebuild;
  rebuild.id = get_sized(in, kMaxId);
  rebuild.stripe = in.number<std::uint64_t>();
  rebuild.position = in.number<std::uint16_t>();
  rebuild.bytes = in.number<std::uint64_t>();
  const auto count = in.number<std::uint16_t>();
  for (std::uint16_t i = 0; good && i < count && in.good(); ++i) {
    Rebuild::Source source;
    source.position = in.number<std::uint16_t>();
    source.hash = get_hash(in);
    source.bytes = in.number<std::uint64_t>();
    source.address = get_sized(in, kMaxAddress);
    source.memory = get_memory(in, good);
    source.offset = in.number<std::uint64_t>();
    rebuild.survivors.push_back(std::move(source));
  }
  return rebuild;
}

Pull get_pull(ByteReader& in, bool& good) {
  Pull pull;
  pull.id = get_sized(in, kMaxId);
  pull.offset = in.number<std::uint64_t>();
  pull.memory = get_memory(in, good);
  pull.from = in.number<std::uint64_t>();
  pull.bytes = in.number<std::uint64_t>();
  return pull;
}

Request get_list(ByteReader& in) {
  AskList list;
  list.prefix = get_sized(in, kMaxId);
  list.after = get_sized(in, kMaxId);
  return list;
}

Request get_allocate(ByteReader& in) {
  Allocate allocate;
  allocate.id = get_sized(in, kMaxId);
  allocate.bytes = in.number<std::uint64_t>();
  return allocate;
}

Request get_put(ByteReader& in) {
  Put put;
  put.id = get_sized(in, kMaxId);
  put.offset = in.number<std::uint64_t>();
  put.data = in.rest();
  return put;
}

Request get_request(std::uint8_t verb, ByteReader& in, bool& good) {
  switch (verb) {
    case 0:
      return get_order(in, good);
    case 1:
      return AskStanding{get_sized(in, kMaxId)};
    case 2:
      return AskKept{get_sized(in, kMaxId)};
    case 3:
      return Drop{get_sized(in, kMaxId)};
    case 4:
      return OpenMemory{get_sized(in, kMaxId)};
    case 5:
      return AskInventory{};
    case 6:
      return get_list(in);
    case 7:
      return get_rebuild(in, good);
    case 8:
      return AskRebuilt{in.number<std::uint64_t>()};
    case 9:
      return EndRebuild{in.number<std::uint64_t>()};
    case 10:
      return get_allocate(in);
    case 11:
      return get_put(in);
    case 12:
      return get_pull(in, good);
    default:
      good = false;
      return AskInventory{};
  }
}

}  // namespace

Bytes encode(const Request& request) {
  ByteWriter out = request_head(request.index());
  std::visit(RequestWriter{out}, request);
  return std::move(out.bytes());
}

Bytes encode(const Order& order) {
  ByteWriter out = request_head(0);
  put_order(out, order);
  return std::move(out.bytes());
}

base::Result<Request> decode_request(ConstByteSpan frame) {
  ByteReader in(frame);
  bool good = in.number<std::uint32_t>() == kRequestMagic;
  const auto protocol = in.number<std::uint8_t>();
  if (good && in.good() && protocol != kProtocol)
    return base::fail(PERDURE_UNSUPPORTED, "request", "protocol " + std::to_string(protocol) + " is not ours",
                      "use the perdure-parityd of the same version");
  const auto verb = in.number<std::uint8_t>();
  if (!good || !in.good()) return base::fail(PERDURE_CORRUPT, "request", "it is none for a parity server");
  Request request = get_request(verb, in, good);
  if (!good || !in.at_end()) return base::fail(PERDURE_CORRUPT, "request", "it is not what a client writes");
  return request;
}

}  // namespace perdure::parity

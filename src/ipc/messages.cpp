#include "ipc/messages.hpp"

#include <algorithm>
#include <array>

#include "base/json.hpp"
#include "ipc/message_codec.hpp"

namespace perdure::ipc {
namespace {

using base::Json;
using base::Result;

Json hash_to_json(const base::Hash128& hash) {
  const auto bytes = hash.bytes();
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return Json::binary(std::vector<std::uint8_t>(first, first + bytes.size()));
}

Result<base::Hash128> get_hash(const Json& json, const char* key) {
  const auto it = json.find(key);
  std::array<std::byte, 16> bytes{};
  if (it == json.end() || !it->is_binary() || it->get_binary().size() != bytes.size())
    return base::fail(PERDURE_CORRUPT, kObject, std::string("field '") + key + "' is not a byte string of 16 bytes");
  std::transform(it->get_binary().begin(), it->get_binary().end(), bytes.begin(),
                 [](std::uint8_t byte) { return static_cast<std::byte>(byte); });
  return base::Hash128::from_bytes(bytes);
}

Json segments_to_json(const std::vector<PlannedSegment>& segments) {
  Json list = Json::array();
  for (const auto& s : segments) list.push_back({{"index", s.index}, {"count", s.count}, {"ranks", s.ranks}});
  return list;
}

Result<std::vector<PlannedSegment>> get_segments(const Json& json, const char* key) {
  std::vector<PlannedSegment> segments;
  PERDURE_TRY(const Json* list, base::get_array(json, key, kObject));
  for (const Json& item : *list) {
    PlannedSegment segment;
    PERDURE_TRY(segment.index, base::get_u32(item, "index", kObject));
    PERDURE_TRY(segment.count, base::get_u32(item, "count", kObject));
    PERDURE_TRY(segment.ranks, get_numbers<std::uint32_t>(item, "ranks"));
    if (segment.index >= segment.count)
      return base::fail(PERDURE_CORRUPT, kObject, "a segment's index is not below its count");
    segments.push_back(std::move(segment));
  }
  return segments;
}

struct Encoder : RedundancyEncoder {
  using RedundancyEncoder::operator();
  Json operator()(const Hello& r) const {
    return {{"op", "hello"},  {"protocol", r.protocol},     {"fingerprint", r.fingerprint},
            {"rank", r.rank}, {"first_node", r.first_node}, {"client", r.client}};
  }
  Json operator()(const Reserve& r) const { return {{"op", "reserve"}, {"chunk_bytes", r.chunk_bytes}}; }
  Json operator()(const Begin& r) const {
    return {{"op", "begin"},
            {"id", segment::to_json(r.id)},
            {"ranks", r.ranks},
            {"piece", segment::to_json(r.piece)},
            {"segments", segments_to_json(r.segments)}};
  }
  Json operator()(const Grant& r) const {
    return {{"op", "grant"},    {"id", segment::to_json(r.id)},
            {"bytes", r.bytes}, {"timeout_ns", r.timeout_ns},
            {"avoid", r.avoid}, {"why", r.why}};
  }
  Json operator()(const GiveBack& r) const {
    return {{"op", "give_back"}, {"id", segment::to_json(r.id)}, {"tier", r.tier}, {"slot", r.slot}};
  }
  Json operator()(const Written& r) const {
    return {{"op", "written"},  {"id", segment::to_json(r.id)},
            {"rank", r.rank},   {"chunk", r.chunk},
            {"tier", r.tier},   {"slot", r.slot},
            {"bytes", r.bytes}, {"hash", hash_to_json(r.hash)},
            {"reply", r.reply}};
  }
  Json operator()(const Stage& r) const {
    return {{"op", "stage"}, {"id", segment::to_json(r.id)}, {"ranks", r.ranks}, {"piece", segment::to_json(r.piece)}};
  }
  Json operator()(const Step& r) const { return {{"op", "step"}, {"ns", r.ns}}; }
  Json operator()(const Commit& r) const {
    return {{"op", "commit"},
            {"id", segment::to_json(r.id)},
            {"segments", segments_to_json(r.segments)},
            {"recovered", r.recovered}};
  }
  Json operator()(const Abort& r) const { return {{"op", "abort"}, {"id", segment::to_json(r.id)}}; }
  Json operator()(const Inventory& r) const { return {{"op", "inventory"}, {"name", r.name}, {"kept", r.kept}}; }
  Json operator()(const Locate& r) const {
    return {{"op", "locate"}, {"id", segment::to_json(r.id)}, {"rank", r.rank}};
  }
  Json operator()(const Unpin&) const { return {{"op", "unpin"}}; }
  Json operator()(const Quarantine& r) const {
    return {{"op", "quarantine"}, {"id", segment::to_json(r.id)}, {"rank", r.rank}, {"chunk", r.chunk}, {"why", r.why}};
  }
  Json operator()(const WaitStored& r) const {
    return {{"op", "wait_stored"}, {"id", segment::to_json(r.id)}, {"timeout_ns", r.timeout_ns}};
  }
  Json operator()(const Note& r) const { return {{"op", "note"}, {"text", r.text}}; }
  Json operator()(const Progress&) const { return {{"op", "progress"}}; }
  Json operator()(const Top&) const { return {{"op", "top"}}; }
  Json operator()(const Metrics&) const { return {{"op", "metrics"}}; }
  Json operator()(const Restored& r) const {
    return {{"op", "restored"}, {"slot_bytes", r.slot_bytes}, {"store_bytes", r.store_bytes}};
  }
  Json operator()(const NextReport&) const { return {{"op", "next_report"}}; }
  Json operator()(const Retire& r) const { return {{"op", "retire"}, {"name", r.name}, {"version", r.version}}; }
  Json operator()(const Drain& r) const { return {{"op", "drain"}, {"timeout_ns", r.timeout_ns}}; }
  Json operator()(const Shutdown&) const { return {{"op", "shutdown"}}; }
};

Result<Request> parse_hello(const Json& json) {
  Hello r;
  PERDURE_TRY(r.protocol, base::get_u64(json, "protocol", kObject));
  PERDURE_TRY(r.fingerprint, base::get_text(json, "fingerprint", kObject));
  PERDURE_TRY(r.rank, base::get_u32(json, "rank", kObject));
  PERDURE_TRY(r.first_node, base::get_bool(json, "first_node", kObject));
  PERDURE_TRY(r.client, base::get_bool(json, "client", kObject));
  return Request{r};
}

Result<Request> parse_reserve(const Json& json) {
  Reserve r;
  PERDURE_TRY(r.chunk_bytes, get_numbers<std::uint64_t>(json, "chunk_bytes"));
  return Request{r};
}

Result<Request> parse_grant(const Json& json) {
  Grant r;
  PERDURE_TRY(r.id, get_id(json));
  PERDURE_TRY(r.bytes, base::get_u64(json, "bytes", kObject));
  PERDURE_TRY(r.timeout_ns, base::get_u64(json, "timeout_ns", kObject));
  PERDURE_TRY(r.avoid, get_numbers<std::uint32_t>(json, "avoid"));
  PERDURE_TRY(r.why, base::get_text(json, "why", kObject));
  return Request{r};
}

Result<Request> parse_give_back(const Json& json) {
  GiveBack r;
  PERDURE_TRY(r.id, get_id(json));
  PERDURE_TRY(r.tier, base::get_u32(json, "tier", kObject));
  PERDURE_TRY(r.slot, base::get_u64(json, "slot", kObject));
  return Request{r};
}

Result<Request> parse_written(const Json& json) {
  Written r;
  PERDURE_TRY(r.id, get_id(json));
  PERDURE_TRY(r.rank, base::get_u32(json, "rank", kObject));
  PERDURE_TRY(r.chunk, base::get_u32(json, "chunk", kObject));
  PERDURE_TRY(r.tier, base::get_u32(json, "tier", kObject));
  PERDURE_TRY(r.slot, base::get_u64(json, "slot", kObject));
  PERDURE_TRY(r.bytes, base::get_u64(json, "bytes", kObject));
  PERDURE_TRY(r.hash, get_hash(json, "hash"));
  PERDURE_TRY(r.reply, base::get_bool(json, "reply", kObject));
  return Request{r};
}

/// Stage or Begin.
template <class WithPiece>
Result<WithPiece> parse_piece(const Json& json) {
  WithPiece r;
  PERDURE_TRY(r.id, get_id(json));
  PERDURE_TRY(r.ranks, base::get_u32(json, "ranks", kObject));
  if (!json.contains("piece")) return base::fail(PERDURE_CORRUPT, kObject, "field 'piece' is missing");
  PERDURE_TRY(r.piece, segment::piece_from_json(json["piece"], kObject));
  if (r.piece.rank >= r.ranks)
    return base::fail(PERDURE_CORRUPT, kObject, "the piece's rank is not below the number of ranks");
  return r;
}

Result<Request> parse_stage(const Json& json) {
  PERDURE_TRY(auto r, parse_piece<Stage>(json));
  return Request{std::move(r)};
}

Result<Request> parse_begin(const Json& json) {
  PERDURE_TRY(auto r, parse_piece<Begin>(json));
  PERDURE_TRY(r.segments, get_segments(json, "segments"));
  return Request{std::move(r)};
}

Result<Request> parse_step(const Json& json) {
  Step r;
  PERDURE_TRY(r.ns, base::get_u64(json, "ns", kObject));
  return Request{r};
}

Result<Request> parse_commit(const Json& json) {
  Commit r;
  PERDURE_TRY(r.id, get_id(json));
  PERDURE_TRY(r.segments, get_segments(json, "segments"));
  PERDURE_TRY(r.recovered, base::get_bool(json, "recovered", kObject));
  return Request{r};
}

template <class T>
Result<Request> parse_empty(const Json&) {
  return Request{T{}};
}

Result<Request> parse_inventory(const Json& json) {
  Inventory r;
  PERDURE_TRY(r.name, base::get_text(json, "name", kObject));
  PERDURE_TRY(r.kept, base::get_bool(json, "kept", kObject));
  return Request{std::move(r)};
}

Result<Request> parse_locate(const Json& json) {
  Locate r;
  PERDURE_TRY(r.id, get_id(json));
  PERDURE_TRY(r.rank, base::get_u32(json, "rank", kObject));
  return Request{r};
}

Result<Request> parse_quarantine(const Json& json) {
  Quarantine r;
  PERDURE_TRY(r.id, get_id(json));
  PERDURE_TRY(r.rank, base::get_u32(json, "rank", kObject));
  PERDURE_TRY(r.chunk, base::get_u32(json, "chunk", kObject));
  PERDURE_TRY(r.why, base::get_text(json, "why", kObject));
  return Request{r};
}

Result<Request> parse_note(const Json& json) {
  PERDURE_TRY(auto text, base::get_text(json, "text", kObject));
  return Request{Note{std::move(text)}};
}

Result<Request> parse_retire(const Json& json) {
  Retire r;
  PERDURE_TRY(r.name, base::get_text(json, "name", kObject));
  PERDURE_CHECK(segment::check_name(r.name));
  PERDURE_TRY(r.version, base::get_u64(json, "version", kObject));
  return Request{r};
}

Result<Request> parse_restored(const Json& json) {
  Restored r;
  PERDURE_TRY(r.slot_bytes, base::get_u64(json, "slot_bytes", kObject));
  PERDURE_TRY(r.store_bytes, base::get_u64(json, "store_bytes", kObject));
  return Request{r};
}

Result<Request> parse_drain(const Json& json) {
  Drain r;
  PERDURE_TRY(r.timeout_ns, base::get_u64(json, "timeout_ns", kObject));
  return Request{r};
}

constexpr std::array kParsers = {
    Parser{"hello", parse_hello},
    Parser{"reserve", parse_reserve},
    Parser{"begin", parse_begin},
    Parser{"grant", parse_grant},
    Parser{"give_back", parse_give_back},
    Parser{"written", parse_written},
    Parser{"stage", parse_stage},
    Parser{"step", parse_step},
    Parser{"commit", parse_commit},
    Parser{"abort", parse_id_only<Abort>},
    Parser{"inventory", parse_inventory},
    Parser{"locate", parse_locate},
    Parser{"unpin", parse_empty<Unpin>},
    Parser{"quarantine", parse_quarantine},
    Parser{"wait_stored", parse_wait<WaitStored>},
    Parser{"note", parse_note},
    Parser{"progress", parse_empty<Progress>},
    Parser{"top", parse_empty<Top>},
    Parser{"metrics", parse_empty<Metrics>},
    Parser{"restored", parse_restored},
    Parser{"next_report", parse_empty<NextReport>},
    Parser{"retire", parse_retire},
    Parser{"drain", parse_drain},
    Parser{"shutdown", parse_empty<Shutdown>},
};

}  // namespace

Json to_json(const Request& request) { return std::visit(Encoder{}, request); }

Result<Request> request_from_json(const Json& json) {
  PERDURE_TRY(const std::string op, base::get_text(json, "op", kObject));
  for (const std::span<const Parser> parsers : {std::span<const Parser>(kParsers), redundancy_parsers()})
    for (const Parser& parser : parsers)
      if (op == parser.op) return parser.parse(json);
  return base::fail(PERDURE_CORRUPT, kObject, "unknown operation '" + op.substr(0, 40) + "'");
}

Json to_json(const HeldSummary& s) {
  return {{"id", segment::to_json(s.id)},
          {"ranks", s.ranks},
          {"held", s.held},
          {"committed", s.committed},
          {"stored", s.stored},
          {"moved", s.moved},
          {"begun", segments_to_json(s.begun)},
          {"segments", segments_to_json(s.segments)}};
}

Result<HeldSummary> summary_from_json(const Json& json) {
  HeldSummary s;
  PERDURE_TRY(s.id, get_id(json));
  PERDURE_TRY(s.ranks, base::get_u32(json, "ranks", kObject));
  PERDURE_TRY(s.held, get_numbers<std::uint32_t>(json, "held"));
  PERDURE_TRY(s.committed, base::get_bool(json, "committed", kObject));
  PERDURE_TRY(s.stored, base::get_bool(json, "stored", kObject));
  PERDURE_TRY(s.moved, get_numbers<std::uint32_t>(json, "moved"));
  PERDURE_TRY(s.begun, get_segments(json, "begun"));
  PERDURE_TRY(s.segments, get_segments(json, "segments"));
  return s;
}

Json error_reply(const base::Error& error) {
  return {{"error",
           {{"code", static_cast<unsigned>(error.code)},
            {"object", error.object},
            {"cause", error.cause},
            {"remedy", error.remedy},
            {"retryable", error.retryable}}}};
}

Result<Json> check_reply(Json reply) {
  if (!reply.is_object()) return base::fail(PERDURE_CORRUPT, kObject, "the reply is not a map");
  auto it = reply.find("error");
  if (it == reply.end()) return reply;
  base::Error error;
  PERDURE_TRY(const std::uint64_t code, base::get_u64(*it, "code", kObject));
  error.code = code >= 1 && code <= PERDURE_INTERNAL ? static_cast<base::ErrorCode>(code) : PERDURE_INTERNAL;
  PERDURE_TRY(error.object, base::get_text(*it, "object", kObject));
  PERDURE_TRY(error.cause, base::get_text(*it, "cause", kObject));
  PERDURE_TRY(error.remedy, base::get_text(*it, "remedy", kObject));
  PERDURE_TRY(error.retryable, base::get_bool(*it, "retryable", kObject));
  return base::fail(std::move(error));
}

}  // namespace perdure::ipc

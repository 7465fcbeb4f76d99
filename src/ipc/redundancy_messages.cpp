#include "ipc/redundancy_messages.hpp"

#include <array>

#include "base/json.hpp"
#include "ipc/message_codec.hpp"

namespace perdure::ipc {
namespace {

using base::Json;
using base::Result;

constexpr std::size_t kMostAddressBytes = 4096;
constexpr std::size_t kMostNameBytes = 1024;
constexpr std::size_t kMostLoanBytes = 256 * base::MiB;

Json byte_strings(const std::vector<std::vector<std::byte>>& strings) {
  Json list = Json::array();
  for (const auto& string : strings) list.push_back(base::binary(string));
  return list;
}

/// Each of at most `most` bytes; `one` is what one of them is called where it is refused.
Result<std::vector<std::vector<std::byte>>> get_byte_strings(const Json& json, const char* key, std::size_t most,
                                                             const std::string& one) {
  PERDURE_TRY(const Json* list, base::get_array(json, key, kObject));
  std::vector<std::vector<std::byte>> strings;
  for (const Json& item : *list) {
    PERDURE_TRY(auto string, base::binary_of(item, most, std::string("field '") + key + "': " + one, kObject));
    strings.push_back(std::move(string));
  }
  return strings;
}

Result<std::vector<std::string>> get_names(const Json& json, const char* key) {
  PERDURE_TRY(const Json* list, base::get_array(json, key, kObject));
  std::vector<std::string> names;
  for (const Json& item : *list) {
    if (!item.is_string() || item.get_ref<const std::string&>().size() > kMostNameBytes)
      return base::fail(PERDURE_CORRUPT, kObject, std::string("field '") + key + "' holds something that is no name");
    names.push_back(item.get<std::string>());
  }
  return names;
}

Result<Request> parse_open_network(const Json& json) {
  OpenNetwork r;
  if (!json.contains("job_key")) return base::fail(PERDURE_CORRUPT, kObject, "field 'job_key' is missing");
  PERDURE_TRY(r.job_key, base::binary_of(json["job_key"], 64, "field 'job_key'", kObject));
  return Request{std::move(r)};
}

Result<Request> parse_join(const Json& json) {
  Join r;
  PERDURE_TRY(r.epoch, base::get_u64(json, "epoch", kObject));
  PERDURE_TRY(r.group, base::get_u32(json, "group", kObject));
  PERDURE_TRY(r.position, base::get_u32(json, "position", kObject));
  PERDURE_TRY(r.addresses, get_byte_strings(json, "addresses", kMostAddressBytes, "an address"));
  PERDURE_TRY(r.ranks, get_numbers<std::uint32_t>(json, "ranks"));
  if (r.addresses.size() > 64 || r.position >= r.addresses.size())
    return base::fail(PERDURE_CORRUPT, kObject, "field 'position' is not one of at most 64 addresses");
  PERDURE_TRY(r.nodes, get_names(json, "nodes"));
  if (!r.nodes.empty() && r.nodes.size() != r.addresses.size())
    return base::fail(PERDURE_CORRUPT, kObject, "field 'nodes' does not name as many as there are addresses");
  return Request{std::move(r)};
}

Result<Request> parse_recover(const Json& json) {
  Recover r;
  PERDURE_TRY(r.id, get_id(json));
  PERDURE_TRY(r.ranks, base::get_u32(json, "ranks", kObject));
  PERDURE_TRY(r.wanted, get_numbers<std::uint32_t>(json, "wanted"));
  PERDURE_TRY(r.loans, get_byte_strings(json, "loans", kMostLoanBytes, "a loan"));
  for (const std::uint32_t rank : r.wanted)
    if (rank >= r.ranks) return base::fail(PERDURE_CORRUPT, kObject, "field 'wanted': a rank is not below 'ranks'");
  return Request{std::move(r)};
}

Result<Request> parse_newest_protected(const Json& json) {
  PERDURE_TRY(auto name, base::get_text(json, "name", kObject));
  return Request{NewestProtected{std::move(name)}};
}

Result<Request> parse_superseded(const Json& json) {
  Superseded r;
  PERDURE_TRY(r.name, base::get_text(json, "name", kObject));
  PERDURE_TRY(r.attempt_ns, base::get_u64(json, "attempt_ns", kObject));
  return Request{std::move(r)};
}

Result<Request> parse_all_stored(const Json& json) {
  PERDURE_TRY(const std::uint32_t ranks, base::get_u32(json, "ranks", kObject));
  return Request{AllStored{ranks}};
}

constexpr std::array kRedundancyParsers = {
    Parser{"wait_protected", parse_wait<WaitProtected>},
    Parser{"open_network", parse_open_network},
    Parser{"join", parse_join},
    Parser{"lend", parse_id_only<Lend>},
    Parser{"recover", parse_recover},
    Parser{"protect", parse_id_only<Protect>},
    Parser{"newest_protected", parse_newest_protected},
    Parser{"superseded", parse_superseded},
    Parser{"all_stored", parse_all_stored},
};

}  // namespace

std::span<const Parser> redundancy_parsers() { return kRedundancyParsers; }

Json RedundancyEncoder::operator()(const WaitProtected& r) const {
  return {{"op", "wait_protected"}, {"id", segment::to_json(r.id)}, {"timeout_ns", r.timeout_ns}};
}

Json RedundancyEncoder::operator()(const OpenNetwork& r) const {
  return {{"op", "open_network"}, {"job_key", base::binary(r.job_key)}};
}

Json RedundancyEncoder::operator()(const Join& r) const {
  return {{"op", "join"},
          {"epoch", r.epoch},
          {"group", r.group},
          {"position", r.position},
          {"addresses", byte_strings(r.addresses)},
          {"ranks", r.ranks},
          {"nodes", r.nodes}};
}

Json RedundancyEncoder::operator()(const Lend& r) const { return {{"op", "lend"}, {"id", segment::to_json(r.id)}}; }

Json RedundancyEncoder::operator()(const Recover& r) const {
  return {{"op", "recover"},
          {"id", segment::to_json(r.id)},
          {"ranks", r.ranks},
          {"wanted", r.wanted},
          {"loans", byte_strings(r.loans)}};
}

Json RedundancyEncoder::operator()(const Protect& r) const {
  return {{"op", "protect"}, {"id", segment::to_json(r.id)}};
}

Json RedundancyEncoder::operator()(const NewestProtected& r) const {
  return {{"op", "newest_protected"}, {"name", r.name}};
}

Json RedundancyEncoder::operator()(const Superseded& r) const {
  return {{"op", "superseded"}, {"name", r.name}, {"attempt_ns", r.attempt_ns}};
}

Json RedundancyEncoder::operator()(const AllStored& r) const { return {{"op", "all_stored"}, {"ranks", r.ranks}}; }

Json to_json(const KeptSummary& s) {
  Json members = Json::array();
  for (const auto& position : s.members) {
    Json list = Json::array();
    for (const auto& member : position) list.push_back(Json::array({member.rank, member.chunks}));
    members.push_back(std::move(list));
  }
  return {{"id", segment::to_json(s.id)}, {"ranks", s.ranks},       {"epoch", s.epoch},       {"group", s.group},
          {"scheme", s.scheme},           {"parities", s.parities}, {"position", s.position}, {"missing", s.missing},
          {"members", std::move(members)}};
}

Result<KeptSummary> kept_from_json(const Json& json) {
  KeptSummary s;
  PERDURE_TRY(s.id, get_id(json));
  PERDURE_TRY(s.ranks, base::get_u32(json, "ranks", kObject));
  PERDURE_TRY(s.epoch, base::get_u64(json, "epoch", kObject));
  PERDURE_TRY(s.group, base::get_u32(json, "group", kObject));
  PERDURE_TRY(s.scheme, base::get_text(json, "scheme", kObject));
  PERDURE_TRY(s.parities, base::get_u32(json, "parities", kObject));
  PERDURE_TRY(s.position, base::get_u32(json, "position", kObject));
  PERDURE_TRY(s.missing, get_numbers<std::uint64_t>(json, "missing"));
  PERDURE_TRY(const Json* members, base::get_array(json, "members", kObject));
  for (const Json& position : *members) {
    if (!position.is_array()) return base::fail(PERDURE_CORRUPT, kObject, "field 'members': a position is no list");
    auto& list = s.members.emplace_back();
    for (const Json& item : position) {
      if (!item.is_array() || item.size() != 2 || !item[0].is_number_unsigned() || !item[1].is_number_unsigned() ||
          item[0].get<std::uint64_t>() > 0xffffffff)
        return base::fail(PERDURE_CORRUPT, kObject, "field 'members': an item is not [rank, chunks]");
      list.push_back({item[0].get<std::uint32_t>(), item[1].get<std::uint64_t>()});
    }
  }
  if (s.position >= s.members.size() + (s.scheme == "parity-server" ? 1 : 0))
    return base::fail(PERDURE_CORRUPT, kObject, "field 'position' is not one of 'members'");
  return s;
}

}  // namespace perdure::ipc

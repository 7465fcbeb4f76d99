#include "catalog/redundancy_set_codec.hpp"

#include <cstdio>
#include <set>

#include "base/json.hpp"
#include "redundancy/registry.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::catalog {
namespace {

using base::Json;

constexpr std::size_t kMostPositions = 64;

tl::unexpected<base::Error> refused(const std::string& object, std::string cause) {
  return base::fail(PERDURE_CORRUPT, object, std::move(cause));
}

base::Result<BlockName> block_from_json(const Json& json, const std::string& object) {
  if (!json.is_array() || json.size() != 2 || !json[0].is_number_unsigned() || !json[1].is_number_unsigned() ||
      json[1].get<std::uint64_t>() >= kMostPositions)
    return refused(object, "field 'block' is not [stripe, index]");
  return BlockName{json[0].get<std::uint64_t>(), json[1].get<std::uint32_t>()};
}

Json to_json(const BlockName& block) { return Json::array({block.stripe, block.index}); }

std::string wrong_members(const std::vector<std::vector<segment::Piece>>& members, std::uint32_t ranks) {
  if (members.empty() || members.size() > kMostPositions)
    return "field 'members' has " + std::to_string(members.size()) + " positions, outside 1 to 64";
  std::set<std::uint32_t> seen;
  for (const auto& pieces : members) {
    if (auto cause = segment::wrong_with(pieces, ranks); !cause.empty()) return cause;
    for (const auto& piece : pieces)
      if (!seen.insert(piece.rank).second)
        return "field 'members': rank " + std::to_string(piece.rank) + " is at two positions";
  }
  return {};
}

std::string wrong_group(const RedundancySet& set) {
  const std::size_t positions = redundancy::positions(set.scheme, set.members.size());
  const std::string group = " in a group of " + std::to_string(set.members.size());
  if (set.position >= positions) return "field 'position' is " + std::to_string(set.position) + group;
  if (set.parities >= positions && set.parities != 0)
    return "field 'parities' is " + std::to_string(set.parities) + group;
  return {};
}

base::Status read_kept(const Json& json, RedundancySet& redundancy_set, const std::string& object) {
  PERDURE_TRY(const Json* list, base::get_array(json, "kept", object));
  for (const Json& item : *list) {
    if (!item.is_array() || item.size() != 2) return refused(object, "field 'kept': an item is not [block, chunk]");
    PERDURE_TRY(const BlockName block, block_from_json(item[0], object));
    PERDURE_TRY(const auto chunk, segment::chunk_from_json(item[1], "field 'kept': a chunk", object));
    if (!redundancy_set.kept.emplace(block, chunk).second)
      return refused(object, "field 'kept': a block appears twice");
  }
  return {};
}

}  // namespace

std::string RedundancyId::text() const {
  char hex[20];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(epoch));
  return version.text() + " (redundancy " + hex + ")";
}

std::string BlockName::wrong() const { return index < kMostPositions ? "" : "field 'index' is no position of a group"; }

std::string RedundancySet::wrong() const {
  auto cause = wrong_members(members, ranks);
  return cause.empty() ? wrong_group(*this) : cause;
}

Json to_json(const RedundancyId& id) { return {{"version", segment::to_json(id.version)}, {"epoch", id.epoch}}; }

base::Result<RedundancyId> redundancy_id_from_json(const Json& json, const std::string& object) {
  const auto found = json.is_object() ? json.find("protection") : json.end();
  if (found == json.end() || !found->is_object()) return refused(object, "field 'protection' is missing or is no map");
  RedundancyId id;
  if (!found->contains("version")) return refused(object, "field 'version' is missing");
  PERDURE_TRY(id.version, segment::version_id_from_json((*found)["version"], object));
  PERDURE_TRY(id.epoch, base::get_u64(*found, "epoch", object));
  return id;
}

Json members_to_json(const std::vector<std::vector<segment::Piece>>& members) {
  Json list = Json::array();
  for (const auto& pieces : members) {
    Json node = Json::array();
    for (const auto& piece : pieces) node.push_back(segment::to_json(piece));
    list.push_back({{"pieces", std::move(node)}});
  }
  return list;
}

base::Result<std::vector<std::vector<segment::Piece>>> members_from_json(const Json& json, std::uint32_t ranks,
                                                                         const std::string& object) {
  PERDURE_TRY(const Json* list, base::get_array(json, "members", object));
  std::vector<std::vector<segment::Piece>> members;
  for (const Json& node : *list) {
    PERDURE_TRY(auto pieces, segment::pieces_from_json(node, ranks, object));
    members.push_back(std::move(pieces));
  }
  if (auto cause = wrong_members(members, ranks); !cause.empty()) return refused(object, std::move(cause));
  return members;
}

Json to_json(const RedundancyRecord& record) {
  const RedundancySet& p = record.redundancy_set;
  Json kept = Json::array();
  for (const auto& [block, chunk] : p.kept) kept.push_back(Json::array({to_json(block), segment::to_json(chunk)}));
  return {{"record", "protect"},    {"protection", to_json(p.id)}, {"ranks", p.ranks},
          {"group", p.group},       {"scheme", p.scheme},          {"parities", p.parities},
          {"position", p.position}, {"kept", std::move(kept)},     {"members", members_to_json(p.members)}};
}

base::Result<RedundancyRecord> redundancy_from_json(const Json& json, const std::string& object) {
  RedundancySet p;
  PERDURE_TRY(p.id, redundancy_id_from_json(json, object));
  PERDURE_TRY(p.ranks, base::get_u32(json, "ranks", object));
  PERDURE_TRY(p.group, base::get_u32(json, "group", object));
  PERDURE_TRY(p.scheme, base::get_text(json, "scheme", object));
  PERDURE_TRY(p.parities, base::get_u32(json, "parities", object));
  PERDURE_TRY(p.position, base::get_u32(json, "position", object));
  PERDURE_TRY(p.members, members_from_json(json, p.ranks, object));
  PERDURE_CHECK(read_kept(json, p, object));
  return RedundancyRecord{std::move(p)};
}

Json to_json(const ReachedRecord& record) { return {{"record", "reached"}, {"protection", to_json(record.id)}}; }

Json to_json(const DropRedundancyRecord& record) {
  return {{"record", "unprotect"}, {"protection", to_json(record.id)}};
}

Json to_json(const BadBlockRecord& record) {
  return {{"record", "bad_block"},
          {"protection", to_json(record.id)},
          {"block", to_json(record.block)},
          {"why", record.why}};
}

base::Result<SupersededRecord> superseded_from_json(const Json& json, const std::string& object) {
  SupersededRecord record;
  PERDURE_TRY(record.name, base::get_text(json, "name", object));
  PERDURE_TRY(record.attempt_ns, base::get_u64(json, "attempt_ns", object));
  PERDURE_TRY(const Json* keep, base::get_array(json, "keep", object));
  if (keep->size() > SupersededRecord::kMostKept) return refused(object, "field 'keep' has more than 64 items");
  for (const Json& item : *keep) {
    if (!item.is_number_unsigned()) return refused(object, "field 'keep': an item is not a number");
    record.keep.insert(item.get<std::uint64_t>());
  }
  return record;
}

Json to_json(const SupersededRecord& record) {
  return {{"record", "superseded"}, {"name", record.name}, {"attempt_ns", record.attempt_ns}, {"keep", record.keep}};
}

base::Result<BadBlockRecord> bad_block_from_json(const Json& json, const std::string& object) {
  BadBlockRecord record;
  PERDURE_TRY(record.id, redundancy_id_from_json(json, object));
  if (!json.contains("block")) return refused(object, "field 'block' is missing");
  PERDURE_TRY(record.block, block_from_json(json["block"], object));
  PERDURE_TRY(record.why, base::get_text(json, "why", object));
  return record;
}

}  // namespace perdure::catalog

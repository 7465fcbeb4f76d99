#include "base/json.hpp"
#include "catalog/record_encoder.hpp"
#include "catalog/redundancy_set_codec.hpp"
#include "catalog/state.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::catalog {
namespace {

using base::Json;

Json segments_to_json(const std::vector<LocalSegment>& segments) {
  Json list = Json::array();
  for (const auto& segment : segments)
    list.push_back(
        {{"index", segment.index}, {"count", segment.count}, {"ranks", segment.ranks}, {"stored", segment.stored}});
  return list;
}

base::Result<segment::VersionId> get_id(const Json& json, const std::string& object) {
  if (!json.contains("id")) return base::fail(PERDURE_CORRUPT, object, "field 'id' is missing");
  return segment::version_id_from_json(json["id"], object);
}

base::Result<LocalSegment> segment_from_json(const Json& json, const std::string& object) {
  LocalSegment segment;
  PERDURE_TRY(segment.index, base::get_u32(json, "index", object));
  PERDURE_TRY(segment.count, base::get_u32(json, "count", object));
  PERDURE_TRY(segment.stored, base::get_bool(json, "stored", object));
  PERDURE_TRY(const Json* ranks, base::get_array(json, "ranks", object));
  for (const Json& rank : *ranks) {
    if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() > 0xffffffffULL)
      return base::fail(PERDURE_CORRUPT, object, "a rank of a segment is not a number");
    segment.ranks.push_back(rank.get<std::uint32_t>());
  }
  return segment;
}

base::Result<Record> tier_from_json(const Json& json, const std::string& object) {
  TierRecord record;
  PERDURE_TRY(record.tier, base::get_u32(json, "tier", object));
  PERDURE_TRY(record.name, base::get_text(json, "name", object));
  PERDURE_TRY(record.incarnation, base::get_u64(json, "incarnation", object));
  const auto place = json.find("place");  // in logs since tiers keep their numbers
  if (place == json.end()) return Record{record};
  if (!place->is_object()) return base::fail(PERDURE_CORRUPT, object, "field 'place' is not a map");
  PERDURE_TRY(record.place.directory, base::get_text(*place, "directory", object));
  PERDURE_TRY(record.place.device, base::get_u64(*place, "device", object));
  PERDURE_TRY(record.place.inode, base::get_u64(*place, "inode", object));
  PERDURE_TRY(record.place.boot, base::get_u64(*place, "boot", object));
  return Record{record};
}

constexpr std::size_t kNodeBytes = 8;

base::Status read_nodes(const Json& json, std::vector<std::uint64_t>& nodes, const std::string& object) {
  const auto found = json.find("nodes");
  if (found == json.end()) return {};
  if (!found->is_binary() || found->get_binary().size() % kNodeBytes != 0)
    return base::fail(PERDURE_CORRUPT, object, "field 'nodes' is not a byte string of 8 bytes for each node");
  const auto& bytes = found->get_binary();
  for (std::size_t at = 0; at < bytes.size(); at += kNodeBytes) {
    std::uint64_t node = 0;
    for (std::size_t i = kNodeBytes; i > 0; --i) node = node << 8 | bytes[at + i - 1];
    nodes.push_back(node);
  }
  return {};
}

base::Result<Record> stage_from_json(const Json& json, const std::string& object) {
  StageRecord record;
  PERDURE_TRY(record.id, get_id(json, object));
  PERDURE_TRY(record.ranks, base::get_u32(json, "ranks", object));
  if (!json.contains("piece")) return base::fail(PERDURE_CORRUPT, object, "field 'piece' is missing");
  PERDURE_TRY(record.piece, segment::piece_from_json(json["piece"], object));
  PERDURE_CHECK(read_nodes(json, record.nodes, object));
  return Record{record};
}

/// Decodes a CommitRecord or BegunRecord.
template <class WithSegments>
base::Result<Record> segments_from_json(const Json& json, const std::string& object) {
  WithSegments record;
  PERDURE_TRY(record.id, get_id(json, object));
  PERDURE_TRY(const Json* segments, base::get_array(json, "segments", object));
  for (const Json& item : *segments) {
    PERDURE_TRY(auto segment, segment_from_json(item, object));
    record.segments.push_back(std::move(segment));
  }
  return Record{record};
}

base::Result<Record> spilled_from_json(const Json& json, const std::string& object) {
  SpilledRecord record;
  PERDURE_TRY(record.id, get_id(json, object));
  PERDURE_TRY(record.rank, base::get_u32(json, "rank", object));
  PERDURE_TRY(const Json* chunks, base::get_array(json, "chunks", object));
  for (const Json& item : *chunks) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_number_unsigned() || !item[1].is_number_unsigned() ||
        item[0].get<std::uint64_t>() > 0xffffffffULL)
      return base::fail(PERDURE_CORRUPT, object, "a moved chunk is not [chunk, offset]");
    record.chunks.push_back({item[0].get<std::uint32_t>(), item[1].get<std::uint64_t>()});
  }
  return Record{record};
}

base::Result<Record> quarantine_from_json(const Json& json, const std::string& object) {
  QuarantineRecord record;
  PERDURE_TRY(record.id, get_id(json, object));
  PERDURE_TRY(record.rank, base::get_u32(json, "rank", object));
  PERDURE_TRY(record.chunk, base::get_u32(json, "chunk", object));
  PERDURE_TRY(record.why, base::get_text(json, "why", object));
  return Record{record};
}

base::Result<Record> incarnation_from_json(const Json& json, const std::string& object) {
  IncarnationRecord record;
  PERDURE_TRY(record.name, base::get_text(json, "name", object));
  PERDURE_TRY(record.incarnation, base::get_u64(json, "incarnation", object));
  return Record{record};
}

struct Encoder {
  Json operator()(const TierRecord& r) const {
    Json json = {{"record", "tier"}, {"tier", r.tier}, {"name", r.name}, {"incarnation", r.incarnation}};
    if (r.place != TierPlace())
      json["place"] = {{"directory", r.place.directory},
                       {"device", r.place.device},
                       {"inode", r.place.inode},
                       {"boot", r.place.boot}};
    return json;
  }
  Json operator()(const StageRecord& r) const {
    Json json = {
        {"record", "stage"}, {"id", segment::to_json(r.id)}, {"ranks", r.ranks}, {"piece", segment::to_json(r.piece)}};
    if (!r.nodes.empty()) json["nodes"] = base::binary(bytes_of_nodes(r.nodes));
    return json;
  }
  Json operator()(const CommitRecord& r) const {
    return {{"record", "commit"}, {"id", segment::to_json(r.id)}, {"segments", segments_to_json(r.segments)}};
  }
  Json operator()(const BegunRecord& r) const {
    return {{"record", "begun"}, {"id", segment::to_json(r.id)}, {"segments", segments_to_json(r.segments)}};
  }
  Json operator()(const SpilledRecord& r) const {
    Json chunks = Json::array();
    for (const auto& chunk : r.chunks) chunks.push_back(Json::array({chunk.chunk, chunk.offset}));
    return {{"record", "moved"}, {"id", segment::to_json(r.id)}, {"rank", r.rank}, {"chunks", std::move(chunks)}};
  }
  Json operator()(const StoredRecord& r) const {
    return {{"record", "stored"}, {"id", segment::to_json(r.id)}, {"segment", r.segment}};
  }
  Json operator()(const GoneRecord& r) const {
    return {{"record", "gone"}, {"id", segment::to_json(r.id)}, {"segment", r.segment}};
  }
  Json operator()(const IncarnationRecord& r) const {
    return {{"record", "incarnation"}, {"name", r.name}, {"incarnation", r.incarnation}};
  }
  template <class OfRedundancy>
  Json operator()(const OfRedundancy& r) const {
    return to_json(r);
  }
  Json operator()(const DropRecord& r) const { return {{"record", "drop"}, {"id", segment::to_json(r.id)}}; }
  Json operator()(const QuarantineRecord& r) const {
    return {
        {"record", "quarantine"}, {"id", segment::to_json(r.id)}, {"rank", r.rank}, {"chunk", r.chunk}, {"why", r.why}};
  }
};

/// Decodes a StoredRecord or GoneRecord.
template <class WithSegment>
base::Result<Record> segment_record_from_json(const Json& json, const std::string& object) {
  WithSegment record;
  PERDURE_TRY(record.id, get_id(json, object));
  PERDURE_TRY(record.segment, base::get_u32(json, "segment", object));
  return Record{record};
}

/// Decodes a ReachedRecord or DropRedundancyRecord.
template <class WithId>
base::Result<Record> redundancy_record_from_json(const Json& json, const std::string& object) {
  PERDURE_TRY(auto id, redundancy_id_from_json(json, object));
  return Record{WithId{std::move(id)}};
}

std::string wrong_name(const std::string& name) {
  return segment::check_name(name) ? "" : "field 'name' is no name of a checkpoint";
}

std::string wrong_segments(const std::vector<LocalSegment>& segments) {
  for (const auto& segment : segments)
    if (segment.index >= segment.count) return "a segment's index is not below its count";
  return {};
}

struct Rules {
  std::string operator()(const TierRecord&) const { return {}; }
  std::string operator()(const StageRecord& r) const {
    auto cause = r.id.wrong();
    if (cause.empty() && r.piece.rank >= r.ranks) cause = "the piece's rank is not below the number of ranks";
    return cause.empty() ? r.piece.wrong() : cause;
  }
  std::string operator()(const CommitRecord& r) const { return with_segments(r); }
  std::string operator()(const BegunRecord& r) const { return with_segments(r); }
  std::string operator()(const IncarnationRecord& r) const { return wrong_name(r.name); }
  std::string operator()(const RedundancyRecord& r) const {
    auto cause = r.redundancy_set.id.version.wrong();
    if (cause.empty()) cause = r.redundancy_set.wrong();
    for (const auto& pieces : r.redundancy_set.members)
      for (const auto& piece : pieces)
        if (cause.empty()) cause = piece.wrong();
    for (const auto& [block, chunk] : r.redundancy_set.kept)
      if (cause.empty()) cause = block.wrong();
    return cause;
  }
  std::string operator()(const BadBlockRecord& r) const {
    auto cause = r.id.version.wrong();
    return cause.empty() ? r.block.wrong() : cause;
  }
  std::string operator()(const ReachedRecord& r) const { return r.id.version.wrong(); }
  std::string operator()(const DropRedundancyRecord& r) const { return r.id.version.wrong(); }
  std::string operator()(const SupersededRecord& r) const {
    if (r.keep.size() > SupersededRecord::kMostKept) return "field 'keep' has more than 64 items";
    return wrong_name(r.name);
  }
  template <class OfVersion>
  std::string operator()(const OfVersion& r) const {
    return r.id.wrong();
  }

  template <class WithSegments>
  static std::string with_segments(const WithSegments& r) {
    auto cause = r.id.wrong();
    return cause.empty() ? wrong_segments(r.segments) : cause;
  }
};

base::Result<Record> fields_from_json(const Json& json, const std::string& object) {
  PERDURE_TRY(const std::string kind, base::get_text(json, "record", object));
  if (kind == "tier") return tier_from_json(json, object);
  if (kind == "stage") return stage_from_json(json, object);
  if (kind == "commit") return segments_from_json<CommitRecord>(json, object);
  if (kind == "begun") return segments_from_json<BegunRecord>(json, object);
  if (kind == "moved") return spilled_from_json(json, object);
  if (kind == "quarantine") return quarantine_from_json(json, object);
  if (kind == "protect") return redundancy_from_json(json, object);
  if (kind == "reached") return redundancy_record_from_json<ReachedRecord>(json, object);
  if (kind == "bad_block") return bad_block_from_json(json, object);
  if (kind == "superseded") return superseded_from_json(json, object);
  if (kind == "unprotect") return redundancy_record_from_json<DropRedundancyRecord>(json, object);
  if (kind == "drop") {
    PERDURE_TRY(auto id, get_id(json, object));
    return Record{DropRecord{std::move(id)}};
  }
  if (kind == "incarnation") return incarnation_from_json(json, object);
  if (kind == "stored") return segment_record_from_json<StoredRecord>(json, object);
  if (kind == "gone") return segment_record_from_json<GoneRecord>(json, object);
  return base::fail(PERDURE_CORRUPT, object, "unknown kind of record '" + kind + "'");
}

}  // namespace

Json to_json(const Record& record) { return std::visit(Encoder{}, record); }

std::string wrong(const Record& record) { return std::visit(Rules{}, record); }

base::Result<Record> record_from_json(const Json& json, const std::string& object) {
  PERDURE_TRY(auto record, fields_from_json(json, object));
  if (auto cause = wrong(record); !cause.empty()) return base::fail(PERDURE_CORRUPT, object, std::move(cause));
  return record;
}

}  // namespace perdure::catalog

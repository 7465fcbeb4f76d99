#include "catalog/record_encoder.hpp"

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "segment/manifest_encoder.hpp"

namespace perdure::catalog {
namespace {

using base::CborWriter;

constexpr std::size_t kOfMost = 512;  // a record of one piece with one chunk

void put_id(CborWriter& out, const segment::VersionId& id) {
  out.text("id");
  out.map(3);
  out.text("attempt");
  out.array(2);
  out.unsigned_number(id.attempt.created_ns);
  out.unsigned_number(id.attempt.nonce);
  out.text("name");
  out.text(id.name);
  out.text("version");
  out.unsigned_number(id.version);
}

void put_kind(CborWriter& out, std::string_view kind) {
  out.text("record");
  out.text(kind);
}

void put_segments(CborWriter& out, const std::vector<LocalSegment>& segments) {
  out.text("segments");
  out.array(segments.size());
  for (const LocalSegment& segment : segments) {
    out.map(4);
    out.text("count");
    out.unsigned_number(segment.count);
    out.text("index");
    out.unsigned_number(segment.index);
    out.text("ranks");
    out.array(segment.ranks.size());
    for (const std::uint32_t rank : segment.ranks) out.unsigned_number(rank);
    out.text("stored");
    out.boolean(segment.stored);
  }
}

/// Encodes the records of every checkpoint. Returns false for others, which have a tree only.
struct Put {
  CborWriter& out;

  bool operator()(const StageRecord& r) const {
    out.map(r.nodes.empty() ? 4 : 5);
    put_id(out, r.id);
    if (!r.nodes.empty()) {
      out.text("nodes");
      out.bytes(bytes_of_nodes(r.nodes));
    }
    out.text("piece");
    segment::put_piece(out, r.piece);
    out.text("ranks");
    out.unsigned_number(r.ranks);
    put_kind(out, "stage");
    return true;
  }
  bool operator()(const CommitRecord& r) const { return with_segments(r, "commit"); }
  bool operator()(const BegunRecord& r) const { return with_segments(r, "begun"); }
  bool operator()(const StoredRecord& r) const {
    out.map(3);
    put_id(out, r.id);
    put_kind(out, "stored");
    out.text("segment");
    out.unsigned_number(r.segment);
    return true;
  }
  bool operator()(const DropRecord& r) const {
    out.map(2);
    put_id(out, r.id);
    put_kind(out, "drop");
    return true;
  }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }

  template <class WithSegments>
  bool with_segments(const WithSegments& r, std::string_view kind) const {
    out.map(3);
    put_id(out, r.id);
    put_kind(out, kind);
    put_segments(out, r.segments);
    return true;
  }
};

}  // namespace

std::vector<std::byte> bytes_of_nodes(const std::vector<std::uint64_t>& nodes) {
  std::vector<std::byte> bytes;
  bytes.reserve(nodes.size() * sizeof(std::uint64_t));
  for (const std::uint64_t node : nodes)
    for (std::size_t i = 0; i < sizeof node; ++i) bytes.push_back(static_cast<std::byte>(node >> (8 * i)));
  return bytes;
}

std::vector<std::byte> encode_payload(const Record& record) {
  std::vector<std::byte> payload;
  payload.reserve(kOfMost);
  CborWriter out(&payload);
  return std::visit(Put{out}, record) ? payload : base::encode_cbor(to_json(record));
}

}  // namespace perdure::catalog

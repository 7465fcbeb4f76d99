#include "client/array_restore.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "array/box_code.hpp"
#include "base/field_codec.hpp"

namespace perdure::client {
namespace {

// Shorter runs are copied out of a buffer: each would cost a call.
constexpr std::uint64_t kShortRun = 1024;

/// What a rank of this launch wants of an array.
struct ToldWanted {
  std::int32_t id = 0;
  std::vector<std::byte> boxes;
  PERDURE_FIELDS(id, boxes)
};
/// Never without bytes.
struct ToldWants {
  std::uint32_t node = 0;
  std::vector<ToldWanted> arrays;
  PERDURE_FIELDS(node, arrays)
};

/// An array's part in the capture of a rank that wrote.
struct ToldPart {
  std::uint64_t at = 0;  ///< byte of the capture
  segment::RegionEntry entry;
  PERDURE_FIELDS(at, entry)
};

}  // namespace

struct ArrayRestore::ToldPiece {
  std::uint32_t rank = 0;
  std::uint64_t chunk_bytes = 0, bytes = 0;
  std::vector<ToldPart> parts;
  std::string local = {};  ///< the first that is no array
  PERDURE_FIELDS(rank, chunk_bytes, bytes, parts, local)
  static ToldPiece of(std::uint32_t rank, std::uint64_t chunk_bytes, const std::vector<segment::RegionEntry>& entries) {
    ToldPiece piece{rank, chunk_bytes, 0, {}};
    for (const auto& entry : entries) {
      if (entry.kind == segment::EntryKind::array)
        piece.parts.push_back({piece.bytes, entry});
      else if (piece.local.empty())
        piece.local = segment::region_text(entry);
      piece.bytes += entry.bytes();
    }
    return piece;
  }
};

ArrayRestore::ArrayRestore(Job& job, VersionReader& reader, const capture::RegionTable& regions, capture::Wanted wanted)
    : job_(job), reader_(reader), regions_(regions), matching_{std::move(wanted)} {
  for (const auto& [id, region] : regions.regions())
    if (region.part && !region.name().empty()) matching_.names.emplace(region.name());
}

// Of what is only in the redundancy of other nodes.
base::Result<std::vector<ArrayRestore::ToldPiece>> ArrayRestore::describe_lost(
    const std::vector<std::uint32_t>& ranks) {
  std::vector<ToldPiece> told;
  ipc::DescribePieces question{reader_.id(), reader_.ranks(), ranks, reader_.where().nodes_to_ask(ranks)};
  while (!question.wanted.empty()) {
    PERDURE_TRY(const auto reply, job_.engine().channel().call(question));
    for (const auto& piece : reply.pieces) told.push_back(ToldPiece::of(piece.rank, piece.chunk_bytes, piece.regions));
    if (reply.all || reply.pieces.empty()) break;
    std::erase_if(question.wanted, [&](std::uint32_t rank) { return rank <= reply.pieces.back().rank; });
  }
  if (told.size() != ranks.size())
    return base::fail(PERDURE_INCOMPLETE, reader_.id().text(),
                      "of " + std::to_string(ranks.size() - told.size()) + " ranks no node says what they have");
  return told;
}

// [local] Leaders say what the pieces that their node knows of have of arrays.
base::Status ArrayRestore::tell_pieces(std::vector<std::byte>& told) {
  std::vector<ToldPiece> pieces;
  std::vector<std::uint32_t> lost;
  for (std::uint32_t rank = 0; rank < reader_.ranks(); ++rank) {
    if (reader_.where().node_that_knows(rank) != job_.nodes().mine) continue;
    if (reader_.where().source_of(rank) == Whereabouts::Source::nodes) {
      lost.push_back(rank);
      continue;
    }
    PERDURE_TRY(const auto* piece, reader_.locate(rank));
    pieces.push_back(ToldPiece::of(rank, piece->chunk_bytes, piece->regions));
  }
  PERDURE_TRY(auto described, describe_lost(lost));
  std::move(described.begin(), described.end(), std::back_inserter(pieces));
  told = base::encode_fields(pieces);
  return {};
}

base::Status ArrayRestore::hear_pieces(base::ConstByteSpan bytes) {
  PERDURE_TRY(const auto pieces, base::decode_fields<std::vector<ToldPiece>>(bytes, "arrays"));
  for (const auto& piece : pieces) {
    if (piece.rank >= captures_.size() || piece.chunk_bytes == 0)
      return base::fail(PERDURE_CORRUPT, reader_.id().text(), "there is a piece of none of its ranks");
    captures_[piece.rank] = {piece.bytes, piece.chunk_bytes};
    if (local_.empty()) local_ = piece.local;
    for (const auto& [at, entry] : piece.parts) {
      PERDURE_TRY(auto array, segment::array_of(entry, reader_.id().text() + ", rank " + std::to_string(piece.rank)));
      auto known = std::lower_bound(arrays_.begin(), arrays_.end(), entry.id,
                                    [](const Array& a, std::int32_t id) { return a.id < id; });
      const auto boxes = std::exchange(array.boxes, {});
      if (known == arrays_.end() || known->id != entry.id)
        known = arrays_.insert(known, {entry.id, array, {}, capture::kNoRegion});
      if (known->entry.type != array.type || known->entry.whole != array.whole || known->entry.kind != array.kind)
        return base::fail(PERDURE_CORRUPT, reader_.id().text(),
                          segment::region_text(entry) + " of rank " + std::to_string(piece.rank) +
                              " is of another array than that of other ranks");
      if (!may_be_wanted(entry)) continue;  // by no other rank either: all declare the same arrays
      std::uint64_t begin = at;
      for (const auto& box : boxes) {
        known->stored.push_back({piece.rank, box, begin});
        begin += box.elements() * entry.element_bytes;
      }
    }
  }
  return {};
}

// Or not: that is known when all have told.
bool ArrayRestore::may_be_wanted(const segment::RegionEntry& entry) const {
  if (regions_.find(entry.id) != nullptr) return true;
  const std::string name(segment::name_of(entry));
  return matching_.names.contains(name) ||
         regions_.changes().renamed().contains(name.empty() ? std::to_string(entry.id) : name);
}

// Of arrays, as one rank would have stored them that has none of their elements.
base::Result<std::vector<segment::RegionEntry>> ArrayRestore::entries() const {
  std::vector<segment::RegionEntry> entries;
  for (const Array& array : arrays_) {
    PERDURE_TRY(auto entry, segment::entry_of(array.id, array.entry));
    entries.push_back(std::move(entry));
  }
  return entries;
}

base::Status ArrayRestore::check_wanted() {
  PERDURE_TRY(const auto stored, entries());
  PERDURE_TRY(auto matching, capture::match_regions(regions_, stored, matching_.wanted));
  if (!matching.differences.empty()) return base::fail(capture::mismatch(matching.differences, ""));
  for (std::size_t i = 0; i < arrays_.size(); ++i) arrays_[i].to = matching.to[i];
  matching_.absent = std::move(matching.absent);
  return {};
}

base::Result<segment::ArrayEntry> ArrayRestore::array(std::int32_t id) const {
  PERDURE_TRY(const auto stored, entries());
  const std::size_t found = capture::entry_for(regions_, stored, id);
  if (found < arrays_.size()) return arrays_[found].entry;
  const auto* region = regions_.find(id);
  return base::fail(PERDURE_MISMATCH, region == nullptr ? "region " + std::to_string(id) : region->text(),
                    reader_.id().text() + " has no such array");
}

base::Status ArrayRestore::describe() {
  captures_.assign(reader_.ranks(), {});
  std::vector<std::byte> told;
  PERDURE_CHECK(agree_after(job_.comm(), "restore",
                            [&]() -> base::Status { return job_.leads() ? tell_pieces(told) : base::Status(); }));
  base::Status heard;
  PERDURE_CHECK(comm::tell_all(job_.comm(), job_.leader(), told, [&](std::size_t, base::ConstByteSpan bytes) {
    if (heard) heard = base::caught("restore", [&] { return hear_pieces(bytes); });
    return base::Status();
  }));
  const auto checked = base::caught("restore", [&]() -> base::Status {
    PERDURE_CHECK(heard);
    const auto checks = check_wanted();
    matching_.wrong_use = !checks && checks.error().code == PERDURE_MISMATCH;
    return checks;
  });
  return agree(job_.comm(), checked);
}

base::Status ArrayRestore::hear_wanted(std::size_t rank, base::ConstByteSpan bytes) {
  PERDURE_TRY(const auto told, base::decode_fields<ToldWants>(bytes, "arrays"));
  if (told.node != job_.nodes().mine || rank == job_.rank()) return {};
  for (const auto& wanted : told.arrays) {
    const auto array = std::find_if(arrays_.begin(), arrays_.end(), [&](const Array& a) { return a.id == wanted.id; });
    if (array == arrays_.end()) continue;  // that rank says so itself
    PERDURE_TRY(const auto boxes, array::decode_boxes(wanted.boxes, array->entry.whole, array::kMostBoxes, "arrays"));
    for (const auto& box : boxes)
      wants_[static_cast<std::size_t>(array - arrays_.begin())].push_back(
          {static_cast<std::uint32_t>(rank), {box, {}, 0}});
  }
  return {};
}

// [local] After all ranks of this node have said what they want.
base::Status ArrayRestore::plan_readings() {
  for (auto& array : arrays_) stored_.emplace_back(array.entry.type.bytes(), std::move(array.stored));
  memory_.resize(arrays_.size());
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].to == capture::kNoRegion) continue;
    const auto* region = regions_.find(arrays_[i].to);
    memory_[i] = region->part->wanted();
    for (const auto& lies : memory_[i]) {
      wants_[i].push_back({job_.rank(), lies});
      stored_[i].meeting(lies.box, [&](const plan::StoredBox& stored, const array::Box&) {
        pairs_[stored.rank].push_back({i, &stored, &lies, region->part->address()});
      });
      const auto covered = plan::cover(stored_[i], lies.box, 1);
      if (covered.hole || !covered.overlaps.empty())
        return base::fail(PERDURE_CORRUPT, reader_.id().text(),
                          region->text() + ": of " + lies.box.text() + " " +
                              (covered.hole ? covered.hole->text() + " is not stored"
                                            : covered.overlaps.front().box.text() + " is stored twice"));
    }
  }
  readings_ = plan::readings(stored_, wants_, captures_);
  return {};
}

base::Status ArrayRestore::read() {
  std::vector<std::byte> told;
  PERDURE_CHECK(agree_after(job_.comm(), "restore", [&]() -> base::Status {
    ToldWants mine{job_.nodes().mine, {}};
    for (const Array& array : arrays_) {
      if (array.to == capture::kNoRegion) continue;
      std::vector<array::Box> boxes;
      for (const auto& lies : regions_.find(array.to)->part->wanted()) boxes.push_back(lies.box);
      mine.arrays.push_back({array.id, array::encode_boxes(boxes)});  // ranks call it as it is stored
    }
    wants_.resize(arrays_.size());
    told = base::encode_fields(mine);
    return {};
  }));
  base::Status heard;
  const auto ranks = static_cast<std::size_t>(job_.ranks());
  PERDURE_CHECK(
      comm::tell_all(job_.comm(), {ranks, job_.rank()}, told, [&](std::size_t from, base::ConstByteSpan bytes) {
        if (heard) heard = base::caught("restore", [&] { return hear_wanted(from, bytes); });
        return base::Status();
      }));
  PERDURE_CHECK(agree_after(job_.comm(), "restore", [&]() -> base::Status {
    PERDURE_CHECK(heard);
    return plan_readings();
  }));
  return chunks_.read(
      readings_, [&](const plan::StoredChunk& chunk, const SharedChunks::Read& read) { return copy(chunk, read); });
}

// Of what of this chunk goes where: calls `take(Copy)` for each run.
template <class Take>
void ArrayRestore::each_copy(const plan::StoredChunk& chunk, const Take& take) const {
  const auto pairs = pairs_.find(chunk.rank);
  if (pairs == pairs_.end()) return;
  for (const auto& [array, stored, wanted, address] : pairs->second)
    plan::copies(stored_[array].element_bytes(), *stored, captures_[chunk.rank], chunk.chunk, *wanted,
                 [&, to_address = address](std::uint64_t from, std::int64_t to, std::uint64_t bytes) {
                   take(Copy{from, to_address + to, bytes});
                 });
}

// Straight to memory where that is long runs, none of them twice; nothing otherwise.
std::vector<capture::MemorySpan> ArrayRestore::spans_of(const plan::StoredChunk& chunk, std::uint64_t length) const {
  std::vector<Copy> copies;
  std::uint64_t bytes = 0, runs = 0;
  each_copy(chunk, [&](const Copy& copy) {
    bytes += copy.bytes;
    if (++runs <= length / kShortRun + 1) copies.push_back(copy);
  });
  if (copies.size() < runs || bytes < kShortRun * runs) return {};
  std::sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) { return a.from < b.from; });
  std::vector<capture::MemorySpan> spans;
  std::uint64_t at = 0;
  for (const auto& copy : copies) {
    if (copy.from < at) return {};
    if (copy.from > at) spans.push_back({nullptr, copy.from - at});
    spans.push_back({copy.to, copy.bytes});
    at = copy.from + copy.bytes;
  }
  if (at < length) spans.push_back({nullptr, length - at});
  return spans;
}

base::Status ArrayRestore::copy(const plan::StoredChunk& chunk, const SharedChunks::Read& read) {
  const auto& capture = captures_[chunk.rank];
  const std::uint64_t length = std::min(capture.chunk_bytes, capture.bytes - chunk.chunk * capture.chunk_bytes);
  if (const auto spans = spans_of(chunk, length); !spans.empty()) return read(spans);
  if (buffer_.size() < length) buffer_.resize(length);
  PERDURE_CHECK(read({{buffer_.data(), length}}));
  each_copy(chunk, [&](const Copy& copy) { std::memcpy(copy.to, buffer_.data() + copy.from, copy.bytes); });
  return {};
}

}  // namespace perdure::client

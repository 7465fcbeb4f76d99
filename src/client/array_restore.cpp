#include "client/array_restore.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "array/box_code.hpp"
#include "base/field_codec.hpp"

namespace perdure::client {
namespace {

// Shorter runs are copied out of a buffer: each would cost a call.
constexpr std::uint64_t kShortRun = 1024;

/// The boxes that a rank of this launch wants of an array.
struct ToldWanted {
  std::int32_t id = 0;
  std::vector<std::byte> boxes;
  PERDURE_FIELDS(id, boxes)
};
/// Its encoding is never empty.
struct ToldWants {
  std::uint32_t node = 0;
  std::vector<ToldWanted> arrays;
  PERDURE_FIELDS(node, arrays)
};

/// An array's part in the capture of one writing rank. The properties that all parts share were told before.
struct ToldPart {
  std::int32_t id = 0;
  std::uint64_t at = 0;  ///< byte of the capture
  std::vector<std::byte> boxes;
  PERDURE_FIELDS(id, at, boxes)
};

}  // namespace

struct ArrayRestore::ToldPiece {
  std::uint32_t rank = 0;
  std::uint64_t chunk_bytes = 0, bytes = 0;
  std::vector<ToldPart> parts;
  PERDURE_FIELDS(rank, chunk_bytes, bytes, parts)
};

/// The arrays of pieces, without boxes. All ranks hear them before they know whether they want any.
struct ArrayRestore::ToldArrays {
  std::vector<segment::RegionEntry> arrays;
  std::string local = {};  ///< the first region that is not an array
  PERDURE_FIELDS(arrays, local)
};

ArrayRestore::ArrayRestore(Job& job, VersionReader& reader, const capture::RegionTable& regions, capture::Wanted wanted)
    : job_(job), reader_(reader), regions_(regions), matching_{std::move(wanted)} {}

// Describes pieces that only the redundancy of other nodes has.
base::Status ArrayRestore::describe_lost(const std::vector<std::uint32_t>& ranks, std::vector<ToldPiece>& told) {
  const std::size_t before = told.size();
  ipc::DescribePieces question{reader_.id(), reader_.ranks(), ranks, reader_.where().nodes_to_ask(ranks)};
  while (!question.wanted.empty()) {
    PERDURE_TRY(const auto reply, job_.engine().channel().call(question));
    for (const auto& piece : reply.pieces) {
      PERDURE_TRY(auto one, look_at(piece.rank, piece.chunk_bytes, piece.regions));
      told.push_back(std::move(one));
    }
    if (reply.all || reply.pieces.empty()) break;
    std::erase_if(question.wanted, [&](std::uint32_t rank) { return rank <= reply.pieces.back().rank; });
  }
  const std::size_t found = told.size() - before;
  if (found != ranks.size())
    return base::fail(PERDURE_INCOMPLETE, reader_.id().text(),
                      "of " + std::to_string(ranks.size() - found) + " ranks no node says what they have");
  return {};
}

// [local] Adds the arrays of a piece to the known arrays.
base::Result<ArrayRestore::ToldPiece> ArrayRestore::look_at(std::uint32_t rank, std::uint64_t chunk_bytes,
                                                            const std::vector<segment::RegionEntry>& entries) {
  ToldPiece piece{rank, chunk_bytes, 0, {}};
  for (const auto& entry : entries) {
    if (entry.kind == segment::EntryKind::array) {
      PERDURE_TRY(auto array, segment::array_of(entry, reader_.id().text()));
      piece.parts.push_back({entry.id, piece.bytes, segment::boxes_in(entry)});
      PERDURE_CHECK(add_array(entry.id, std::move(array)));
    } else if (local_.empty()) {
      local_ = segment::region_text(entry);
    }
    piece.bytes += entry.bytes();
  }
  return piece;
}

// [local] Collects, at a leader, the arrays in the pieces that its node knows, to be told now and in read().
base::Status ArrayRestore::look_at_pieces(std::vector<std::byte>& told) {
  std::vector<ToldPiece> pieces;
  std::vector<std::uint32_t> lost;
  for (std::uint32_t rank = 0; rank < reader_.ranks(); ++rank) {
    if (reader_.where().node_that_knows(rank) != job_.nodes().mine) continue;
    if (reader_.where().source_of(rank) == Whereabouts::Source::nodes) {
      lost.push_back(rank);
      continue;
    }
    PERDURE_TRY(const auto* piece, reader_.locate(rank));
    PERDURE_TRY(auto told_piece, look_at(rank, piece->chunk_bytes, piece->regions));
    pieces.push_back(std::move(told_piece));
  }
  PERDURE_CHECK(describe_lost(lost, pieces));
  pieces_ = base::encode_fields(pieces);
  PERDURE_TRY(auto all, entries());
  told = base::encode_fields(ToldArrays{std::move(all), local_});
  return {};
}

// Adds an array of a piece. All pieces must have the same arrays.
base::Status ArrayRestore::add_array(std::int32_t id, segment::ArrayEntry array) {
  array.boxes.clear();
  auto known = std::lower_bound(arrays_.begin(), arrays_.end(), id,
                                [](const Array& a, std::int32_t number) { return a.id < number; });
  if (known == arrays_.end() || known->id != id) known = arrays_.insert(known, {id, array, capture::kNoRegion});
  if (known->entry.type != array.type || known->entry.whole != array.whole || known->entry.kind != array.kind)
    return base::fail(PERDURE_CORRUPT, reader_.id().text(),
                      segment::region_text(id, array.label) + " of some ranks is of another array than that of others");
  return {};
}

// Keeps the stored boxes that this rank's node needs elements of.
base::Status ArrayRestore::hear_pieces(base::ConstByteSpan bytes, std::vector<std::vector<plan::StoredBox>>& near) {
  PERDURE_TRY(const auto pieces, base::decode_fields<std::vector<ToldPiece>>(bytes, "arrays"));
  for (const auto& piece : pieces) {
    if (piece.rank >= reader_.ranks() || piece.chunk_bytes == 0)
      return base::fail(PERDURE_CORRUPT, reader_.id().text(), "there is a piece of none of its ranks");
    for (const auto& part : piece.parts) {
      const std::int32_t id = part.id;
      const auto known = std::find_if(arrays_.begin(), arrays_.end(), [id](const Array& a) { return a.id == id; });
      if (known == arrays_.end())
        return base::fail(PERDURE_CORRUPT, reader_.id().text(),
                          "region " + std::to_string(id) + " was not told of before");
      PERDURE_TRY(const auto boxes, array::decode_boxes(part.boxes, known->entry.whole, array::kMostBoxes,
                                                        reader_.id().text() + ", rank " + std::to_string(piece.rank)));
      const auto number = static_cast<std::size_t>(known - arrays_.begin());
      std::uint64_t begin = part.at;
      for (const auto& box : boxes) {
        if (wants_[number].meets(box)) {
          near[number].push_back({piece.rank, box, begin});
          captures_[piece.rank] = {piece.bytes, piece.chunk_bytes};
        }
        begin += box.elements() * known->entry.type.bytes();
      }
    }
  }
  return {};
}

// Gives the arrays' entries as a rank without any of their elements would have stored them.
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
  std::vector<std::byte> told;
  PERDURE_CHECK(agree_after(job_.comm(), "restore",
                            [&]() -> base::Status { return job_.leads() ? look_at_pieces(told) : base::Status(); }));
  base::Status heard;
  PERDURE_CHECK(comm::tell_all(job_.comm(), job_.leader(), told, [&](std::size_t, base::ConstByteSpan bytes) {
    if (heard)
      heard = base::caught("restore", [&]() -> base::Status {
        PERDURE_TRY(const auto arrays, base::decode_fields<ToldArrays>(bytes, "arrays"));
        if (local_.empty()) local_ = arrays.local;
        for (const auto& entry : arrays.arrays) {
          PERDURE_TRY(auto array, segment::array_of(entry, reader_.id().text()));
          PERDURE_CHECK(add_array(entry.id, std::move(array)));
        }
        return {};
      });
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
    if (array == arrays_.end()) continue;  // that rank reports this itself
    PERDURE_TRY(const auto boxes, array::decode_boxes(wanted.boxes, array->entry.whole, array::kMostBoxes, "arrays"));
    for (const auto& box : boxes)
      wants_[static_cast<std::size_t>(array - arrays_.begin())].add({static_cast<std::uint32_t>(rank), {box, {}, 0}});
  }
  return {};
}

// [local] Comes after the wants of the other ranks of this node.
base::Status ArrayRestore::add_own_wants() {
  memory_.resize(arrays_.size());
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].to != capture::kNoRegion) memory_[i] = regions_.find(arrays_[i].to)->part->wanted();
    for (const auto& lies : memory_[i]) wants_[i].add({job_.rank(), lies});
    wants_[i].all_are_there();
  }
  return {};
}

// [local] Comes after all ranks of this node have told their wants, and all leaders their pieces.
base::Status ArrayRestore::plan_readings(std::vector<std::vector<plan::StoredBox>> near) {
  std::vector<std::vector<plan::WantedBox>> wanted;
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    near[i].shrink_to_fit();
    stored_.emplace_back(arrays_[i].entry.type.bytes(), std::move(near[i]));
    wanted.push_back(wants_[i].take());
    for (const auto& lies : memory_[i]) {
      const auto* region = regions_.find(arrays_[i].to);
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
  readings_ = plan::readings(stored_, wanted, captures_);
  return {};
}

std::size_t ArrayRestore::boxes_kept() const {
  std::size_t boxes = 0;
  for (const plan::StoredArray& array : stored_) boxes += array.stored().size();
  return boxes;
}

// A node first tells its wants, so that it keeps no other ranks' boxes beside them.
base::Status ArrayRestore::read() {
  std::vector<std::byte> told;
  PERDURE_CHECK(agree_after(job_.comm(), "restore", [&]() -> base::Status {
    ToldWants mine{job_.nodes().mine, {}};
    for (const Array& array : arrays_) {
      if (array.to == capture::kNoRegion) continue;
      std::vector<array::Box> boxes;
      for (const auto& lies : regions_.find(array.to)->part->wanted()) boxes.push_back(lies.box);
      mine.arrays.push_back({array.id, array::encode_boxes(boxes)});  // ranks use the stored id
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
  std::vector<std::vector<plan::StoredBox>> near(arrays_.size());
  PERDURE_CHECK(agree_after(job_.comm(), "restore", [&]() -> base::Status {
    PERDURE_CHECK(heard);
    return add_own_wants();
  }));
  PERDURE_CHECK(comm::tell_all(job_.comm(), job_.leader(), pieces_, [&](std::size_t, base::ConstByteSpan bytes) {
    if (heard) heard = base::caught("restore", [&] { return hear_pieces(bytes, near); });
    return base::Status();
  }));
  PERDURE_CHECK(agree_after(job_.comm(), "restore", [&]() -> base::Status {
    PERDURE_CHECK(heard);
    return plan_readings(std::move(near));
  }));
  return chunks_.read(
      readings_, [&](const plan::StoredChunk& chunk, const SharedChunks::Read& read) { return copy(chunk, read); });
}

// Calls `take(Copy)` for each run of this chunk that goes to memory.
template <class Take>
void ArrayRestore::each_copy(const plan::StoredChunk& chunk, const Take& take) const {
  const auto pairs = pairs_.find(chunk.rank);
  if (pairs == pairs_.end()) return;
  for (const auto& [array, stored, wanted, address] : pairs->second)
    plan::copies(stored_[array].element_bytes(), *stored, captures_.at(chunk.rank), chunk.chunk, *wanted,
                 [&, to_address = address](std::uint64_t from, std::int64_t to, std::uint64_t bytes) {
                   take(Copy{from, to_address + to, bytes});
                 });
}

// Gives the target memory of a chunk if that consists of long runs, none of them twice; otherwise nothing.
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
  const auto& capture = captures_.at(chunk.rank);
  const std::uint64_t length = std::min(capture.chunk_bytes, capture.bytes - chunk.chunk * capture.chunk_bytes);
  if (const auto spans = spans_of(chunk, length); !spans.empty()) return read(spans);
  if (buffer_.size() < length) buffer_.resize(length);
  PERDURE_CHECK(read({{buffer_.data(), length}}));
  each_copy(chunk, [&](const Copy& copy) { std::memcpy(copy.to, buffer_.data() + copy.from, copy.bytes); });
  return {};
}

}  // namespace perdure::client

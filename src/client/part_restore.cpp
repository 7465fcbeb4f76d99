#include "client/part_restore.hpp"

#include <algorithm>

#include "base/field_codec.hpp"

namespace perdure::client {

/// The chunks that a rank needs. Its encoding is never empty.
struct PartRestore::Told {
  std::uint32_t node = 0, of = 0;
  std::uint64_t bytes = 0, chunk_bytes = 0;  // of the capture of the asked rank
  std::uint64_t first = 0, last = 0;         // range of chunks, without the last one
  PERDURE_FIELDS(node, of, bytes, chunk_bytes, first, last)
};

base::Result<std::vector<segment::RegionEntry>> PartRestore::entries() {
  if (reader_.where().source_of(of_) != Whereabouts::Source::nodes) {
    PERDURE_TRY(const auto* piece, reader_.locate(of_));
    capture_.chunk_bytes = piece->chunk_bytes;
    return piece->regions;
  }
  const ipc::DescribePieces question{reader_.id(), reader_.ranks(), {of_}, reader_.where().nodes_to_ask({of_})};
  PERDURE_TRY(const auto reply, job_.engine().channel().call(question));
  if (reply.pieces.empty())
    return base::fail(PERDURE_INCOMPLETE, reader_.id().text(),
                      "no node says what rank " + std::to_string(of_) + " has");
  capture_.chunk_bytes = reply.pieces.front().chunk_bytes;
  return reply.pieces.front().regions;
}

base::Status PartRestore::find(const std::vector<segment::RegionEntry>& entries) {
  const std::string object = "region " + std::to_string(target_.id) + " of rank " + std::to_string(of_);
  const std::size_t number = capture::entry_for(regions_, entries, target_.id);
  const segment::RegionEntry* found = nullptr;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i == number) {
      found = &entries[i];
      range_ = {capture_.bytes, found->bytes()};
    }
    capture_.bytes += entries[i].bytes();
  }
  if (found == nullptr) return base::fail(PERDURE_MISMATCH, object, "it is not part of " + reader_.id().text());
  if (found->kind != segment::EntryKind::memory)
    return base::fail(PERDURE_MISMATCH, object, std::string("it was stored as ") + segment::kind_name(found->kind),
                      "restore arrays with perdure_restore()");
  if (found->element_bytes == target_.element_bytes && found->count == target_.count) return {};
  return base::fail(PERDURE_MISMATCH, object,
                    "it was stored as " + std::to_string(found->count) + " elements of " +
                        std::to_string(found->element_bytes) + " bytes, asked for as " + std::to_string(target_.count) +
                        " of " + std::to_string(target_.element_bytes),
                    "ask for as many as were stored: perdure show --rank tells");
}

base::Status PartRestore::describe() {
  if (of_ >= reader_.ranks()) {
    wrong_use_ = true;
    return base::fail(
        PERDURE_MISMATCH, reader_.id().text(),
        "it has " + std::to_string(reader_.ranks()) + " ranks, and none of number " + std::to_string(of_));
  }
  PERDURE_TRY(const auto all, entries());
  const auto found = find(all);  // or the caller's mistake
  wrong_use_ = !found;
  return found;
}

void PartRestore::add(std::size_t rank, const Told& told) {
  if (told.node != job_.nodes().mine || told.chunk_bytes == 0 || told.of >= reader_.ranks()) return;
  for (std::uint64_t c = told.first; c < std::min(told.last, told.bytes / told.chunk_bytes + 1); ++c) {
    const auto user = static_cast<std::uint32_t>(rank);
    auto& reading = by_chunk_[{told.of, c}];
    if (reading.users.empty())
      reading = {{told.of, c}, std::min(told.chunk_bytes, told.bytes - c * told.chunk_bytes), user, {}};
    reading.users.push_back(user);  // told in the order of the ranks
  }
}

base::Status PartRestore::read() {
  std::vector<std::byte> told;
  PERDURE_CHECK(agree_after(job_.comm(), "restore", [&]() -> base::Status {
    const std::uint64_t each = capture_.chunk_bytes;
    Told mine{job_.nodes().mine, of_, capture_.bytes, each, range_.begin / each, 0};
    mine.last = range_.length == 0 ? mine.first : (range_.end() - 1) / each + 1;
    told = base::encode_fields(mine);
    return {};
  }));
  base::Status heard;
  PERDURE_CHECK(
      comm::tell_all(job_.comm(), {job_.ranks(), job_.rank()}, told, [&](std::size_t from, base::ConstByteSpan bytes) {
        if (heard)
          heard = base::caught("restore", [&]() -> base::Status {
            PERDURE_TRY(const auto other, base::decode_fields<Told>(bytes, "restore"));
            add(from, other);
            return {};
          });
        return base::Status();
      }));
  std::vector<plan::ChunkReading> readings;  // chunks that this node reads
  PERDURE_CHECK(agree_after(job_.comm(), "restore", [&]() -> base::Status {
    for (auto& entry : by_chunk_) readings.push_back(std::move(entry.second));
    return heard;
  }));
  return chunks_.read(
      readings, [&](const plan::StoredChunk& chunk, const SharedChunks::Read& read) { return copy(chunk, read); });
}

base::Status PartRestore::copy(const plan::StoredChunk& chunk, const SharedChunks::Read& read) const {
  const std::uint64_t begin = chunk.chunk * capture_.chunk_bytes;
  const std::uint64_t end = std::min(begin + capture_.chunk_bytes, capture_.bytes);
  const std::uint64_t from = std::max(begin, range_.begin), to = std::min(end, range_.end());
  return read({{nullptr, from - begin}, {target_.address + (from - range_.begin), to - from}, {nullptr, end - to}});
}

}  // namespace perdure::client

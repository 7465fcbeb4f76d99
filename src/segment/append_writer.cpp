#include "segment/append_writer.hpp"

#include <algorithm>
#include <bit>

#include "segment/stages.hpp"

namespace perdure::segment {
namespace {

auto place_of(const std::vector<Table>& tables, std::uint32_t rank) {
  return std::lower_bound(tables.begin(), tables.end(), rank,
                          [](const Table& table, std::uint32_t wanted) { return table.rank < wanted; });
}

}  // namespace

base::Result<AppendWriter> AppendWriter::begin(Manifest heading, WriteAt write) {
  const std::uint64_t alignment = heading.alignment.value_or(0);
  if (!std::has_single_bit(alignment) || alignment > kMaxAlignment)
    return base::fail(
        PERDURE_INVALID_ARGUMENT, heading.id.text(),
        "alignment " + std::to_string(alignment) + " is no power of two up to " + base::format_bytes(kMaxAlignment));
  heading.pieces.clear();
  heading.tables.clear();
  AppendWriter writer(std::move(heading), std::move(write));
  PERDURE_CHECK(writer.append(encode_header(writer.index_)));
  return writer;
}

base::Status AppendWriter::add_chunk(std::uint32_t rank, std::size_t chunk_index, base::ConstByteSpan plain) {
  PERDURE_CHECK(check_rank(rank));
  const std::string chunk = "chunk " + std::to_string(chunk_index);
  if (plain.empty()) return refuse(rank, chunk + " is empty");
  if (const auto known = chunks_.find(rank); known != chunks_.end() && known->second.contains(chunk_index))
    return refuse(rank, chunk + " comes twice");
  PERDURE_CHECK(pad(*index_.alignment));
  const ChunkEntry entry{end_, plain.size(), base::hash128(plain)};
  PERDURE_CHECK(append(plain));
  chunks_[rank][chunk_index] = entry;
  return {};
}

base::Status AppendWriter::finish_rank(Piece piece) {
  PERDURE_CHECK(check_rank(piece.rank));
  PERDURE_CHECK(check_tables(index_.tables.size() + 1, index_.id.text()));
  piece.chunks.clear();
  for (const auto& [index, chunk] : chunks_[piece.rank]) {
    if (index != piece.chunks.size())
      return refuse(piece.rank, "chunk " + std::to_string(piece.chunks.size()) + " is missing");
    piece.chunks.push_back(chunk);
  }
  if (const std::string cause = piece.wrong(); !cause.empty()) return refuse(piece.rank, cause);
  PERDURE_CHECK(check_describable(piece, index_.id.text(), PieceForm::stored));
  PERDURE_CHECK(pad(*index_.alignment));
  const std::vector<std::byte> table = encode_table(piece, PieceForm::stored);
  const Table entry{piece.rank, end_, table.size(), base::hash128(table)};
  PERDURE_CHECK(append(table));
  index_.tables.insert(place_of(index_.tables, piece.rank), entry);
  chunks_.erase(piece.rank);
  return {};
}

base::Result<std::uint64_t> AppendWriter::finish() {
  if (!chunks_.empty()) return base::fail(refuse(chunks_.begin()->first, "its table is missing").error());
  PERDURE_CHECK(pad(kAlignment));
  PERDURE_CHECK(append(encode_end(index_, end_)));
  return end_;
}

base::Status AppendWriter::refuse(std::uint32_t rank, const std::string& cause) const {
  return base::fail(PERDURE_INVALID_ARGUMENT, index_.id.text(), "rank " + std::to_string(rank) + ": " + cause);
}

base::Status AppendWriter::check_rank(std::uint32_t rank) const {
  if (rank >= index_.ranks) return refuse(rank, "the version has " + std::to_string(index_.ranks) + " ranks");
  const auto table = place_of(index_.tables, rank);
  if (table != index_.tables.end() && table->rank == rank) return refuse(rank, "its table was written already");
  return {};
}

base::Status AppendWriter::append(base::ConstByteSpan data) {
  if (failed_) return base::fail(*failed_);
  if (auto written = write_(end_, data); !written) {
    failed_ = written.error();
    return written;
  }
  end_ += data.size();
  return {};
}

base::Status AppendWriter::pad(std::uint64_t alignment) {
  const std::vector<std::byte> zeros(base::round_up(end_, alignment) - end_);
  return zeros.empty() ? base::Status() : append(zeros);
}

}  // namespace perdure::segment

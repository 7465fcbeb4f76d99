#include "client/second_reading.hpp"

#include <algorithm>

#include "base/field_codec.hpp"
#include "client/job.hpp"
#include "segment/reader.hpp"

namespace perdure::client {
namespace {

constexpr unsigned kMostSuspects = 64;  // suspects in one call; the next call finds the others again

/// The second reader's result for a suspect.
struct Verdict {
  std::optional<StoredSegment> segment;        ///< the segment, if it is complete
  std::uint32_t ranks = 0;                     ///< number of ranks of its version, if it is complete
  std::optional<base::Error> unreadable = {};  ///< why it cannot be read now
  PERDURE_FIELDS(segment, ranks, unreadable)
};

std::uint32_t reader_of(const Job& job, std::uint32_t first) { return second_reader(job.nodes().node_of_rank, first); }

// Reads the chunk as well, if one was damaged: a manifest that verifies says nothing about it.
base::Result<ReadSegment> read_suspect(Job& job, Suspect& suspect) {
  PERDURE_TRY(const auto source, job.store().open_anew(suspect.ref));
  suspect.ref.identity = source->identity();
  PERDURE_TRY(auto read, read_segment(*source, suspect.id, suspect.ref));
  if (!suspect.chunk) {
    PERDURE_CHECK(segment::read_manifest(*source));
    return read;
  }
  PERDURE_TRY(const auto manifest, segment::read_rank(*source, suspect.rank));
  for (const auto& piece : manifest.pieces) {
    if (piece.rank != suspect.rank || *suspect.chunk >= piece.chunks.size()) continue;
    std::vector<std::byte> buffer(piece.chunks[*suspect.chunk].length);
    PERDURE_CHECK(segment::read_chunk(*source, piece, *suspect.chunk, buffer));
  }
  return read;
}

void note(Job& job, const std::string& text) {
  if (job.engine().connected()) (void)job.engine().channel().call(ipc::Note{text});
}

Verdict judge_now(Job& job, Suspect suspect) {
  auto read = read_suspect(job, suspect);
  if (read) {
    note(job, "damage that only one reader saw: " + suspect.why.text() +
                  "; a second reading of it is good, so it stays in the store; check the memory and the file system of "
                  "the node that saw it");
    return {std::move(read->segment), read->ranks};
  }
  if (read.error().code != PERDURE_CORRUPT) {
    // This reader does not find it, which may be its own trouble: then nothing is known of it.
    if (read.error().code == PERDURE_NOT_FOUND) read.error().code = PERDURE_UNAVAILABLE;
    return {std::nullopt, 0, read.error()};
  }
  if (auto aside = job.store().quarantine(suspect.ref, suspect.id, read.error()); !aside)
    note(job, "a damaged segment could not be set aside: " + aside.error().text());
  return {};
}

// The others wait for the verdict, whatever happens here.
Verdict judge(Job& job, const Suspect& suspect) {
  auto verdict = base::caught("store", [&] { return base::Result<Verdict>(judge_now(job, suspect)); });
  return verdict ? std::move(*verdict) : Verdict{std::nullopt, 0, verdict.error()};
}

void take(StoreView& view, const Suspect& suspect, Verdict verdict) {
  if (verdict.unreadable) view.unreadable = std::move(verdict.unreadable);
  if (!verdict.segment) return;
  for (auto& version : view.versions) {
    if (version.id != suspect.id || (version.ranks != 0 && version.ranks != verdict.ranks)) continue;
    version.ranks = verdict.ranks;
    version.segments.push_back(std::move(*verdict.segment));
    std::sort(version.segments.begin(), version.segments.end(),
              [](const auto& a, const auto& b) { return a.ref.index < b.ref.index; });
    return;
  }
}

}  // namespace

std::uint32_t second_reader(const std::vector<std::uint32_t>& node_of_rank, std::uint32_t first) {
  for (std::uint32_t rank = 0; rank < node_of_rank.size(); ++rank)
    if (node_of_rank[rank] != node_of_rank[first]) return rank;
  return first;
}

base::Status read_again(Job& job, StoreView& view) {
  if (view.suspects.empty()) return {};
  const std::uint32_t reader = reader_of(job, 0);
  std::vector<Verdict> verdicts;
  if (job.rank() == reader)
    for (const Suspect& suspect : view.suspects) verdicts.push_back(judge(job, suspect));
  PERDURE_TRY(const auto told,
              comm::broadcast_bytes(job.comm(), base::encode_fields(verdicts), static_cast<int>(reader)));
  PERDURE_TRY(verdicts, base::decode_fields<std::vector<Verdict>>(told, "verdicts on damage"));
  for (std::size_t i = 0; i < std::min(verdicts.size(), view.suspects.size()); ++i)
    take(view, view.suspects[i], std::move(verdicts[i]));
  view.suspects.clear();
  return {};
}

// Reads one after the other, the lowest rank's first: each costs two exchanges, and there are few.
base::Result<bool> read_again(Job& job, std::optional<Suspect> mine) {
  unsigned read = 0;
  for (; read < kMostSuspects; ++read) {
    std::uint64_t finder = mine ? job.rank() : job.ranks();
    PERDURE_CHECK(job.comm().allreduce(std::span(&finder, 1), comm::Reduce::minimum));
    if (finder == job.ranks()) break;
    const auto told = finder == job.rank() ? base::encode_fields(*mine) : std::vector<std::byte>();
    PERDURE_TRY(const auto bytes, comm::broadcast_bytes(job.comm(), told, static_cast<int>(finder)));
    PERDURE_TRY(const auto suspect, base::decode_fields<Suspect>(bytes, "suspect"));
    if (job.rank() == reader_of(job, static_cast<std::uint32_t>(finder))) (void)judge(job, suspect);
    const bool same =
        mine && mine->ref.path == suspect.ref.path && mine->rank == suspect.rank && mine->chunk == suspect.chunk;
    if (finder == job.rank() || same) mine.reset();
  }
  return read > 0;
}

}  // namespace perdure::client

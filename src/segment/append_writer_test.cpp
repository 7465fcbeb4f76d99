#include "segment/append_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "segment/array_entry.hpp"
#include "segment/memory_entry.hpp"
#include "segment/reader.hpp"
#include "support/appended_segment.hpp"
#include "support/memory_source.hpp"
#include "support/sanitized.hpp"

namespace perdure::segment {
namespace {

using test_support::appended_file;
using test_support::MemorySource;

const VersionId kAppendedId{"nbody", 7, {1700000000123456789, 42}};

Manifest two_appended_ranks(std::uint64_t bytes = 10000) {
  Manifest manifest = test_support::sample_manifest(kAppendedId, 4, 1, 2, {2, 3}, bytes, 4096);
  if (bytes > 0) manifest.pieces[0] = test_support::attributed_piece(manifest.pieces[0]);
  return manifest;
}

/// Compares all but the offsets of chunks.
void expect_same(Manifest read, Manifest expected) {
  for (Manifest* manifest : {&read, &expected})
    for (Piece& piece : manifest->pieces)
      for (ChunkEntry& chunk : piece.chunks) chunk.offset = 0;
  EXPECT_EQ(read, expected);
}

void expect_sample_data(const ByteSource& source, const Manifest& manifest) {
  for (const Piece& piece : manifest.pieces) {
    std::vector<std::byte> capture(piece.capture_bytes());
    for (std::size_t i = 0; i < piece.chunks.size(); ++i) {
      const auto chunk = base::ByteSpan(capture).subspan(i * piece.chunk_bytes, piece.chunks[i].length);
      ASSERT_TRUE(read_chunk(source, piece, i, chunk));
    }
    EXPECT_EQ(capture, test_support::sample_capture(manifest.id, piece.rank, capture.size()));
  }
}

TEST(AppendedSegment, SaysAndHoldsWhatWasGiven) {
  for (const std::uint64_t alignment : {1ULL, 512ULL, 4096ULL, 65536ULL}) {
    MemorySource source(appended_file(two_appended_ranks(), alignment));
    EXPECT_EQ(source.bytes()[8], std::byte{4});
    const auto read = read_manifest(source);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->alignment, alignment);
    expect_same(*read, two_appended_ranks());
    expect_sample_data(source, *read);
    for (const Piece& piece : read->pieces)
      for (const ChunkEntry& chunk : piece.chunks) EXPECT_EQ(chunk.offset % alignment, 0U);
    std::uint64_t seen = 0;
    const auto defects = verify(source, [&](std::uint64_t block) { seen += block; });
    EXPECT_TRUE(defects.empty()) << defects[0].error.text();
    EXPECT_EQ(seen, source.size());
  }
}

TEST(AppendedSegment, HasNoGapsWhereNoneAreWanted) {
  MemorySource source(appended_file(two_appended_ranks(), 1));
  const auto read = read_manifest(source).value();
  std::uint64_t end = kHeaderBytes;
  for (std::size_t i = 0; i < read.pieces.size(); ++i) {
    for (const ChunkEntry& chunk : read.pieces[i].chunks) {
      EXPECT_EQ(chunk.offset, end);
      end += chunk.length;
    }
    EXPECT_EQ(read.tables[i].offset, end);
    end += read.tables[i].length;
  }
}

// Its header comes before anybody knows which ranks follow.
TEST(AppendedSegment, SaysInItsHeaderWhatIsKnownThen) {
  MemorySource source(appended_file(two_appended_ranks(), 1));
  const auto header = decode_header(base::ConstByteSpan(source.bytes()).first(kHeaderBytes), "x").value();
  EXPECT_EQ(header.format, 4U);
  EXPECT_EQ(header.id, kAppendedId);
  EXPECT_EQ(header.ranks, 4U);
  EXPECT_EQ(header.segment_index, 1U);
  EXPECT_EQ(header.segment_count, 2U);
  EXPECT_EQ(header.first_rank, kNoRank);
  EXPECT_EQ(header.last_rank, kNoRank);
}

TEST(AppendedSegment, IsReadRankByRank) {
  MemorySource source(appended_file(two_appended_ranks(), 512));
  const auto whole = read_manifest(source).value();
  const auto contents = read_contents(source);
  ASSERT_TRUE(contents) << contents.error().text();
  EXPECT_EQ(contents->ranks_here(), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_TRUE(contents->pieces.empty());
  source.bytes()[contents->tables[1].offset + 20] ^= std::byte{1};
  EXPECT_EQ(read_rank(source, 2)->pieces, std::vector<Piece>{whole.pieces[0]});
  EXPECT_TRUE(read_rank(source, 0)->pieces.empty());
  const auto bad = read_rank(source, 3);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().cause, "table of rank 3 damaged: wrong hash, table of rank 3 at offset " +
                                   std::to_string(contents->tables[1].offset));
}

TEST(AppendedSegment, MayHaveNoRanks) {
  MemorySource source(appended_file(test_support::sample_manifest(kAppendedId, 4, 1, 2, {}, 0, 4096), 1));
  EXPECT_EQ(source.size(), kMinSegmentBytes);
  const auto read = read_manifest(source);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(read->ranks_here().empty());
  EXPECT_TRUE(verify(source, nullptr).empty());
}

/// A manifest of up to five ranks, whose entries have names, types and other attributes.
Manifest random_manifest(std::mt19937_64& random) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < 5; ++rank)
    if (random() % 3 != 0) ranks.push_back(rank);
  Manifest manifest = test_support::sample_manifest(kAppendedId, 5, 0, 3, ranks, 0, 4096);
  for (Piece& piece : manifest.pieces) {
    piece = test_support::sample_piece(kAppendedId, piece.rank, random() % 9000, 100 + random() % 3000);
    for (RegionEntry& entry : piece.regions) {
      if (random() % 2 == 0) entry.attributes["name"] = std::string("field.") + static_cast<char>('a' + random() % 26);
      if (random() % 2 == 0) entry.attributes["type"] = std::string(random() % 2 == 0 ? "u1" : "no type");
      if (random() % 3 == 0) entry.attributes["name"] = std::int64_t{7};
      if (random() % 3 == 0) entry.kind = EntryKind::opaque;
    }
    if (random() % 3 == 0) piece = test_support::attributed_piece(piece);
  }
  return manifest;
}

struct Unwritten {
  std::uint32_t rank = 0;
  std::size_t chunk = 0;
};

/// All chunks in a random order; each table at a random time after its rank's last chunk.
std::vector<std::byte> written_in_any_order(const Manifest& manifest, std::uint64_t alignment,
                                            std::mt19937_64& random) {
  std::vector<std::byte> file;
  auto writer =
      AppendWriter::begin(test_support::appended_heading(manifest, alignment), test_support::appends_to(file)).value();
  std::vector<std::pair<const Piece*, std::size_t>> chunks;
  std::vector<const Piece*> tables;
  std::map<const Piece*, std::size_t> left;
  const auto write_tables = [&](bool all) {
    std::shuffle(tables.begin(), tables.end(), random);
    while (!tables.empty() && (all || random() % 2 == 0)) {
      EXPECT_TRUE(writer.finish_rank(*tables.back()));
      tables.pop_back();
    }
  };
  for (const Piece& piece : manifest.pieces) {
    left[&piece] = piece.chunks.size();
    if (piece.chunks.empty()) tables.push_back(&piece);
    for (std::size_t i = 0; i < piece.chunks.size(); ++i) chunks.emplace_back(&piece, i);
  }
  std::shuffle(chunks.begin(), chunks.end(), random);
  for (const auto& [piece, i] : chunks) {
    const auto capture = test_support::sample_capture(manifest.id, piece->rank, piece->capture_bytes());
    const auto bytes = base::ConstByteSpan(capture).subspan(i * piece->chunk_bytes, piece->chunks[i].length);
    EXPECT_TRUE(writer.add_chunk(piece->rank, i, bytes));
    if (--left[piece] == 0) tables.push_back(piece);
    write_tables(false);
  }
  write_tables(true);
  EXPECT_EQ(writer.finish().value(), file.size());
  return file;
}

TEST(AppendedSegment, OfAnyManifestInAnyOrderIsReadAndVerifies) {
  std::mt19937_64 random(20260801);
  for (int round = 0; round < test_support::unless_sanitized(300, 40); ++round) {
    const Manifest manifest = random_manifest(random);
    MemorySource source(written_in_any_order(manifest, std::uint64_t{1} << random() % 14, random));
    const auto read = read_manifest(source);
    ASSERT_TRUE(read) << round << ": " << read.error().text();
    expect_same(*read, manifest);
    expect_sample_data(source, *read);
    const auto defects = verify(source, nullptr);
    ASSERT_TRUE(defects.empty()) << round << ": " << defects[0].error.text();
    for (const Piece& piece : read->pieces)
      ASSERT_EQ(read_rank(source, piece.rank)->pieces, std::vector<Piece>{piece}) << round;
    const std::size_t at = random() % source.size();
    source.bytes()[at] ^= std::byte{1};
    ASSERT_FALSE(verify(source, nullptr).empty()) << round << ": byte " << at;
  }
}

// An object is sent so, and no part is sent again.
TEST(AppendedSegment, IsSentInPartsOfFiveMiB) {
  const std::size_t part_bytes = 5 * base::MiB;
  Manifest manifest = test_support::sample_manifest(kAppendedId, 2, 0, 1, {0, 1}, 7'000'000, 1'000'000);
  std::vector<std::vector<std::byte>> parts(1);
  std::uint64_t sent = 0;
  auto writer = AppendWriter::begin(test_support::appended_heading(manifest, 1),
                                    [&](std::uint64_t offset, base::ConstByteSpan data) -> base::Status {
                                      EXPECT_EQ(offset, sent);
                                      sent += data.size();
                                      while (!data.empty()) {
                                        if (parts.back().size() == part_bytes) parts.emplace_back();
                                        const auto now =
                                            data.first(std::min(data.size(), part_bytes - parts.back().size()));
                                        parts.back().insert(parts.back().end(), now.begin(), now.end());
                                        data = data.subspan(now.size());
                                      }
                                      return {};
                                    })
                    .value();
  for (const Piece& piece : manifest.pieces) {
    const auto capture = test_support::sample_capture(kAppendedId, piece.rank, 7'000'000);
    for (std::size_t i = 0; i < 7; ++i)
      ASSERT_TRUE(writer.add_chunk(piece.rank, i, base::ConstByteSpan(capture).subspan(i * 1'000'000, 1'000'000)));
    ASSERT_TRUE(writer.finish_rank(piece));
  }
  ASSERT_TRUE(writer.finish());
  ASSERT_EQ(parts.size(), 3U);
  std::vector<std::byte> file;
  for (const auto& part : parts) file.insert(file.end(), part.begin(), part.end());
  MemorySource source(std::move(file));
  const auto read = read_manifest(source);
  ASSERT_TRUE(read) << read.error().text();
  expect_same(*read, manifest);
  EXPECT_TRUE(verify(source, nullptr).empty());
}

TEST(AppendedSegment, IsRefusedAtEveryLengthButItsOwn) {
  const auto good = appended_file(two_appended_ranks(), 1);
  for (std::size_t size = 0; size < good.size(); size += test_support::unless_sanitized(1, 7)) {
    MemorySource source({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
    ASSERT_FALSE(read_contents(source)) << size;
    ASSERT_FALSE(read_manifest(source)) << size;
    ASSERT_FALSE(verify(source, nullptr).empty()) << size;
  }
}

TEST(AppendedSegment, EveryFlippedByteIsFoundOnceAndItsRankNamed) {
  for (const std::uint64_t alignment : {1U, 256U}) {
    MemorySource source(appended_file(two_appended_ranks(5000), alignment));
    const auto read = read_manifest(source).value();
    const std::uint64_t manifest_offset = read_trailer(source)->manifest_offset;
    for (std::size_t i = 0; i < source.size(); i += test_support::unless_sanitized(1, 13)) {
      source.bytes()[i] ^= std::byte{0x10};
      const auto defects = verify(source, nullptr);
      ASSERT_EQ(defects.size(), 1U) << "byte " << i;
      EXPECT_EQ(defects[0].error.code, PERDURE_CORRUPT);
      if (i >= kHeaderBytes && i < manifest_offset) {
        EXPECT_EQ(defects[0].rank, i < read.pieces[1].chunks[0].offset ? 2 : 3) << "byte " << i;
      }
      source.bytes()[i] ^= std::byte{0x10};
    }
  }
}

TEST(AppendedSegment, WithADamagedHeaderNamesTheRanksOfItsIndex) {
  MemorySource source(appended_file(two_appended_ranks(), 1));
  source.bytes()[300] ^= std::byte{1};
  const auto defects = verify(source, nullptr);
  ASSERT_EQ(defects.size(), 1U);
  EXPECT_TRUE(defects[0].error.cause.ends_with("; it holds ranks 2 to 3")) << defects[0].error.cause;
}

// Formats 2 and 3 have these among the attributes.
TEST(AppendedEntries, HaveNameAndElementTypeAsFields) {
  Manifest manifest = test_support::sample_manifest(kAppendedId, 4, 1, 2, {2}, 0, 4096);
  RegionEntry memory{1, 8, 0}, opaque{2, 8, 0, EntryKind::opaque, {}};
  for (RegionEntry* entry : {&memory, &opaque}) {
    set_label(*entry, {"temperature", "K", ""});
    set_elements(*entry, {array::ElementType::parse("f8", "x").value(), {}});
  }
  manifest.pieces[0].regions = {memory, opaque};
  MemorySource source(appended_file(manifest, 1));
  const auto read = read_manifest(source);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->pieces[0].regions, manifest.pieces[0].regions);
  EXPECT_EQ(label_of(read->pieces[0].regions[0]).name, "temperature");
  const Table& table = read->tables[0];
  const auto json = base::decode_cbor(base::ConstByteSpan(source.bytes()).subspan(table.offset, table.length), "x");
  EXPECT_EQ((*json)["regions"].dump(), R"([[1,8,0,0,"temperature","f8",{"unit":"K"}],)"
                                       R"([2,8,0,1,"temperature","",{"type":"f8","unit":"K"}]])");
}

class AppendWriterRefuses : public testing::Test {
 protected:
  std::string cause(const base::Status& status) {
    EXPECT_FALSE(status);
    if (status) return "accepted";
    EXPECT_EQ(status.error().code, PERDURE_INVALID_ARGUMENT);
    return status.error().cause;
  }
  std::vector<std::byte> file_;
  std::vector<std::byte> bytes_{4096};
  Manifest manifest_ = two_appended_ranks(8192);
  AppendWriter writer_ =
      AppendWriter::begin(test_support::appended_heading(manifest_, 1), test_support::appends_to(file_)).value();
};

TEST_F(AppendWriterRefuses, AlignmentsThatAreNone) {
  for (const std::uint64_t alignment : {std::uint64_t{0}, std::uint64_t{24}, 2 * kMaxAlignment}) {
    const auto begun =
        AppendWriter::begin(test_support::appended_heading(manifest_, alignment), test_support::appends_to(file_));
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().cause, "alignment " + std::to_string(alignment) + " is no power of two up to 1.0 MiB");
  }
  EXPECT_FALSE(AppendWriter::begin(manifest_, test_support::appends_to(file_))) << "which has no alignment";
}

TEST_F(AppendWriterRefuses, ChunksThatDoNotBelongThere) {
  EXPECT_EQ(cause(writer_.add_chunk(4, 0, bytes_)), "rank 4: the version has 4 ranks");
  EXPECT_EQ(cause(writer_.add_chunk(2, 0, {})), "rank 2: chunk 0 is empty");
  EXPECT_TRUE(writer_.add_chunk(2, 1, bytes_));
  EXPECT_EQ(cause(writer_.add_chunk(2, 1, bytes_)), "rank 2: chunk 1 comes twice");
  EXPECT_EQ(cause(writer_.finish_rank(manifest_.pieces[0])), "rank 2: chunk 0 is missing");
  EXPECT_TRUE(writer_.add_chunk(2, 0, base::ConstByteSpan(bytes_).first(10)));
  EXPECT_EQ(cause(writer_.finish_rank(manifest_.pieces[0])),
            "rank 2: field 'chunks': chunk 0 has length 10, its share of the regions is 4096");
}

TEST_F(AppendWriterRefuses, TablesThatDoNotBelongThere) {
  Piece other = manifest_.pieces[0];
  other.rank = 4;
  EXPECT_EQ(cause(writer_.finish_rank(other)), "rank 4: the version has 4 ranks");
  EXPECT_EQ(cause(writer_.finish_rank(manifest_.pieces[1])),
            "rank 3: field 'chunks' has 0 chunks, 8192 bytes of regions need 2");
  for (std::size_t i = 0; i < 2; ++i) ASSERT_TRUE(writer_.add_chunk(2, i, bytes_));
  ASSERT_TRUE(writer_.finish_rank(manifest_.pieces[0]));
  EXPECT_EQ(cause(writer_.finish_rank(manifest_.pieces[0])), "rank 2: its table was written already");
  EXPECT_EQ(cause(writer_.add_chunk(2, 2, bytes_)), "rank 2: its table was written already");
}

TEST_F(AppendWriterRefuses, AnEndBeforeAllTables) {
  ASSERT_TRUE(writer_.add_chunk(3, 0, bytes_));
  const auto ended = writer_.finish();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().cause, "rank 3: its table is missing");
}

TEST_F(AppendWriterRefuses, EverythingAfterItsSinkFailed) {
  int writes = 0;
  auto writer = AppendWriter::begin(test_support::appended_heading(manifest_, 1),
                                    [&](std::uint64_t, base::ConstByteSpan) -> base::Status {
                                      if (++writes == 2) return base::fail(PERDURE_IO, "sink", "it is full");
                                      return {};
                                    })
                    .value();
  EXPECT_EQ(writer.add_chunk(2, 0, bytes_).error().cause, "it is full");
  EXPECT_EQ(writer.add_chunk(2, 0, bytes_).error().cause, "it is full");
  EXPECT_EQ(writer.finish().error().cause, "it is full");
  EXPECT_EQ(writes, 2);
}

}  // namespace
}  // namespace perdure::segment

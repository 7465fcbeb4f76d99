// Tests format 3: one table for each piece, and an index of them.
#include <gtest/gtest.h>

#include <functional>

#include "base/cbor.hpp"
#include "segment/manifest_encoder.hpp"
#include "segment/reader.hpp"
#include "support/manifest_json.hpp"
#include "support/memory_source.hpp"
#include "support/sample_segment.hpp"
#include "support/sanitized.hpp"

namespace perdure::segment {
namespace {

using test_support::MemorySource;

const VersionId kTabledId{"nbody", 7, {1700000000123456789, 42}};

Manifest two_tabled_ranks() {
  Manifest manifest = test_support::sample_manifest(kTabledId, 4, 1, 2, {2, 3}, 10000, 4096);
  manifest.pieces[0] = test_support::attributed_piece(manifest.pieces[0]);
  lay_out(manifest, Tables::always);
  return manifest;
}

std::vector<std::byte> tabled_file(const Manifest& manifest) {
  return test_support::sample_file(manifest, Tables::always);
}

TEST(Tables, SayWhatAManifestSays) {
  const Manifest manifest = two_tabled_ranks();
  MemorySource source(tabled_file(manifest));
  EXPECT_EQ(source.bytes()[8], std::byte{3});
  const auto read = read_manifest(source);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, manifest);
  EXPECT_EQ(read->tables.size(), 2U);
  for (const Piece& piece : read->pieces) {
    std::vector<std::byte> capture(piece.capture_bytes());
    for (std::size_t i = 0; i < piece.chunks.size(); ++i)
      ASSERT_TRUE(read_chunk(source, piece, i, base::ByteSpan(capture).subspan(i * 4096, piece.chunks[i].length)));
    EXPECT_EQ(capture, test_support::sample_capture(kTabledId, piece.rank, 10000));
  }
}

TEST(Tables, AreWrittenOnlyWhereOneManifestIsTooSmall) {
  Manifest manifest = test_support::sample_manifest(kTabledId, 4, 1, 2, {2, 3}, 0, 4096);
  lay_out(manifest);
  EXPECT_EQ(format_of(manifest), 1U);
  const auto give = [&](std::size_t piece, std::size_t regions) {
    manifest.pieces[piece].regions.clear();
    for (std::size_t i = 0; i < regions; ++i)
      manifest.pieces[piece].regions.push_back({static_cast<std::int32_t>(i), 1, 0});
    lay_out(manifest);
    return format_of(manifest);
  };
  const std::size_t most = kMaxManifestItems / 4;
  EXPECT_EQ(give(0, most / 2), 1U);
  EXPECT_EQ(give(1, most / 2 - 100), 1U);
  EXPECT_EQ(give(1, most / 2), 3U);
  EXPECT_EQ(give(1, 10), 1U) << "laid out anew, it needs none";
}

/// Reading one rank costs only its table.
TEST(Tables, AreReadOneByOne) {
  MemorySource source(tabled_file(two_tabled_ranks()));
  const auto contents = read_contents(source);
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->ranks_here(), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_TRUE(contents->pieces.empty());
  source.bytes()[contents->tables[1].offset + 20] ^= std::byte{1};
  const auto good = read_rank(source, 2), other = read_rank(source, 0), bad = read_rank(source, 3);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->pieces, std::vector<Piece>{two_tabled_ranks().pieces[0]});
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->pieces.empty());
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, PERDURE_CORRUPT);
  EXPECT_EQ(bad.error().cause, "table of rank 3 damaged: wrong hash, table of rank 3 at offset " +
                                   std::to_string(contents->tables[1].offset));
  EXPECT_TRUE(read_contents(source)) << "whose ranks it has is known still";
}

TEST(Tables, OfOneRankAreReadFromFormat1Too) {
  MemorySource source(test_support::sample_file(test_support::sample_manifest(kTabledId, 4, 1, 2, {2, 3}, 5000, 4096)));
  const auto read = read_rank(source, 3);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->pieces.size(), 1U);
  EXPECT_EQ(read->pieces[0].rank, 3U);
  EXPECT_EQ(read_contents(source)->ranks_here(), (std::vector<std::uint32_t>{2, 3}));
}

TEST(Tables, AreVerifiedAndAllTheirBytesReported) {
  MemorySource source(tabled_file(two_tabled_ranks()));
  std::uint64_t seen = 0;
  const auto defects = verify(source, [&](std::uint64_t block) { seen += block; });
  EXPECT_TRUE(defects.empty()) << defects[0].error.text();
  EXPECT_EQ(seen, source.size());
}

/// Returns the rank that owns this byte; -1 if it belongs to no rank.
std::int64_t owner_with_tables(const Manifest& manifest, std::uint64_t offset, std::uint64_t end) {
  std::int64_t rank = -1;
  std::uint64_t begin = 0;
  const auto look = [&](std::uint64_t at, std::uint32_t whose) {
    if (at <= offset && at >= begin) begin = at, rank = whose;
  };
  for (const Piece& piece : manifest.pieces)
    for (const ChunkEntry& chunk : piece.chunks) look(chunk.offset, piece.rank);
  for (const Table& table : manifest.tables) look(table.offset, table.rank);
  return offset >= end ? -1 : rank;
}

TEST(Tables, EveryFlippedByteIsFoundOnceAndItsRankNamed) {
  Manifest manifest = test_support::sample_manifest(kTabledId, 4, 1, 2, {2, 3}, 5000, 4096);
  lay_out(manifest, Tables::always);
  MemorySource source(tabled_file(manifest), "file.pds");
  const auto trailer = read_trailer(source).value();
  for (std::size_t i = 0; i < source.bytes().size(); i += test_support::unless_sanitized(1, 13)) {
    source.bytes()[i] ^= std::byte{0x10};
    const auto defects = verify(source, nullptr);
    ASSERT_EQ(defects.size(), 1U) << "byte " << i;
    EXPECT_EQ(defects[0].error.code, PERDURE_CORRUPT);
    EXPECT_EQ(defects[0].rank, owner_with_tables(manifest, i, trailer.manifest_offset)) << "byte " << i;
    EXPECT_LE(defects[0].offset, i);
    EXPECT_GT(defects[0].offset + 4096, i);
    source.bytes()[i] ^= std::byte{0x10};
  }
}

TEST(Tables, EveryTruncationIsRefused) {
  const auto good = tabled_file(two_tabled_ranks());
  for (std::size_t size = 0; size < good.size(); size += size % 4096 < 64 ? 1 : 37) {
    MemorySource source({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
    ASSERT_FALSE(read_contents(source)) << size;
    ASSERT_FALSE(read_manifest(source)) << size;
  }
}

/// Makes a file in whose tables or index one value was changed, with all hashes right.
std::vector<std::byte> file_with_changed_tail(const std::function<void(Manifest&)>& change) {
  Manifest manifest = two_tabled_ranks();
  const std::uint64_t tail_offset = manifest.tables[0].offset;
  std::vector<std::byte> file = tabled_file(manifest);
  file.resize(tail_offset);
  change(manifest);
  const auto header = encode_header(manifest);
  std::copy(header.begin(), header.end(), file.begin());
  const auto written = write_tail(manifest, tail_offset, [&](std::uint64_t offset, base::ConstByteSpan data) {
    file.resize(std::max<std::size_t>(file.size(), offset + data.size()));
    std::copy(data.begin(), data.end(), file.begin() + static_cast<std::ptrdiff_t>(offset));
    return base::Status();
  });
  EXPECT_TRUE(written);
  return file;
}

/// Returns the refusal of such a file.
std::string refusal_of_index(const std::function<void(Manifest&)>& change) {
  MemorySource source(file_with_changed_tail(change));
  const auto read = read_manifest(source);
  EXPECT_FALSE(read);
  EXPECT_FALSE(verify(source, nullptr).empty());
  return read ? "accepted" : read.error().cause;
}

TEST(Tables, ThatLieWhereTheyMayNotAreRefused) {
  const auto says = [](const std::function<void(Manifest&)>& change, const char* what) {
    const std::string said = refusal_of_index(change);
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  says([](Manifest& m) { m.tables[0].offset += 512; }, "the table of rank 2: offset");
  says([](Manifest& m) { m.tables[1].offset = m.tables[0].offset; }, "overlaps the table of rank 2");
  says([](Manifest& m) { m.tables[0].offset = m.pieces[0].chunks[2].offset; }, "overlaps");
  says([](Manifest& m) { m.tables[1].length = 0; }, "is not between 1 and 2^30");
  says([](Manifest& m) { m.tables[1].length += 1; }, "wrong hash");
  says([](Manifest& m) { m.tables[1].rank = 1; }, "not ascending");
  says([](Manifest& m) { m.tables[1].rank = 9; }, "the version has 4 ranks");
  says([](Manifest& m) { m.pieces[0].rank = 1; }, "it is that of rank 1");
  says([](Manifest& m) { m.pieces[1].chunks[0].offset = m.pieces[0].chunks[0].offset; }, "overlaps chunk 0 of rank 2");
  says([](Manifest& m) { m.pieces[1].chunks[0].offset = 61440; }, "reach beyond");
}

// A reader of one rank sees no other table.
TEST(Tables, OfOneRankWhoseChunksLieWhereTheyMayNotAreRefused) {
  for (const std::uint64_t offset :
       {std::uint64_t{61440}, std::uint64_t{0}, two_tabled_ranks().pieces[1].chunks[1].offset}) {
    MemorySource source(file_with_changed_tail([&](Manifest& m) { m.pieces[1].chunks[0].offset = offset; }));
    const auto refused = read_rank(source, 3);
    ASSERT_FALSE(refused) << offset;
    EXPECT_EQ(refused.error().code, PERDURE_CORRUPT);
    EXPECT_NE(refused.error().text().find("table of rank 3"), std::string::npos) << refused.error().text();
    EXPECT_TRUE(read_rank(source, 2)) << "of which nothing is wrong";
  }
}

TEST(Tables, OfOneRankMayHaveItsChunksInAnyOrder) {
  const auto swap = [](Manifest& m) { std::swap(m.pieces[0].chunks[0].offset, m.pieces[0].chunks[1].offset); };
  Manifest expected = two_tabled_ranks();
  swap(expected);
  MemorySource source(file_with_changed_tail(swap));
  const auto read = read_rank(source, 2);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->pieces, std::vector<Piece>{expected.pieces[0]});
}

TEST(Tables, ASegmentOfAMillionChunksAndManyRegionsIsWrittenAndRead) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  const std::size_t scale = test_support::unless_sanitized<std::size_t>(1, 20);
  Manifest manifest{kTabledId, 128, 0, 1, "perdure test", {}};
  const std::size_t chunks = 1'000'000 / scale / 8, regions = 5'000 / scale;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    Piece piece{rank, 1, {{0, 1, chunks}}, {}};
    piece.chunks.assign(chunks, ChunkEntry{0, 1, {rank, rank}, 0});
    manifest.pieces.push_back(std::move(piece));
  }
  for (std::uint32_t rank = 8; rank < 128; ++rank) {
    Piece piece{rank, 1, {}, {}};
    for (std::size_t i = 0; i < regions; ++i) piece.regions.push_back({static_cast<std::int32_t>(i), 8, 0});
    manifest.pieces.push_back(std::move(piece));
  }
  const std::uint64_t tail_offset = lay_out(manifest, Tables::always);
  const std::uint64_t bytes = tail_bytes(manifest, tail_offset);
  const auto tail = encode_tail(manifest, tail_offset);
  ASSERT_EQ(tail.size(), bytes) << "what was said before hashes were known";
  EXPECT_TRUE(check_describable(manifest, "x"));
  const auto trailer =
      decode_trailer(base::ConstByteSpan(tail).last(kTrailerBytes), tail_offset + tail.size(), "x").value();
  const ReadAt read = [&](std::uint64_t offset, base::ByteSpan target) -> base::Status {
    std::copy_n(tail.begin() + static_cast<std::ptrdiff_t>(offset - tail_offset), target.size(), target.begin());
    return {};
  };
  const auto contents = decode_contents(read, trailer, "x");
  ASSERT_TRUE(contents) << contents.error().text();
  ASSERT_EQ(contents->tables.size(), 128U);
  for (const std::size_t i : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{127}}) {
    const auto piece = decode_table(read, trailer, *contents, contents->tables[i], "x");
    ASSERT_TRUE(piece) << piece.error().text();
    EXPECT_TRUE(*piece == manifest.pieces[i]);
  }
}

TEST(Tables, MoreThanAPieceMayHaveIsRefusedByWhoWrites) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  Piece piece{3, 1, {}, {}};
  piece.regions.assign(base::kMaxCborItems / 4, RegionEntry{});
  const auto refused = check_describable(piece, "nbody version 7");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_NE(refused.error().cause.find("rank 3 has 4194304 regions and 0 chunks"), std::string::npos);
  piece.regions.resize(1'000'000);
  EXPECT_TRUE(check_describable(piece, "nbody version 7"));
}

TEST(Tables, AreEncodedAsPiecesInAManifest) {
  for (const Piece& piece : two_tabled_ranks().pieces) {
    std::vector<std::byte> table;
    base::CborWriter writer(&table);
    put_piece(writer, piece);
    EXPECT_EQ(table, base::encode_cbor(to_json(piece)));
  }
  Manifest manifest = two_tabled_ranks();
  manifest.tables.clear();
  std::vector<std::byte> whole;
  base::CborWriter writer(&whole);
  put_manifest(writer, manifest);
  EXPECT_EQ(whole, base::encode_cbor(to_json(manifest)));
}

}  // namespace
}  // namespace perdure::segment

// One segment of every format version is in tests/data and must stay readable. These tests do not use the encoder, to
// notice an encoder and a decoder that changed together.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "segment/array_entry.hpp"
#include "segment/reader.hpp"
#include "support/appended_segment.hpp"
#include "support/memory_source.hpp"

namespace perdure::segment {
namespace {

std::vector<std::byte> read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

class SegmentV1 : public testing::Test {
 protected:
  test_support::MemorySource source_{read_all(std::string(PERDURE_TEST_DATA) + "/segment-v1.pds"), "segment-v1.pds"};
};

TEST_F(SegmentV1, IsTheFileThatWasWrittenThen) {
  ASSERT_EQ(source_.size(), 12288U);
  EXPECT_EQ(base::hash128(source_.bytes()).hex(), "330debbffcaef5b402e25674fd7521f4");
}

TEST_F(SegmentV1, SaysWhatItSaidThen) {
  auto manifest = read_manifest(source_);
  ASSERT_TRUE(manifest) << manifest.error().text();
  EXPECT_EQ(manifest->id, (VersionId{"nbody", 7, {1700000000123456789, 0x1122334455667788}}));
  EXPECT_EQ(manifest->ranks, 4U);
  EXPECT_EQ(manifest->segment_index, 1U);
  EXPECT_EQ(manifest->segment_count, 2U);
  EXPECT_EQ(manifest->writer, "perdure 0.1.0");
  ASSERT_EQ(manifest->pieces.size(), 2U);
  const Piece& piece = manifest->pieces[0];
  EXPECT_EQ(piece.rank, 2U);
  EXPECT_EQ(piece.chunk_bytes, 65536U);
  EXPECT_EQ(piece.regions, (std::vector<RegionEntry>{{0, 8, 100}, {3, 4, 25}}));
  ASSERT_EQ(piece.chunks.size(), 1U);
  EXPECT_EQ(piece.chunks[0].offset, 4096U);
  EXPECT_EQ(piece.chunks[0].length, 900U);
  EXPECT_EQ(piece.chunks[0].hash.hex(), "6ccd558ec97551e4a6cd0508ccaf50a8");
  EXPECT_EQ(manifest->pieces[1], (Piece{3, 65536, {}, {}}));
}

TEST_F(SegmentV1, HoldsWhatItHeldThen) {
  auto manifest = read_manifest(source_);
  ASSERT_TRUE(manifest) << manifest.error().text();
  std::vector<std::byte> chunk(900);
  ASSERT_TRUE(read_chunk(source_, manifest->pieces[0], 0, chunk));
  for (std::size_t i = 0; i < chunk.size(); ++i) ASSERT_EQ(chunk[i], static_cast<std::byte>((7 * i + 5) & 0xFF)) << i;
  EXPECT_TRUE(verify(source_, nullptr).empty());
}

// The last release that knew only format 1 wrote this checkpoint of one rank. Region 1 has 1000 numbers i / 2 - 7,
// region 5 has 3000 words i * 2654435761.
class ArchiveV1 : public testing::Test {
 protected:
  test_support::MemorySource source_{read_all(std::string(PERDURE_TEST_DATA) + "/archive-v1.pds"), "archive-v1.pds"};
};

TEST_F(ArchiveV1, IsReadAndVerifiesAndIsStillWrittenSo) {
  ASSERT_EQ(source_.size(), 28672U);
  EXPECT_EQ(base::hash128(source_.bytes()).hex(), "5893aa56bc75bef0f40b3aa31e8b9c71");
  EXPECT_TRUE(verify(source_, nullptr).empty());
  const auto manifest = read_manifest(source_);
  ASSERT_TRUE(manifest) << manifest.error().text();
  ASSERT_EQ(manifest->pieces.size(), 1U);
  EXPECT_EQ(manifest->pieces[0].regions, (std::vector<RegionEntry>{{1, 8, 1000}, {5, 4, 3000}}));
  // Releases that know only format 1 can still read plain memory of this release.
  const auto header = encode_header(*manifest);
  const auto tail = encode_tail(*manifest, 24576);
  EXPECT_TRUE(std::equal(header.begin(), header.end(), source_.bytes().begin()));
  ASSERT_EQ(tail.size(), 4096U);
  EXPECT_TRUE(std::equal(tail.begin(), tail.end(), source_.bytes().begin() + 24576));
}

// Has "mesh" version 2 of one rank, 4000 bytes whose byte i is (11 * i + 3) mod 256. Region 0 of 1000 bytes is memory
// with the attribute units. Region 4 of 3000 bytes is opaque with attributes of every type.
class SegmentV2 : public testing::Test {
 protected:
  test_support::MemorySource source_{read_all(std::string(PERDURE_TEST_DATA) + "/segment-v2.pds"), "segment-v2.pds"};
};

TEST_F(SegmentV2, IsTheFileThatWasWrittenThen) {
  ASSERT_EQ(source_.size(), 12288U);
  EXPECT_EQ(base::hash128(source_.bytes()).hex(), "0fb90d21832ddeff5e02ce8df3478fdc");
}

TEST_F(SegmentV2, SaysAndHoldsWhatItDidThen) {
  const auto manifest = read_manifest(source_);
  ASSERT_TRUE(manifest) << manifest.error().text();
  EXPECT_EQ(manifest->id, (VersionId{"mesh", 2, {1700000000123456789, 0x1122334455667788}}));
  ASSERT_EQ(manifest->pieces.size(), 1U);
  ASSERT_EQ(manifest->pieces[0].regions.size(), 2U);
  const RegionEntry &first = manifest->pieces[0].regions[0], &second = manifest->pieces[0].regions[1];
  EXPECT_EQ(first, (RegionEntry{0, 1, 1000, EntryKind::memory, {{"units", std::string("kelvin")}}}));
  EXPECT_EQ(second.kind, EntryKind::opaque);
  EXPECT_EQ(second.attributes, (Attributes{{"ghosts", true},
                                           {"key", std::vector<std::byte>{std::byte{0}, std::byte{255}}},
                                           {"least", std::int64_t{-9}},
                                           {"most", std::int64_t{1} << 60},
                                           {"shape", std::vector<std::int64_t>{3, 0, -4}}}));
  std::vector<std::byte> chunk(4000);
  ASSERT_TRUE(read_chunk(source_, manifest->pieces[0], 0, chunk));
  for (std::size_t i = 0; i < chunk.size(); ++i) ASSERT_EQ(chunk[i], static_cast<std::byte>((11 * i + 3) & 0xFF)) << i;
  EXPECT_TRUE(verify(source_, nullptr).empty());
}

// Has "mesh" version 4 of one rank, the first with arrays. Region 0 is all of a field of 10 x 10 numbers 10 * i + j, in
// two boxes. Region 1 is a list of 7 bodies, and region 2 a replicated scalar, 42. Region 3 is memory with a label, 9
// numbers i / 2.
class ArraysV2 : public testing::Test {
 protected:
  test_support::MemorySource source_{read_all(std::string(PERDURE_TEST_DATA) + "/arrays-v2.pds"), "arrays-v2.pds"};
};

TEST_F(ArraysV2, AreTheFileThatWasWrittenThen) {
  ASSERT_EQ(source_.size(), 12288U);
  EXPECT_EQ(base::hash128(source_.bytes()).hex(), "5b67b26357a2485a539a57c1090a95a2");
}

TEST_F(ArraysV2, SayAndHoldWhatTheyDidThen) {
  const auto manifest = read_manifest(source_);
  ASSERT_TRUE(manifest) << manifest.error().text();
  ASSERT_EQ(manifest->pieces.size(), 1U);
  const auto& regions = manifest->pieces[0].regions;
  ASSERT_EQ(regions.size(), 4U);
  const auto box = [](std::vector<std::pair<std::uint64_t, std::uint64_t>> sides) {
    array::Box made;
    for (const auto& [begin, end] : sides) made.begin[made.dimensions] = begin, made.end[made.dimensions++] = end;
    return made;
  };
  const auto type = [](const char* text) { return array::ElementType::parse(text, "test").value(); };
  EXPECT_EQ(array_of(regions[0], "test").value(), (ArrayEntry{{"temperature", "K", "of the plate"},
                                                              type("f8"),
                                                              ArrayKind::global,
                                                              box({{0, 10}, {0, 10}}),
                                                              {box({{0, 10}, {0, 5}}), box({{0, 10}, {5, 10}})}}));
  EXPECT_EQ(array_of(regions[1], "test").value(),
            (ArrayEntry{
                {"bodies", "", ""}, type("{position:3f8,id:i4,v4}"), ArrayKind::list, box({{0, 7}}), {box({{0, 7}})}}));
  EXPECT_EQ(array_of(regions[2], "test").value(),
            (ArrayEntry{{"step", "", ""}, type("i8"), ArrayKind::replicated, box({}), {box({})}}));
  EXPECT_EQ(regions[3].kind, EntryKind::memory);
  EXPECT_EQ(label_of(regions[3]), (Label{"own", "m", ""}));
  std::vector<std::byte> chunk(manifest->pieces[0].capture_bytes());
  ASSERT_TRUE(read_chunk(source_, manifest->pieces[0], 0, chunk));
  const auto number = [&](std::size_t at) {
    double value = 0;
    std::memcpy(&value, chunk.data() + 8 * at, 8);
    return value;
  };
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t j = 0; j < 10; ++j)
      EXPECT_EQ(number(j < 5 ? 5 * i + j : 50 + 5 * i + j - 5), static_cast<double>(10 * i + j));
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(number(100 + 4 * i + 1), static_cast<double>(i) + 0.25);
  EXPECT_TRUE(verify(source_, nullptr).empty());
}

// Has "mesh" version 3 of four ranks, segment 1 of 2 with ranks 2 and 3: each has its own table.
class SegmentV3 : public testing::Test {
 protected:
  test_support::MemorySource source_{read_all(std::string(PERDURE_TEST_DATA) + "/segment-v3.pds"), "segment-v3.pds"};
};

TEST_F(SegmentV3, IsTheFileThatWasWrittenThen) {
  ASSERT_EQ(source_.size(), 20480U);
  EXPECT_EQ(base::hash128(source_.bytes()).hex(), "2f57df34c073758676eeb14786f1a6d2");
}

TEST_F(SegmentV3, SaysAndHoldsWhatItDidThen) {
  const auto manifest = read_manifest(source_);
  ASSERT_TRUE(manifest) << manifest.error().text();
  EXPECT_EQ(manifest->id, (VersionId{"mesh", 3, {1700000000123456789, 0x1122334455667788}}));
  EXPECT_EQ(manifest->ranks, 4U);
  EXPECT_EQ(manifest->segment_index, 1U);
  EXPECT_EQ(manifest->segment_count, 2U);
  ASSERT_EQ(manifest->pieces.size(), 2U);
  EXPECT_EQ(
      manifest->pieces[0].regions,
      (std::vector<RegionEntry>{{0, 8, 100}, {4, 1, 100, EntryKind::opaque, {{"units", std::string("kelvin")}}}}));
  EXPECT_EQ(manifest->pieces[1], (Piece{3, 65536, {}, {}}));
  const auto alone = read_rank(source_, 2);
  ASSERT_TRUE(alone) << alone.error().text();
  EXPECT_EQ(alone->pieces, std::vector<Piece>{manifest->pieces[0]});
  std::vector<std::byte> chunk(900);
  ASSERT_TRUE(read_chunk(source_, manifest->pieces[0], 0, chunk));
  for (std::size_t i = 0; i < chunk.size(); ++i) ASSERT_EQ(chunk[i], static_cast<std::byte>((13 * i + 1) & 0xFF)) << i;
  EXPECT_TRUE(verify(source_, nullptr).empty());
}

/// Writes "mesh" version 5 of four ranks, segment 1 of 2. Rank 2 has 900 bytes in two chunks, the second one first;
/// byte i is (17 * i + 3) mod 256. Rank 3 has no data.
std::vector<std::byte> example_of_format_4() {
  std::vector<std::byte> file;
  const Manifest heading{{"mesh", 5, {1700000000123456789, 0x1122334455667788}}, 4, 1, 2, "perdure 0.1.0", {}, {}, 1};
  auto writer = AppendWriter::begin(heading, test_support::appends_to(file)).value();
  std::vector<std::byte> capture(900);
  for (std::size_t i = 0; i < capture.size(); ++i) capture[i] = static_cast<std::byte>((17 * i + 3) & 0xFF);
  EXPECT_TRUE(writer.add_chunk(2, 1, base::ConstByteSpan(capture).subspan(512)));
  EXPECT_TRUE(writer.add_chunk(2, 0, base::ConstByteSpan(capture).first(512)));
  const Attributes field{{"name", std::string("temperature")}, {"type", std::string("f8")}};
  const Attributes opaque{{"units", std::string("kelvin")}};
  EXPECT_TRUE(writer.finish_rank(
      {2, 512, {{0, 8, 100, EntryKind::memory, field}, {4, 1, 100, EntryKind::opaque, opaque}}, {}}));
  EXPECT_TRUE(writer.finish_rank({3, 512, {}, {}}));
  EXPECT_EQ(writer.finish().value(), file.size());
  return file;
}

class SegmentV4 : public testing::Test {
 protected:
  test_support::MemorySource source_{read_all(std::string(PERDURE_TEST_DATA) + "/segment-v4.pds"), "segment-v4.pds"};
};

TEST_F(SegmentV4, IsTheFileThatWasWrittenThenAndIsStillWrittenSo) {
  ASSERT_EQ(source_.size(), 12288U);
  EXPECT_EQ(base::hash128(source_.bytes()).hex(), "cf1ba87d3b42b56beb1d3a58cb02875d");
  EXPECT_TRUE(source_.bytes() == example_of_format_4());
}

TEST_F(SegmentV4, SaysAndHoldsWhatItDidThen) {
  const auto manifest = read_manifest(source_);
  ASSERT_TRUE(manifest) << manifest.error().text();
  EXPECT_EQ(manifest->id, (VersionId{"mesh", 5, {1700000000123456789, 0x1122334455667788}}));
  EXPECT_EQ(manifest->ranks, 4U);
  EXPECT_EQ(manifest->segment_index, 1U);
  EXPECT_EQ(manifest->segment_count, 2U);
  EXPECT_EQ(manifest->writer, "perdure 0.1.0");
  EXPECT_EQ(manifest->alignment, 1U);
  ASSERT_EQ(manifest->pieces.size(), 2U);
  const Piece& piece = manifest->pieces[0];
  const Attributes field{{"name", std::string("temperature")}, {"type", std::string("f8")}};
  EXPECT_EQ(piece.regions,
            (std::vector<RegionEntry>{{0, 8, 100, EntryKind::memory, field},
                                      {4, 1, 100, EntryKind::opaque, {{"units", std::string("kelvin")}}}}));
  ASSERT_EQ(piece.chunks.size(), 2U);
  EXPECT_EQ(piece.chunks[0].offset, 4484U);
  EXPECT_EQ(piece.chunks[1].offset, 4096U);
  EXPECT_EQ(manifest->pieces[1], (Piece{3, 512, {}, {}}));
  std::vector<std::byte> capture(900);
  ASSERT_TRUE(read_chunk(source_, piece, 0, base::ByteSpan(capture).first(512)));
  ASSERT_TRUE(read_chunk(source_, piece, 1, base::ByteSpan(capture).subspan(512)));
  for (std::size_t i = 0; i < 900; ++i) ASSERT_EQ(capture[i], static_cast<std::byte>((17 * i + 3) & 0xFF)) << i;
  EXPECT_TRUE(verify(source_, nullptr).empty());
}

/// Reads "0123  0a 0b  text" lines; the text does not begin with two hexadecimal digits and a blank.
std::optional<std::pair<std::size_t, std::vector<std::byte>>> bytes_of_line(const std::string& line) {
  if (line.find_first_not_of("0123456789abcdef") != 4 || line.substr(4, 2) != "  ") return std::nullopt;
  std::vector<std::byte> bytes;
  for (std::size_t at = 6; at + 2 <= line.size() && std::isxdigit(static_cast<unsigned char>(line[at])) != 0; at += 3)
    bytes.push_back(static_cast<std::byte>(std::stoul(line.substr(at, 2), nullptr, 16)));
  return std::pair(std::stoul(line.substr(0, 4), nullptr, 16), bytes);
}

TEST_F(SegmentV4, IsTheExampleOnThePage) {
  std::ifstream page(std::string(PERDURE_TEST_DATA) + "/../../docs/format/segment.md");
  std::vector<bool> shown(source_.size());
  std::string line;
  while (std::getline(page, line) && line != "### Of format 4") continue;
  while (std::getline(page, line)) {
    const auto said = bytes_of_line(line);
    for (std::size_t i = 0; said && i < said->second.size(); ++i) {
      ASSERT_LT(said->first + i, source_.size()) << line;
      EXPECT_EQ(source_.bytes()[said->first + i], said->second[i]) << line;
      shown[said->first + i] = true;
    }
  }
  for (std::size_t i = 0; i < source_.size(); ++i) {
    const bool in_data = i >= 4096 && i < 4996;  // the page leaves out most of it, and zeros
    EXPECT_TRUE(shown[i] || in_data || source_.bytes()[i] == std::byte{0}) << std::hex << i;
  }
}

}  // namespace
}  // namespace perdure::segment

#include "segment/segment.hpp"

#include <gtest/gtest.h>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "segment/chunk_ranges.hpp"
#include "segment/hashed_range.hpp"
#include "segment/little_endian.hpp"
#include "support/sample_segment.hpp"

namespace perdure::segment {
namespace {

const VersionId kLaidOutId{"nbody", 7, {1700000000123456789, 42}};

/// Decodes the manifest in memory, as if it were in a file where the trailer says.
base::Result<Manifest> decode_bytes(base::ConstByteSpan bytes, const Trailer& trailer, const std::string& object) {
  return decode_manifest(
      [&](std::uint64_t offset, base::ByteSpan target) -> base::Status {
        const std::uint64_t begin = offset - trailer.manifest_offset;
        if (begin > bytes.size() || target.size() > bytes.size() - begin)
          return base::fail(PERDURE_IO, object, "cut short");
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), target.size(), target.begin());
        return {};
      },
      trailer, object);
}

Manifest laid_out_sample() { return test_support::sample_manifest(kLaidOutId, 4, 1, 2, {2, 3}, 10000, 4096); }

void rehash(std::vector<std::byte>& block, std::size_t hash_offset) {
  const auto hash = base::hash128(base::ConstByteSpan(block).first(hash_offset)).bytes();
  std::copy(hash.begin(), hash.end(), block.begin() + static_cast<std::ptrdiff_t>(hash_offset));
}

TEST(SegmentHeader, SaysTheLowestFormatThatCanSayWhatTheManifestSays) {
  Manifest manifest = laid_out_sample();
  EXPECT_EQ(decode_header(encode_header(manifest), "x")->format, 1U);
  manifest.pieces[1] = test_support::attributed_piece(manifest.pieces[1]);
  lay_out(manifest);
  EXPECT_EQ(decode_header(encode_header(manifest), "x")->format, 2U);
  EXPECT_TRUE(check_header(encode_header(manifest), manifest, "x"));
  EXPECT_EQ(check_header(encode_header(manifest), laid_out_sample(), "x").error().cause,
            "header and manifest disagree about the format");
  EXPECT_EQ(check_header(encode_header(laid_out_sample()), manifest, "x").error().cause,
            "header and manifest disagree about the format");
}

TEST(LittleEndian, PutsTheLowestByteFirst) {
  std::vector<std::byte> block(8);
  put_le<std::uint32_t>(block, 2, 0x01020304);
  EXPECT_EQ(block[2], std::byte{4});
  EXPECT_EQ(block[5], std::byte{1});
  EXPECT_EQ(get_le<std::uint32_t>(block, 2), 0x01020304U);
  put_le<std::uint64_t>(block, 0, 0xFFEEDDCCBBAA9988);
  EXPECT_EQ(get_le<std::uint64_t>(block, 0), 0xFFEEDDCCBBAA9988);
}

TEST(Layout, PutsEveryChunkAtTheNextMultipleOf4096) {
  Manifest manifest = laid_out_sample();
  EXPECT_EQ(lay_out(manifest), 4096U + 2 * 3 * 4096);
  std::uint64_t expected = 4096;
  for (const Piece& piece : manifest.pieces) {
    for (const ChunkEntry& chunk : piece.chunks) {
      EXPECT_EQ(chunk.offset, expected);
      expected += 4096;
    }
  }
  manifest.pieces.clear();
  EXPECT_EQ(lay_out(manifest), 4096U);
}

TEST(Tail, EndsTheFileAtAMultipleOf4096WhateverTheManifestsLength) {
  for (std::size_t length = 0; length < 256; ++length) {
    Manifest manifest = laid_out_sample();
    manifest.writer = std::string(length, 'w');
    const std::uint64_t offset = lay_out(manifest);
    const auto tail = encode_tail(manifest, offset);
    EXPECT_EQ(tail.size() % 4096, 0U);
    auto trailer = decode_trailer(base::ConstByteSpan(tail).last(kTrailerBytes), offset + tail.size(), "x");
    ASSERT_TRUE(trailer) << trailer.error().text();
    auto decoded = decode_bytes(base::ConstByteSpan(tail).first(trailer->manifest_length), *trailer, "x");
    ASSERT_TRUE(decoded) << decoded.error().text();
    EXPECT_EQ(*decoded, manifest);
  }
}

TEST(Tail, HasAsManyBytesAsWasSaidAheadWhateverTheManifestsLength) {
  Manifest manifest = laid_out_sample();
  const std::uint64_t offset = lay_out(manifest);
  for (std::size_t length = 0; length < 4096; length += 16) {
    manifest.writer = std::string(length, 'w');
    ASSERT_EQ(encode_tail(manifest, offset).size(), tail_bytes(manifest, offset)) << length;
  }
}

TEST(HashedRange, HashesWhatIsLeftOfItAndReadsNothingBehind) {
  const std::vector<std::byte> file(200'000, std::byte{7});
  const ReadAt read = [&](std::uint64_t offset, base::ByteSpan target) -> base::Status {
    EXPECT_LE(offset + target.size(), 150'010U);
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(offset), target.size(), target.begin());
    return {};
  };
  HashedRange range(read, 10, 150'000);
  const auto hash = range.rest("x", "manifest");
  ASSERT_TRUE(hash) << hash.error().text();
  EXPECT_EQ(*hash, base::hash128(base::ConstByteSpan(file).subspan(10, 150'000)));
}

TEST(Header, SaysWhatTheManifestSays) {
  const Manifest manifest = laid_out_sample();
  const auto block = encode_header(manifest);
  ASSERT_EQ(block.size(), kHeaderBytes);
  EXPECT_TRUE(check_header(block, manifest, "x"));
  auto header = decode_header(block, "x");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->id, kLaidOutId);
  EXPECT_EQ(header->ranks, 4U);
  EXPECT_EQ(header->segment_index, 1U);
  EXPECT_EQ(header->segment_count, 2U);
  EXPECT_EQ(header->first_rank, 2U);
  EXPECT_EQ(header->last_rank, 3U);
}

TEST(Header, WithoutPiecesHasNoRanks) {
  Manifest manifest = laid_out_sample();
  manifest.pieces.clear();
  EXPECT_EQ(decode_header(encode_header(manifest), "x")->first_rank, kNoRank);
  EXPECT_TRUE(check_header(encode_header(manifest), manifest, "x"));
}

/// Returns the error of check_header if the 32-bit field at `offset` has another value and the block's hash is right
/// again.
base::Error changed_header(std::size_t offset, std::uint32_t value) {
  auto block = encode_header(laid_out_sample());
  put_le<std::uint32_t>(block, offset, value);
  rehash(block, 4080);
  auto status = check_header(block, laid_out_sample(), "file.pds");
  return status ? base::Error{PERDURE_OK, "", "accepted", "", false} : status.error();
}

TEST(CorruptHeader, MagicIsNoSegment) {
  EXPECT_EQ(changed_header(0, 0).cause, "not a Perdure segment: wrong magic at offset 0");
  EXPECT_EQ(changed_header(4, 0).code, PERDURE_CORRUPT);
}

TEST(CorruptHeader, NewerFormatIsUnsupportedAndSaysWhich) {
  const base::Error error = changed_header(8, 7);
  EXPECT_EQ(error.code, PERDURE_UNSUPPORTED);
  EXPECT_EQ(error.cause, "written by a newer Perdure (format 7, this one reads up to 4)");
  EXPECT_FALSE(error.remedy.empty());
}

TEST(CorruptHeader, FormatZeroDoesNotExist) {
  EXPECT_EQ(changed_header(8, 0).cause, "format version 0 at offset 8 does not exist");
}

TEST(CorruptHeader, ByteOrderOfAnotherMachineIsUnsupported) {
  const base::Error error = changed_header(12, 0x04030201);
  EXPECT_EQ(error.code, PERDURE_UNSUPPORTED);
  EXPECT_EQ(error.cause, "unknown byte order 0x4030201 at offset 12");
}

TEST(CorruptHeader, EveryFieldMustAgreeWithTheManifest) {
  const std::vector<std::pair<std::size_t, std::string>> fields = {
      {16, "version"}, {24, "attempt"}, {32, "attempt"},    {40, "ranks"},
      {44, "segment"}, {48, "segment"}, {52, "first rank"}, {56, "last rank"}};
  for (const auto& [offset, what] : fields)
    EXPECT_EQ(changed_header(offset, 1000).cause, "header and manifest disagree about the " + what);
}

TEST(CorruptHeader, NameOfAnotherCheckpoint) {
  Manifest other = laid_out_sample();
  other.id.name = "mbody";
  EXPECT_EQ(check_header(encode_header(other), laid_out_sample(), "x").error().cause,
            "header and manifest disagree about the name");
  EXPECT_EQ(changed_header(60, 129).cause, "name length 129 at offset 60 is above 128");
  EXPECT_EQ(changed_header(60, 0xFFFFFFFF).cause, "name length 4294967295 at offset 60 is above 128");
  EXPECT_EQ(changed_header(60, 0).cause, "name at offset 64 is not allowed");
  EXPECT_EQ(changed_header(64, 0x2F2F2F2F).cause, "name at offset 64 is not allowed");
}

TEST(CorruptHeader, ReservedBytesMustBeZero) {
  EXPECT_EQ(changed_header(2000, 1).cause, "reserved bytes of the header block are not zero");
  EXPECT_EQ(changed_header(4076, 1).cause, "reserved bytes of the header block are not zero");
  EXPECT_EQ(changed_header(188, 1).cause, "reserved bytes of the header block are not zero");
}

TEST(CorruptHeader, HashFindsEveryFlippedBit) {
  const auto good = encode_header(laid_out_sample());
  for (std::size_t i = 8; i < good.size(); ++i) {
    auto block = good;
    block[i] ^= std::byte{1};
    EXPECT_EQ(check_header(block, laid_out_sample(), "x").error().cause,
              "header block damaged: wrong hash at offset 4080")
        << i;
  }
}

TEST(CorruptHeader, CutShortIsRefused) { EXPECT_FALSE(decode_header(std::vector<std::byte>(100), "x")); }

class CorruptTrailer : public testing::Test {
 protected:
  CorruptTrailer() : manifest_(laid_out_sample()) {
    const std::uint64_t offset = lay_out(manifest_);
    const auto tail = encode_tail(manifest_, offset);
    file_bytes_ = offset + tail.size();
    trailer_.assign(tail.end() - static_cast<std::ptrdiff_t>(kTrailerBytes), tail.end());
  }
  std::string refusal(std::size_t offset, std::uint64_t value) {
    put_le<std::uint64_t>(trailer_, offset, value);
    rehash(trailer_, 48);
    auto result = decode_trailer(trailer_, file_bytes_, "file.pds");
    EXPECT_TRUE(result || result.error().code == PERDURE_CORRUPT);
    return result ? "accepted" : result.error().cause;
  }
  Manifest manifest_;
  std::vector<std::byte> trailer_;
  std::uint64_t file_bytes_ = 0;
};

TEST_F(CorruptTrailer, GoodOneIsAccepted) { EXPECT_EQ(refusal(40, file_bytes_), "accepted"); }

TEST_F(CorruptTrailer, Magic) {
  EXPECT_EQ(refusal(0, 0),
            "no trailer at offset " + std::to_string(file_bytes_ - 64) + ": the file is truncated or damaged");
}

TEST_F(CorruptTrailer, Hash) {
  trailer_[20] ^= std::byte{1};
  EXPECT_EQ(decode_trailer(trailer_, file_bytes_, "x").error().cause,
            "trailer damaged: wrong hash at offset " + std::to_string(file_bytes_ - 64));
}

TEST_F(CorruptTrailer, FileLength) {
  EXPECT_EQ(refusal(40, file_bytes_ + 4096), "the trailer at offset " + std::to_string(file_bytes_ - 64) +
                                                 " says the file has " + std::to_string(file_bytes_ + 4096) +
                                                 " bytes, it has " + std::to_string(file_bytes_));
}

TEST_F(CorruptTrailer, ManifestOffset) {
  EXPECT_EQ(refusal(8, 4097), "manifest offset 4097 is not a multiple of 4096 behind the header");
  EXPECT_EQ(refusal(8, 0), "manifest offset 0 is not a multiple of 4096 behind the header");
  EXPECT_NE(refusal(8, 4096).find("do not fit the file"), std::string::npos);
  EXPECT_NE(refusal(8, file_bytes_).find("do not fit the file"), std::string::npos);
  EXPECT_NE(refusal(8, 0xFFFFFFFFFFFFF000).find("do not fit the file"), std::string::npos);
}

TEST_F(CorruptTrailer, ManifestLength) {
  EXPECT_EQ(refusal(16, 0), "manifest length 0 is not between 1 and 2^30");
  EXPECT_EQ(refusal(16, 1ULL << 60), "manifest length 1152921504606846976 is not between 1 and 2^30");
  EXPECT_EQ(refusal(16, 0xFFFFFFFFFFFFFFFF), "manifest length 18446744073709551615 is not between 1 and 2^30");
  EXPECT_NE(refusal(16, 1ULL << 30).find("do not fit the file"), std::string::npos);
}

TEST_F(CorruptTrailer, SizesThatAreNone) {
  EXPECT_FALSE(decode_trailer(std::vector<std::byte>(8), 8192, "x"));
  EXPECT_FALSE(decode_trailer(trailer_, 64, "x"));
}

TEST(CorruptManifestBytes, HashAndLengthAreChecked) {
  const Manifest manifest = laid_out_sample();
  auto bytes = base::encode_cbor(base::Json::array({1, 2}));
  const Trailer trailer{8192, bytes.size(), base::hash128(bytes), 12288};
  EXPECT_NE(decode_bytes(bytes, trailer, "x").error().cause.find("not a map"), std::string::npos);
  bytes[0] ^= std::byte{1};
  EXPECT_EQ(decode_bytes(bytes, trailer, "x").error().cause, "manifest damaged: wrong hash, manifest at offset 8192");
  EXPECT_EQ(decode_bytes(base::ConstByteSpan(bytes).first(1), trailer, "x").error().code, PERDURE_IO)
      << "what cannot be read is not called damaged";
}

TEST(CorruptManifestBytes, HostileCborIsRefused) {
  const std::vector<std::vector<int>> hostile = {
      {0x9B, 0x10, 0, 0, 0, 0, 0, 0, 0},                       // an array of 2^60 items
      {0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},  // a map of 2^64 - 1
      {0x5B, 0x40, 0, 0, 0, 0, 0, 0, 0},                       // a byte string of 2^62
      {0x7B, 0x40, 0, 0, 0, 0, 0, 0, 0},                       // a text of 2^62
      {0x9F},
      {0xA1},
      {0xFF},
      {0xC0, 0x01},
      {0x01, 0x01}};
  for (const auto& values : hostile) {
    std::vector<std::byte> bytes;
    for (int value : values) bytes.push_back(static_cast<std::byte>(value));
    const Trailer trailer{8192, bytes.size(), base::hash128(bytes), 12288};
    auto result = decode_bytes(bytes, trailer, "x");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, PERDURE_CORRUPT);
  }
  const std::vector<std::byte> deep(100000, std::byte{0x81});
  const Trailer trailer{8192, deep.size(), base::hash128(deep), 12288};
  EXPECT_FALSE(decode_bytes(deep, trailer, "x"));
}

class CorruptChunk : public testing::Test {
 protected:
  CorruptChunk() : manifest_(laid_out_sample()), manifest_offset_(lay_out(manifest_)) {}
  std::string refusal() {
    auto status = check_ranges(manifest_, manifest_offset_, "x");
    return status ? "accepted" : status.error().cause;
  }
  ChunkEntry& chunk(std::size_t piece, std::size_t index) { return manifest_.pieces[piece].chunks[index]; }
  Manifest manifest_;
  std::uint64_t manifest_offset_;
};

TEST_F(CorruptChunk, GoodOnesAreAccepted) { EXPECT_EQ(refusal(), "accepted"); }

TEST_F(CorruptChunk, AnyOrderAndGapsAreAccepted) {
  std::swap(chunk(0, 0).offset, chunk(1, 1).offset);
  manifest_offset_ += 8192;
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(CorruptChunk, Unaligned) {
  chunk(1, 2).offset += 512;
  EXPECT_EQ(refusal(), "chunk 2 of rank 3: offset 25088 is not a multiple of 4096");
}

TEST_F(CorruptChunk, OverTheHeader) {
  chunk(0, 0).offset = 0;
  EXPECT_EQ(refusal(), "chunk 0 of rank 2: offset 0 overlaps the header");
}

TEST_F(CorruptChunk, OverTheManifest) {
  manifest_offset_ -= 4096;
  EXPECT_EQ(refusal(), "chunk 2 of rank 3: offset 24576 and length 1808 reach beyond the manifest's offset 24576");
  chunk(1, 2).offset = 0xFFFFFFFFFFFFF000;
  EXPECT_NE(refusal().find("reach beyond the manifest's offset"), std::string::npos);
}

TEST_F(CorruptChunk, OfGiantLength) {
  chunk(0, 1).length = 1ULL << 63;
  EXPECT_NE(refusal().find("chunk 1 of rank 2: offset 8192 and length 9223372036854775808 reach beyond"),
            std::string::npos);
}

TEST_F(CorruptChunk, OverAnotherChunk) {
  chunk(1, 0).offset = chunk(0, 2).offset;
  EXPECT_EQ(refusal(), "chunk 0 of rank 3: offset 12288 overlaps chunk 2 of rank 2");
}

TEST_F(CorruptChunk, OverTheFirstByteOfTheNextOne) {
  ASSERT_EQ(chunk(0, 0).offset + chunk(0, 0).length, chunk(0, 1).offset) << "without a gap";
  chunk(0, 0).length += 1;
  EXPECT_EQ(refusal(), "chunk 1 of rank 2: offset 8192 overlaps chunk 0 of rank 2");
}

TEST_F(CorruptChunk, WithAPlace) {
  chunk(1, 0).place = 1;
  EXPECT_EQ(refusal(), "chunk 0 of rank 3: place is 1, in a segment it is 0");
}

TEST(FileName, IsParsedBack) {
  for (std::uint32_t count : {1U, 2U, 9999U, 10000U, 4000000000U}) {
    const std::string name = file_name(count - 1, count, kLaidOutId.attempt);
    auto parsed = parse_file_name(name);
    ASSERT_TRUE(parsed) << name;
    EXPECT_EQ(parsed->index, count - 1);
    EXPECT_EQ(parsed->count, count);
    EXPECT_EQ(parsed->attempt, kLaidOutId.attempt);
  }
  EXPECT_EQ(file_name(0, 2, {1, 2}), "0000-of-0002.00000000000000010000000000000002.pds");
}

TEST(FileName, OfAnythingElseIsNone) {
  const std::string good = file_name(0, 2, {1, 2});
  for (const std::string& name :
       {std::string(), std::string("core"), "." + good, good + "~", good.substr(1), ".tmp-" + good,
        "+" + good.substr(1), std::string("00000-of-0002.00000000000000010000000000000002.pds"),
        std::string("0002-of-0002.00000000000000010000000000000002.pds"),
        std::string("0000-of-0000.00000000000000010000000000000002.pds"),
        std::string("0000-of-0002.0000000000000001000000000000000A.pds"),
        std::string("0000-of-9999999999.00000000000000010000000000000002.pds"),
        std::string("0000-of-0002.0000000000000001.pds"), std::string(5000, '0')})
    EXPECT_FALSE(parse_file_name(name)) << name;
}

}  // namespace
}  // namespace perdure::segment

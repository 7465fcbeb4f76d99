// Tests that exports round-trip between engines after a loss, and that malformed ones are refused.
#include "engine/recover/exported_pieces.hpp"

#include <gtest/gtest.h>

#include "support/sample_records.hpp"

namespace perdure::engine {
namespace {

BlockPlace place_of(std::uint8_t name, std::uint64_t offset) { return {{std::byte{name}, std::byte{0xff}}, offset}; }

/// A piece with three chunks, one of them unusable, and a part with two blocks, one of them missing.
ExportedPieces sample_export() {
  const auto id = test_support::sample_id(1);
  ExportedPieces heard;
  heard.address.assign(28, std::byte{5});
  heard.pieces.push_back({test_support::sample_piece(id, 2, 9000, 4096), {place_of(1, 0), {}, place_of(1, 8192)}});
  heard.parts.push_back({test_support::sample_redundancy_set(id, 5), {{{4, 0}, place_of(2, 1ULL << 40)}}});
  return heard;
}

void expect_export_refused(const ExportedPieces& told, const std::string& word) {
  const auto heard = decode_exported_pieces(encode(told));
  ASSERT_FALSE(heard) << word;
  EXPECT_EQ(heard.error().code, PERDURE_CORRUPT);
  EXPECT_NE(heard.error().text().find(word), std::string::npos) << heard.error().text() << " for " << word;
}

TEST(ExportedPiecesCodec, ComeBackAsTheyWere) {
  const ExportedPieces told = sample_export();
  const auto heard = decode_exported_pieces(encode(told));
  ASSERT_TRUE(heard) << heard.error().text();
  EXPECT_EQ(heard->address, told.address);
  ASSERT_EQ(heard->pieces.size(), 1U);
  EXPECT_EQ(heard->pieces[0].piece, told.pieces[0].piece);
  EXPECT_EQ(heard->pieces[0].places, told.pieces[0].places);
  ASSERT_EQ(heard->parts.size(), 1U);
  EXPECT_EQ(heard->parts[0].places, told.parts[0].places);
  const auto &came = heard->parts[0].redundancy_set, &went = told.parts[0].redundancy_set;
  EXPECT_EQ(came.id, went.id);
  EXPECT_EQ(came.members, went.members);
  EXPECT_EQ(came.kept, went.kept);
  EXPECT_EQ(encode(*heard), encode(told));
}

TEST(ExportedPiecesCodec, ANodeThatHasNothingExportsNothing) {
  const auto heard = decode_exported_pieces(encode(ExportedPieces{}));
  ASSERT_TRUE(heard);
  EXPECT_TRUE(heard->address.empty() && heard->pieces.empty() && heard->parts.empty());
}

TEST(ExportedPiecesCodec, ThereIsAPlaceForEachChunkAndForNoBlockThatIsNotKept) {
  ExportedPieces more = sample_export(), fewer = sample_export(), other = sample_export();
  more.pieces[0].places.emplace_back();
  expect_export_refused(more, "'places' has not one of each block");
  fewer.pieces[0].places.pop_back();
  expect_export_refused(fewer, "'places' has not one of each block");
  other.parts[0].places[{5, 0}] = place_of(2, 0);
  expect_export_refused(other, "'places' names a block that is not kept");
}

TEST(ExportedPiecesCodec, AGroupThatIsNoneIsRefused) {
  const auto refused = [](auto change, const std::string& word) {
    ExportedPieces heard = sample_export();
    change(heard.parts[0].redundancy_set);
    expect_export_refused(heard, word);
  };
  refused([](auto& set) { set.position = 3; }, "'position'");
  refused([](auto& set) { set.parities = 3; }, "'parities'");
  refused([](auto& set) { set.members.clear(); }, "'members'");
  refused([](auto& set) { set.members.resize(65); }, "'members'");
  refused([](auto& set) { set.members[1] = set.members[0]; }, "is at two positions");
  refused([](auto& set) { set.ranks = 2; }, "the version has 2 ranks");
  refused([](auto& set) { set.kept[{9, 64}] = {}; }, "'index'");
  refused([](auto& set) { set.id.version.name = "../x"; }, "'name'");
}

TEST(ExportedPiecesCodec, NamesAreNoLongerThanTheyMayBe) {
  ExportedPieces heard = sample_export();
  heard.address.resize(4096);
  heard.pieces[0].places[0]->memory.resize(4096);
  EXPECT_TRUE(decode_exported_pieces(encode(heard)));
  heard.pieces[0].places[0]->memory.resize(4097);
  expect_export_refused(heard, "'memory'");
  heard.pieces[0].places[0]->memory.clear();
  heard.address.resize(4097);
  expect_export_refused(heard, "'address'");
}

TEST(ExportedPiecesCodec, BytesThatEndEarlyOrGoOnAreRefused) {
  auto bytes = encode(sample_export());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    ASSERT_FALSE(decode_exported_pieces(base::ConstByteSpan(bytes).first(length))) << length;
  bytes.push_back({});
  EXPECT_FALSE(decode_exported_pieces(bytes));
}

}  // namespace
}  // namespace perdure::engine

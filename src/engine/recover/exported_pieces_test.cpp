// What nodes export to each other after a loss travels through the application: it round-trips, and nothing malformed
// is believed.
#include "engine/recover/exported_pieces.hpp"

#include <gtest/gtest.h>

#include "support/sample_records.hpp"

namespace perdure::engine {
namespace {

BlockPlace place_of(std::uint8_t name, std::uint64_t offset) { return {{std::byte{name}, std::byte{0xff}}, offset}; }

/// A piece of three chunks, of which one is not to be used, and a part with two blocks, of which one is not there.
ExportedPieces sample_loan() {
  const auto id = test_support::sample_id(1);
  ExportedPieces loan;
  loan.address.assign(28, std::byte{5});
  loan.pieces.push_back({test_support::sample_piece(id, 2, 9000, 4096), {place_of(1, 0), {}, place_of(1, 8192)}});
  loan.parts.push_back({test_support::sample_redundancy_set(id, 5), {{{4, 0}, place_of(2, 1ULL << 40)}}});
  return loan;
}

void expect_loan_refused(const ExportedPieces& lent, const std::string& word) {
  const auto loan = decode_exported_pieces(encode(lent));
  ASSERT_FALSE(loan) << word;
  EXPECT_EQ(loan.error().code, PERDURE_CORRUPT);
  EXPECT_NE(loan.error().text().find(word), std::string::npos) << loan.error().text() << " for " << word;
}

TEST(LoanCodec, ALoanComesBackAsItWasLent) {
  const ExportedPieces lent = sample_loan();
  const auto loan = decode_exported_pieces(encode(lent));
  ASSERT_TRUE(loan) << loan.error().text();
  EXPECT_EQ(loan->address, lent.address);
  ASSERT_EQ(loan->pieces.size(), 1U);
  EXPECT_EQ(loan->pieces[0].piece, lent.pieces[0].piece);
  EXPECT_EQ(loan->pieces[0].places, lent.pieces[0].places);
  ASSERT_EQ(loan->parts.size(), 1U);
  EXPECT_EQ(loan->parts[0].places, lent.parts[0].places);
  const auto &came = loan->parts[0].redundancy_set, &went = lent.parts[0].redundancy_set;
  EXPECT_EQ(came.id, went.id);
  EXPECT_EQ(came.members, went.members);
  EXPECT_EQ(came.kept, went.kept);
  EXPECT_EQ(encode(*loan), encode(lent));
}

TEST(LoanCodec, ANodeThatHasNothingLendsNothing) {
  const auto loan = decode_exported_pieces(encode(ExportedPieces{}));
  ASSERT_TRUE(loan);
  EXPECT_TRUE(loan->address.empty() && loan->pieces.empty() && loan->parts.empty());
}

TEST(LoanCodec, ThereIsAPlaceForEachChunkAndForNoBlockThatIsNotKept) {
  ExportedPieces more = sample_loan(), fewer = sample_loan(), other = sample_loan();
  more.pieces[0].places.emplace_back();
  expect_loan_refused(more, "'places' has not one of each block");
  fewer.pieces[0].places.pop_back();
  expect_loan_refused(fewer, "'places' has not one of each block");
  other.parts[0].places[{5, 0}] = place_of(2, 0);
  expect_loan_refused(other, "'places' names a block that is not kept");
}

TEST(LoanCodec, AGroupThatIsNoneIsRefused) {
  const auto refused = [](auto change, const std::string& word) {
    ExportedPieces loan = sample_loan();
    change(loan.parts[0].redundancy_set);
    expect_loan_refused(loan, word);
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

TEST(LoanCodec, NamesAreNoLongerThanTheyMayBe) {
  ExportedPieces loan = sample_loan();
  loan.address.resize(4096);
  loan.pieces[0].places[0]->memory.resize(4096);
  EXPECT_TRUE(decode_exported_pieces(encode(loan)));
  loan.pieces[0].places[0]->memory.resize(4097);
  expect_loan_refused(loan, "'memory'");
  loan.pieces[0].places[0]->memory.clear();
  loan.address.resize(4097);
  expect_loan_refused(loan, "'address'");
}

TEST(LoanCodec, BytesThatEndEarlyOrGoOnAreRefused) {
  auto bytes = encode(sample_loan());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    ASSERT_FALSE(decode_exported_pieces(base::ConstByteSpan(bytes).first(length))) << length;
  bytes.push_back({});
  EXPECT_FALSE(decode_exported_pieces(bytes));
}

}  // namespace
}  // namespace perdure::engine

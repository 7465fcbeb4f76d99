// Versions borrow segments from earlier ones.
#include "segment/borrowed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/system.hpp"
#include "segment/entry_codec.hpp"
#include "segment/manifest_codec.hpp"
#include "store/posix.hpp"
#include "store/posix_borrowed.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kDayNs = 24ULL * 3600 * 1'000'000'000;

class BorrowedTest : public testing::Test {
 protected:
  BorrowedTest() { EXPECT_TRUE(store_.prepare()); }
  static segment::VersionId version(std::uint64_t number, std::uint64_t created_ns = 0) {
    return {"image", number, {created_ns != 0 ? created_ns : os::wall_clock_ns() - 1000 + number, number}};
  }
  segment::Manifest manifest(const segment::VersionId& id, const std::vector<BorrowedSegment>& lent) {
    segment::Manifest all{id, 1, 0, 1, "test", {}, {}};
    segment::RegionEntry entry{0, 1, 5, segment::EntryKind::opaque};
    std::vector<segment::Borrowed> list;
    for (const auto& one : lent) list.push_back(one.described());
    segment::set_borrowed(entry, list);
    all.pieces = {{0, 4096, {entry}, {{0, 5, base::hash128(base::as_bytes(text_)), 0}}}};
    return all;
  }
  base::Status write(const segment::VersionId& id, const std::vector<BorrowedSegment>& lent = {}) {
    segment::Manifest all = manifest(id, lent);
    const std::uint64_t tail = segment::lay_out(all), bytes = tail + segment::tail_bytes(all, tail);
    PERDURE_TRY(auto sink, store_.begin(all, bytes));
    PERDURE_CHECK(sink->write(0, segment::encode_header(all)));
    std::vector<std::byte> content(tail - segment::kHeaderBytes);
    std::copy_n(base::as_bytes(text_).begin(), 5, content.begin());
    PERDURE_CHECK(sink->write(segment::kHeaderBytes, content));
    PERDURE_CHECK(sink->write(tail, segment::encode_tail(all, tail)));
    return sink->commit();
  }
  VersionListing listed(std::uint64_t number) {
    const auto all = store_.list("image").value();
    for (const auto& listing : all)
      if (listing.id.version == number) return listing;
    ADD_FAILURE() << "version " << number << " is not there";
    return {};
  }
  BorrowedSegment segment_of(std::uint64_t number) { return {number, listed(number).segments.at(0)}; }
  std::size_t files(std::uint64_t number) {
    std::error_code error;
    std::size_t count = 0;
    for (fs::directory_iterator at(directory_ / ("image/" + std::to_string(number)), error), end; !error && at != end;
         at.increment(error))
      ++count;
    return count;
  }
  const std::string text_ = "hello";
  test_support::TemporaryDirectory directory_;
  PosixStore store_{directory_.path()};
};

TEST_F(BorrowedTest, StayWhenTheirVersionIsRemovedAndGoWithTheLastWhoNeedsThem) {
  const auto one = version(1), two = version(2), three = version(3);
  ASSERT_TRUE(write(one));
  const auto lent = segment_of(1);
  ASSERT_TRUE(store_.lending()->borrow(two, lent));
  ASSERT_TRUE(store_.lending()->borrow(two, lent)) << "once more";
  ASSERT_TRUE(write(two, {lent}));
  ASSERT_TRUE(read_version(store_, listed(2)));
  ASSERT_TRUE(store_.remove(one));
  ASSERT_TRUE(read_version(store_, listed(2)));
  const auto kept = store_.lending()->borrowed(two).value();
  ASSERT_EQ(kept.size(), 1);
  EXPECT_EQ(kept[0].described().text(), lent.described().text());
  EXPECT_TRUE(segment::verify(*store_.open(kept[0].segment).value(), nullptr).empty());
  // From there it is lent again.
  ASSERT_TRUE(store_.lending()->borrow(three, kept[0]));
  ASSERT_TRUE(write(three, kept));
  ASSERT_TRUE(store_.remove(two));
  EXPECT_EQ(files(2), 0);
  EXPECT_TRUE(
      segment::verify(*store_.open(store_.lending()->borrowed(three).value().at(0).segment).value(), nullptr).empty());
  ASSERT_TRUE(store_.remove(three));
  EXPECT_EQ(files(3), 0);
}

TEST_F(BorrowedTest, ThatAreMissingMakeAVersionIncompleteAndAreNotPublishedWithout) {
  const auto one = version(1), two = version(2), three = version(3);
  ASSERT_TRUE(write(one));
  const auto lent = segment_of(1);
  const auto refused = write(two, {lent});
  ASSERT_FALSE(refused) << "it did not borrow what it says";
  EXPECT_THAT(refused.error().text(), HasSubstr("what it has of another version is not there"));
  EXPECT_EQ(store_.list("image").value().size(), 1);
  ASSERT_TRUE(store_.lending()->borrow(three, lent));
  ASSERT_TRUE(write(three, {lent}));
  fs::remove(directory_.path() + "/" + store_.lending()->borrowed(three).value().at(0).segment.path);
  const auto read = read_version(store_, listed(3));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, PERDURE_NOT_FOUND);
  EXPECT_THAT(read.error().cause, HasSubstr("incomplete"));
}

const base::Error kDamagedChunk{PERDURE_CORRUPT, "segment", "chunk 0 at offset 4096 is damaged", "", false};

// Otherwise images that nobody can resume would count, and retention would give up the last complete one.
TEST_F(BorrowedTest, ThatAreSetAsideMakeAllIncompleteThatBorrowedThem) {
  const auto one = version(1), two = version(2), three = version(3), four = version(4);
  ASSERT_TRUE(write(one));
  const auto lent = segment_of(1);
  for (const auto& borrower : {two, three}) {
    ASSERT_TRUE(store_.lending()->borrow(borrower, lent));
    ASSERT_TRUE(write(borrower, {lent}));
    ASSERT_TRUE(read_version(store_, listed(borrower.version)));
  }
  ASSERT_TRUE(write(four));
  ASSERT_TRUE(store_.quarantine(lent.segment, one, kDamagedChunk));
  EXPECT_EQ(store_.set_aside("image").value().size(), 1U);
  for (const auto& borrower : {two, three}) {
    EXPECT_TRUE(store_.lending()->borrowed(borrower)->empty());
    const auto read = read_version(store_, listed(borrower.version));
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().cause, HasSubstr("incomplete"));
  }
  EXPECT_TRUE(read_version(store_, listed(4)));
  EXPECT_TRUE(store_.quarantine(lent.segment, one, kDamagedChunk)) << "somebody else found the same damage";
}

TEST_F(BorrowedTest, AreSetAsideAlsoWhenTheirOwnVersionIsGone) {
  const auto one = version(1), two = version(2), three = version(3);
  ASSERT_TRUE(write(one));
  const auto lent = segment_of(1);
  for (const auto& borrower : {two, three}) {
    ASSERT_TRUE(store_.lending()->borrow(borrower, lent));
    ASSERT_TRUE(write(borrower, {lent}));
  }
  ASSERT_TRUE(store_.remove(one));
  const auto kept = store_.lending()->borrowed(three).value().at(0);
  ASSERT_TRUE(store_.quarantine(kept.segment, one, kDamagedChunk));
  EXPECT_EQ(store_.set_aside("image").value().size(), 1U);
  for (const auto& borrower : {two, three}) EXPECT_FALSE(read_version(store_, listed(borrower.version)));
}

// A version that was rewritten since is another file, and the borrowers of the earlier one lost nothing.
TEST_F(BorrowedTest, OfAnotherFileStayWhenASegmentIsSetAside) {
  const auto one = version(1), two = version(2);
  ASSERT_TRUE(write(one));
  const auto lent = segment_of(1);
  ASSERT_TRUE(store_.lending()->borrow(two, lent));
  ASSERT_TRUE(write(two, {lent}));
  const std::string path = directory_.path() + "/" + lent.segment.path;
  fs::copy_file(path, path + ".copy");
  fs::rename(path + ".copy", path);
  ASSERT_TRUE(store_.quarantine(segment_of(1).segment, one, kDamagedChunk));
  EXPECT_TRUE(read_version(store_, listed(2)));
}

// The process that set it aside was killed before the last step.
TEST_F(BorrowedTest, ThatAQuarantineLeftAreRemovedByWhoCleans) {
  const auto one = version(1), two = version(2);
  ASSERT_TRUE(write(one));
  const auto lent = segment_of(1);
  ASSERT_TRUE(store_.lending()->borrow(two, lent));
  ASSERT_TRUE(write(two, {lent}));
  const std::string borrowed = directory_.path() + "/" + store_.lending()->borrowed(two).value().at(0).segment.path;
  const std::string again = directory_ / "kept";
  fs::create_hard_link(borrowed, again);
  ASSERT_TRUE(store_.quarantine(lent.segment, one, kDamagedChunk));
  fs::rename(again, borrowed);
  ASSERT_TRUE(read_version(store_, listed(2))) << "as it was when the process was killed";
  ASSERT_TRUE(store_.clean([](const segment::VersionId&, std::uint32_t) { return false; }));
  EXPECT_FALSE(read_version(store_, listed(2)));
}

TEST_F(BorrowedTest, ThatAreCutOrAnotherSegmentMakeAVersionDamaged) {
  for (const bool cut : {true, false}) {
    const auto one = version(cut ? 1 : 11), two = version(cut ? 2 : 12), three = version(cut ? 3 : 13);
    ASSERT_TRUE(write(one));
    ASSERT_TRUE(write(three));
    const auto lent = segment_of(one.version);
    ASSERT_TRUE(store_.lending()->borrow(two, lent));
    ASSERT_TRUE(write(two, {lent}));
    const std::string path = directory_.path() + "/" + store_.lending()->borrowed(two).value().at(0).segment.path;
    if (cut) {
      fs::resize_file(path, fs::file_size(path) / 2);
    } else {
      fs::remove(path);
      fs::copy_file(directory_.path() + "/" + listed(three.version).segments.at(0).path, path);
    }
    EXPECT_EQ(read_version(store_, listed(two.version)).error().code, PERDURE_CORRUPT);
  }
}

TEST_F(BorrowedTest, OfWhatIsGoneOrElsewhereAreRefused) {
  ASSERT_TRUE(write(version(1)));
  auto lent = segment_of(1);
  ASSERT_TRUE(store_.remove(listed(1).id));
  EXPECT_EQ(store_.lending()->borrow(version(2), lent).error().code, PERDURE_NOT_FOUND);
  for (const char* path : {"", "image", "image/1", "/etc/passwd", "image/x/y", "../../etc/passwd", "a/1/b/c"}) {
    lent.segment.path = path;
    EXPECT_FALSE(store_.lending()->borrow(version(2), lent)) << path;
  }
  EXPECT_EQ(files(2), 0);
}

TEST_F(BorrowedTest, AreForgottenWithTheirName) {
  const auto one = version(1), two = version(2), three = version(3);
  ASSERT_TRUE(write(one));
  ASSERT_TRUE(store_.lending()->borrow(two, segment_of(1)));
  ASSERT_TRUE(write(two, {segment_of(1)}));
  ASSERT_TRUE(store_.lending()->borrow(three, segment_of(1)));  // never published
  ASSERT_TRUE(store_.forget("image", os::wall_clock_ns()));
  for (const std::uint64_t number : {1, 2, 3}) EXPECT_EQ(files(number), 0) << number;
}

TEST_F(BorrowedTest, OfWhoWasNeverPublishedAreCleanedADayLater) {
  const auto one = version(1), young = version(2), old = version(3, os::wall_clock_ns() - 2 * kDayNs),
             published = version(4, os::wall_clock_ns() - 2 * kDayNs);
  ASSERT_TRUE(write(one));
  for (const auto& id : {young, old, published}) ASSERT_TRUE(store_.lending()->borrow(id, segment_of(1)));
  ASSERT_TRUE(write(published, {segment_of(1)}));
  const auto residue = store_.residue().value();
  ASSERT_EQ(residue.size(), 1);
  EXPECT_EQ(residue[0].kind, Residue::Kind::temporary);
  EXPECT_EQ(residue[0].version, 3);
  ASSERT_TRUE(store_.clean([](const auto&, std::uint32_t) { return false; }));
  EXPECT_EQ(files(3), 1) << "its writer lives";
  ASSERT_TRUE(store_.clean([](const auto&, std::uint32_t) { return true; }));
  EXPECT_EQ(files(2), 1);
  EXPECT_EQ(files(3), 0);
  EXPECT_EQ(files(4), 2);
  EXPECT_THAT(store_.residue().value(), IsEmpty());
}

TEST_F(BorrowedTest, AreNoneOfAnotherAttempt) {
  const auto one = version(1), two = version(2);
  auto other = two;
  other.attempt.nonce = 99;
  ASSERT_TRUE(write(one));
  ASSERT_TRUE(store_.lending()->borrow(two, segment_of(1)));
  EXPECT_THAT(store_.lending()->borrowed(other).value(), IsEmpty());
  ASSERT_TRUE(store_.remove(other));
  EXPECT_EQ(store_.lending()->borrowed(two).value().size(), 1);
}

TEST(BorrowedNames, HaveOneSpelling) {
  const segment::Borrowed lent{7, {0, 1, {1000, 7}}};
  const std::string name = borrowed_name({5, 6}, lent);
  const auto parsed = parse_borrowed(name);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->borrower, (segment::Attempt{5, 6}));
  EXPECT_EQ(parsed->segment.text(), lent.text());
  for (std::size_t length = 0; length < name.size(); ++length) EXPECT_FALSE(parse_borrowed(name.substr(0, length)));
  for (std::size_t i = 0; i < name.size(); ++i) {
    std::string other = name;
    other[i] = other[i] == '-' ? '.' : 'Z';
    EXPECT_FALSE(parse_borrowed(other)) << other;
  }
  EXPECT_FALSE(parse_borrowed(name + "x"));
}

TEST(BorrowedEntries, ThatSayNonsenseAreDamage) {
  segment::Manifest manifest;
  manifest.pieces = {{0, 4096, {segment::RegionEntry{0, 1, 5, segment::EntryKind::opaque}}, {}}};
  auto& entry = manifest.pieces[0].regions[0];
  EXPECT_THAT(segment::borrowed_of(manifest, "it").value(), IsEmpty());
  std::vector<segment::Borrowed> list(segment::kMostBorrowed, segment::Borrowed{~0ULL >> 1, {0, 1, {~0ULL, ~0ULL}}});
  segment::set_borrowed(entry, list);
  EXPECT_EQ(segment::borrowed_of(manifest, "it").value().size(), segment::kMostBorrowed);
  EXPECT_TRUE(segment::check_attributes(entry)) << "as many as there may be fit";
  list.push_back(list.front());
  segment::set_borrowed(entry, list);
  EXPECT_EQ(segment::borrowed_of(manifest, "it").error().code, PERDURE_CORRUPT);
  for (const segment::AttributeValue& wrong :
       {segment::AttributeValue(std::int64_t{1}), segment::AttributeValue(std::string("x")),
        segment::AttributeValue(std::string("1-0000-of-0001.x.pds")), segment::AttributeValue(std::string(" "))}) {
    entry.attributes[std::string("borrows")] = wrong;
    EXPECT_EQ(segment::borrowed_of(manifest, "it").error().code, PERDURE_CORRUPT);
  }
}

}  // namespace
}  // namespace perdure::store

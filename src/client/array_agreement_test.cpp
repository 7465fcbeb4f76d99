// Ranks agree on their arrays, and a declaration that is refused leaves nothing behind.
#include "client/array_agreement.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "array/distribution.hpp"
#include "comm/counting_testing.hpp"
#include "support/thread_group.hpp"

namespace perdure::client {
namespace {

constexpr int kSharers = 4;
constexpr std::uint64_t kShared = 16;

/// One rank's regions, with memory for whole arrays of i8.
struct DeclaredHere {
  capture::RegionTable regions;
  std::vector<std::int64_t> memory = std::vector<std::int64_t>(kShared, 7), other = memory;  // memory of ids 1 and 2

  void protect(std::int32_t id, std::uint64_t begin, std::uint64_t end) {
    array::Box whole{1, {}, {kShared}}, box{1, {begin}, {end}};
    const segment::ArrayEntry array{
        {}, array::ElementType::parse("i8", "test").value(), segment::ArrayKind::global, whole, {}};
    auto* const at = reinterpret_cast<std::byte*>((id == 1 ? memory : other).data() + begin);
    const auto part = capture::ArrayPart::make(id, array, {}, {{box, at}}, true);
    ASSERT_TRUE(regions.protect(capture::region_of(part.value())));
  }
  std::uint64_t stored(std::int32_t id) const { return regions.find(id)->part->stored().count; }
};

/// All ranks change alike, so that the news of one rank are those of all.
base::Status agree_once(ArrayAgreement& agreement, comm::Communicator& comm, capture::RegionTable& regions) {
  const RegionNews news = agreement.news(regions);
  return agreement.agree(comm, news, ArrayAgreement::For::checkpoint, regions);
}

TEST(ArrayAgreement, OfADeclarationThatIsRefusedNothingIsKept) {
  std::mutex mutex;
  std::uint64_t stored_first = 0, stored_last = 0;
  std::set<std::string> refusals;
  test_support::ThreadGroup group(kSharers);
  group.run([&](const perdure_communicator& c) {
    const auto comm = comm::make_from_c(c).value();
    const auto rank = static_cast<std::uint64_t>(comm->rank());
    DeclaredHere mine;
    ArrayAgreement agreement(2);
    const auto own = [&](std::uint64_t more) {  // with some of the next rank's elements
      mine.protect(1, 4 * rank, std::min(4 * rank + 4 + more, kShared));
    };
    own(2);
    ASSERT_TRUE(agree_once(agreement, *comm, mine.regions));
    const std::uint64_t first = mine.stored(1);
    for (const std::uint64_t more : {2U, 1U}) {
      own(more);
      mine.protect(2, 0, kShared);  // three others have all of it, too
      const auto refused = agree_once(agreement, *comm, mine.regions);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, PERDURE_MISMATCH);
      ASSERT_TRUE(mine.regions.unprotect(2));
      own(2);
      const auto again = agree_once(agreement, *comm, mine.regions);
      EXPECT_TRUE(again) << again.error().text();
      const std::lock_guard guard(mutex);
      refusals.insert(refused.error().text());
      EXPECT_EQ(mine.stored(1), first);
    }
    mine.memory[4 * rank] = static_cast<std::int64_t>(rank);  // the rank before has this element, too
    EXPECT_FALSE(agree_once(agreement, *comm, mine.regions)) << "it compares no more";
    ASSERT_TRUE(mine.regions.unprotect(1));
    ASSERT_TRUE(agree_once(agreement, *comm, mine.regions)) << "and then there are no arrays";
    own(0);
    ASSERT_TRUE(agree_once(agreement, *comm, mine.regions));
    const std::lock_guard guard(mutex);
    stored_first += first;
    stored_last += mine.stored(1);
  });
  EXPECT_EQ(stored_first, kShared);
  EXPECT_EQ(stored_last, kShared);
  ASSERT_EQ(refusals.size(), 1U) << "one text, on all ranks";
  EXPECT_NE(refusals.begin()->find("rank 0 has elements of it that 3 other ranks have"), std::string::npos)
      << *refusals.begin();
}

/// The bytes that a rank hears when `ranks` ranks agree on a named array that they divide.
std::uint64_t heard_by_a_rank(int ranks, ArrayAgreement::For purpose) {
  std::mutex mutex;
  std::uint64_t most = 0;
  test_support::ThreadGroup group(ranks);
  group.run([&](const perdure_communicator& c) {
    unsigned count = 0;
    std::uint64_t heard = 0;
    comm::CountingCommunicator comm(comm::make_from_c(c).value(), count, &heard);
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    capture::RegionTable regions;
    std::vector<std::int64_t> memory(1);
    const array::Box whole{1, {}, {static_cast<std::uint64_t>(ranks)}}, box{1, {rank}, {rank + 1}};
    const segment::ArrayEntry array{{std::string(64, 'n'), std::string(64, 'u'), std::string(512, 'd')},
                                    array::ElementType::parse("i8", "test").value(),
                                    segment::ArrayKind::global,
                                    whole,
                                    {}};
    const auto part =
        capture::ArrayPart::make(1, array, {}, {{box, reinterpret_cast<std::byte*>(memory.data())}}, true);
    ASSERT_TRUE(regions.protect(capture::region_of(part.value())));
    ArrayAgreement agreement;
    const RegionNews news = agreement.news(regions);
    ASSERT_TRUE(news.declared.changed);
    const auto agreed = agreement.agree(comm, news, purpose, regions);
    ASSERT_TRUE(agreed) << agreed.error().text();
    const std::lock_guard guard(mutex);
    most = std::max(most, heard);
  });
  return most;
}

// At 524,288 ranks each byte that a rank tells is half a megabyte on all of them.
TEST(ArrayAgreement, OfTheOtherRanksARankHearsTheirBoxesOnly) {
  const auto few = heard_by_a_rank(2, ArrayAgreement::For::checkpoint);
  const auto many = heard_by_a_rank(10, ArrayAgreement::For::checkpoint);
  EXPECT_LE(many - few, 8U * 32) << "of each rank, its length included";
  EXPECT_EQ(heard_by_a_rank(10, ArrayAgreement::For::restore), heard_by_a_rank(2, ArrayAgreement::For::restore));
}

}  // namespace
}  // namespace perdure::client

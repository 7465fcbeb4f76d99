// The next restore brings segments that the store lost back from the node that still has them completely.
#include "client/store_losses.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "client/levels.hpp"
#include "client/ranks_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ranks = base::Runs<std::uint32_t>;
const std::set<segment::VersionId> kNothingExcluded;

segment::VersionId stored_id(std::uint64_t number) { return {"app", number, {1000 + number, 7}}; }

/// Node n of two has ranks 2n and 2n + 1 of four, in segment n of two.
NodeHolding node_holding(std::uint32_t node, std::uint64_t version) {
  const Ranks ranks({2 * node, 2 * node + 1});
  ToldVersion held{stored_id(version), 4, true, true, ranks, {}, {}, {}, {{node, 2, ranks}}};
  return {node, std::move(held)};
}

StoredVersionView store_view(std::uint64_t version, const std::vector<std::uint32_t>& segments) {
  StoredVersionView view{stored_id(version), 4, {}};
  for (const std::uint32_t index : segments)
    view.segments.push_back({{index, 2, stored_id(version).attempt, ""}, Ranks({2 * index, 2 * index + 1})});
  return view;
}

/// Gives the losses as "version@node: segments".
std::vector<std::string> losses(const std::vector<NodeHolding>& held, const StoreView& store, std::int64_t version = -1,
                                const std::set<segment::VersionId>& excluded = kNothingExcluded) {
  std::vector<std::string> told;
  for (const auto& loss : store_losses({held, {}, {}, {}}, store, {version, excluded})) {
    std::string text = std::to_string(loss.id.version) + "@" + std::to_string(loss.node) + ":";
    for (const std::uint32_t segment : loss.segments) text += " " + std::to_string(segment);
    EXPECT_EQ(loss.of_ranks, 4U);
    EXPECT_EQ(loss.ranks.list(), (std::vector<std::uint32_t>{2 * loss.node, 2 * loss.node + 1}));
    told.push_back(text);
  }
  return told;
}

TEST(StoreLoss, IsWhatANodeBroughtThereAndStillHoldsAndTheStoreHasNot) {
  const std::vector<NodeHolding> both{node_holding(0, 5), node_holding(1, 5)};
  EXPECT_THAT(losses(both, {{store_view(5, {0, 1})}}), IsEmpty());
  EXPECT_THAT(losses(both, {{store_view(5, {0})}}), ElementsAre("5@1: 1"));
  StoreView aside;
  aside.aside = {{stored_id(5), 1, 2}, {stored_id(5), 0, 2}, {stored_id(5), 0, 2}};  // one of them twice
  EXPECT_THAT(losses(both, aside), ElementsAre("5@0: 0", "5@1: 1"));
  EXPECT_THAT(losses({node_holding(1, 5), node_holding(1, 6)}, aside), ElementsAre("5@1: 1"));
  aside.versions = {store_view(5, {0, 1})};
  EXPECT_THAT(losses(both, aside), IsEmpty()) << "it was brought there again";
}

TEST(StoreLoss, IsNotWhatSomebodyRemoved) {
  EXPECT_THAT(losses({node_holding(0, 5), node_holding(1, 5)}, {}), IsEmpty());
  EXPECT_THAT(losses({node_holding(0, 5), node_holding(1, 5)}, {{store_view(5, {}), store_view(4, {0, 1})}}),
              IsEmpty());
  StoreView aside;  // the other one was intact when it was removed
  aside.aside = {{stored_id(5), 1, 2}, {stored_id(5), 1, 2}, {stored_id(6), 0, 2}, {stored_id(5), 0, 3}};
  EXPECT_THAT(losses({node_holding(0, 5), node_holding(1, 5)}, aside), IsEmpty());
  StoreView leaving{{store_view(5, {0}), store_view(6, {0})}};
  leaving.leaving = {stored_id(5)};
  EXPECT_THAT(losses({node_holding(1, 5), node_holding(1, 6)}, leaving), ElementsAre("6@1: 1"));
  leaving.aside = {{stored_id(5), 1, 2}};
  EXPECT_THAT(losses({node_holding(1, 5)}, leaving), ElementsAre("5@1: 1")) << "it was set aside";
}

// The other segment is still there.
TEST(StoreLoss, IsNotWhatGoesWhileTheStoreIsRead) {
  const test_support::TemporaryDirectory directory;
  const auto store = store::make_store(directory / "store").value();
  const store::SegmentRef gone{1, 2, stored_id(5).attempt, "app/gone"};
  StoreView view;
  view_stored(*store, {stored_id(5), 2, {gone}}, view);
  EXPECT_THAT(view.leaving, ElementsAre(stored_id(5)));
  EXPECT_FALSE(view.unreadable);
  EXPECT_THAT(view.versions, IsEmpty());
}

TEST(StoreLoss, IsNoneWhereItWasNotBroughtOrIsNotWholeOnTheNode) {
  const StoreView store{{store_view(5, {1})}};
  EXPECT_THAT(losses({node_holding(0, 5)}, store), ElementsAre("5@0: 0"));
  auto held = node_holding(0, 5);
  held.held.stored = false;
  EXPECT_THAT(losses({held}, store), IsEmpty()) << "it is on its way";
  held = node_holding(0, 5);
  held.held.committed = false;
  EXPECT_THAT(losses({held}, store), IsEmpty());
  held = node_holding(0, 5);
  held.held.held = Ranks({1});
  EXPECT_THAT(losses({held}, store), IsEmpty()) << "rank 0's slots are damaged, too";
}

TEST(StoreLoss, IsOfCandidatesInAStoreThatCanBeRead) {
  const std::vector<NodeHolding> two{node_holding(0, 5), node_holding(0, 6)};
  StoreView store{{store_view(6, {1}), store_view(5, {1})}};
  EXPECT_THAT(losses(two, store), ElementsAre("5@0: 0", "6@0: 0"));
  EXPECT_THAT(losses(two, store, 5), ElementsAre("5@0: 0"));
  EXPECT_THAT(losses(two, store, -1, {stored_id(6)}), ElementsAre("5@0: 0"));
  store.unreadable = base::Error{PERDURE_IO, "store", "no answer", "", true};
  EXPECT_THAT(losses(two, store), IsEmpty());
}

// A segment of the same index of another division of the version is another segment.
TEST(StoreLoss, TellsSegmentsByTheirIndexAndCount) {
  auto there = store_view(5, {0, 1});
  there.segments[0].ref.count = 1;
  EXPECT_THAT(losses({node_holding(0, 5)}, StoreView{{there}}), ElementsAre("5@0: 0"));
}

/// A job with two nodes of two ranks, which have no network.
class LostInTheStore : public JobOfThreads {
 protected:
  /// Versions 1 and 2 are complete in the store, and 2 on the nodes, when the job dies. Engines that end leave
  /// everything in place, because the store refused another name.
  void write_two() {
    os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store/other" + ":ENOSPC"));
    const test_support::InstalledHooks installed(full);
    on_ranks([&](Job& job) {
      auto other = attempt_at(job, 0);
      other.name = "other";
      capture::GeneratedSource source(kBytes, 7);
      VersionWriter writer(job, source);
      EXPECT_TRUE(agree(job.comm(), stage(writer, other)));
      EXPECT_TRUE(writer.commit());
      for (const std::int64_t version : {1, 2}) wait_for_store(job, write(job, version));
    });
    store_ = store::make_store(directory_ / "store").value();
  }
  store::VersionListing listing(std::uint64_t version) const {
    const auto all = store_->list("app").value();
    for (const auto& listing : all)
      if (listing.id.version == version) return listing;
    return {};
  }
  std::string file_of(const store::SegmentRef& segment) const { return directory_ / "store/" + segment.path; }
  /// Damages a byte of each of its segments: of a chunk, or of a table.
  void damage(std::uint64_t version, bool chunks) const {
    const auto stored = listing(version);
    for (const auto& segment : stored.segments) {
      const auto manifest = segment::read_manifest(*store_->open(segment).value()).value();
      const std::uint64_t at = chunks ? manifest.pieces[0].chunks[0].offset + 100 : 300;
      const auto file = os::File::open(file_of(segment), os::Open::read_write).value();
      std::vector<std::byte> byte(1);
      ASSERT_TRUE(file.read(at, byte));
      byte[0] ^= std::byte{1};
      ASSERT_TRUE(file.write(at, byte));
    }
  }
  bool is_whole(std::uint64_t version) const {
    const auto there = listing(version);
    return there.segments.size() == 2 && store::read_version(*store_, there);
  }
  static std::string reports_of(Job& job) {
    std::string reports;
    for (auto next = next_report(job); next; next = next_report(job)) reports += *next + "\n";
    return reports;
  }
  std::unique_ptr<store::Store> store_;
};

TEST_F(LostInTheStore, ComesBackForRanksThatRunElsewhereNow) {
  write_two();
  damage(2, true);
  more_ = "node.numbers=1,0";
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader);
    ASSERT_EQ(reader.id().version, 2U);
    std::vector<std::byte> bytes(kBytes);
    const auto read = reader.read(job.rank(), {0, kBytes}, bytes);
    EXPECT_EQ(read ? PERDURE_OK : read.error().code, job.rank() % 2 == 0 ? PERDURE_CORRUPT : PERDURE_OK);
    const auto found = reader.read_again();
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_TRUE(*found);
    reader.release();
    choose(reader);
    ASSERT_EQ(reader.id().version, 2U) << "both nodes have it whole";
    expect_reads(reader, job.rank(), 0, kBytes);
    EXPECT_EQ(reader.bytes_read().store, kBytes);
    reader.release();
    ASSERT_TRUE(job.comm().barrier());
    if (job.rank() == 0) {
      const std::string reports = reports_of(job);
      EXPECT_NE(reports.find("the store has 1 segment no more that this node brought there"), std::string::npos)
          << reports;
    }
  });
  EXPECT_TRUE(is_whole(2));
  EXPECT_EQ(store_->set_aside("app")->size(), 2U);
}

TEST_F(LostInTheStore, IsBroughtThereAgainWhereNobodyWaitsForIt) {
  write_two();
  ASSERT_TRUE(std::filesystem::remove(file_of(listing(2).segments.at(1))));
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader);
    ASSERT_EQ(reader.id().version, 2U);
    expect_reads(reader, job.rank(), 0, kBytes);
    EXPECT_EQ(reader.bytes_read().store, 0U);
    const auto id = reader.id();
    reader.release();
    wait_for_store(job, id);
  });
  EXPECT_TRUE(is_whole(2));
}

TEST_F(LostInTheStore, ComesBackWhereItsManifestsAreDamaged) {
  write_two();
  damage(2, false);
  more_ = "node.numbers=1,0";
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader);
    ASSERT_EQ(reader.id().version, 2U);
    expect_reads(reader, job.rank(), 0, kBytes);
    reader.release();
  });
  EXPECT_TRUE(is_whole(2));
  EXPECT_EQ(store_->set_aside("app")->size(), 2U);
}

// A user removes a version, for instance, to have room.
TEST_F(LostInTheStore, StaysAwayWhereSomebodyRemovedIt) {
  write_two();
  ASSERT_TRUE(store_->remove(listing(2).id));
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader, 2);
    ASSERT_EQ(reader.id().version, 2U);
    expect_reads(reader, job.rank(), 0, kBytes);
    const auto id = reader.id();
    reader.release();
    wait_for_store(job, id);
  });
  EXPECT_TRUE(listing(2).segments.empty());
  EXPECT_FALSE(listing(1).segments.empty());
}

}  // namespace
}  // namespace perdure::client

// The holdings of engines and the store decide which version a restore takes, and where its pieces come from. The tests
// also count the bytes that ranks exchange before a restore, at the size of large jobs. They use the real exchange and
// decisions, and count the memory that a rank takes, too. (docs/adr/0020)
#include "client/inventory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <thread>

#include "base/field_codec.hpp"
#include "client/agreement.hpp"
#include "client/nodes.hpp"
#include "plan/missing_segments.hpp"
#include "support/sanitized.hpp"
#include "support/thread_group.hpp"

namespace {

/// The memory of this thread, since count_memory().
thread_local std::int64_t memory_now = 0, memory_peak = 0;

void count_memory() { memory_now = memory_peak = 0; }

}  // namespace

// Sanitizers have allocators of their own, of more kinds; there make test leaves out tests that count memory
// (tools/test).
#if !PERDURE_ADDRESS_SANITIZER && !PERDURE_THREAD_SANITIZER
void* operator new(std::size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  memory_now += static_cast<std::int64_t>(malloc_usable_size(memory));
  memory_peak = std::max(memory_peak, memory_now);
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) memory_now -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#endif

namespace perdure::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = plan::PieceSource;
using Ranks = base::Runs<std::uint32_t>;

constexpr std::int64_t kMostMemory = 16 << 20;
constexpr std::uint64_t kChunksPerNode = 16'384;  // 128 GiB in chunks of 8 MiB
constexpr std::uint64_t kVersions = 3;

segment::VersionId version_id(std::uint64_t number) { return {"simulation", number, {1'000'000 + number, 77}}; }

/// A job with xor in groups of eight, all of whose nodes hold three versions; those that are lost have nothing.
struct LargeJob {
  std::uint32_t nodes, per_node;
  bool irregular = false;  ///< ranks have different numbers of chunks
  bool dealt = false;      ///< rank r runs on node r modulo the number of nodes
  std::set<std::uint32_t> lost = {};

  std::uint32_t ranks() const { return nodes * per_node; }
  std::uint32_t node_of(std::uint32_t rank) const { return dealt ? rank % nodes : rank / per_node; }
  std::vector<std::uint32_t> node_of_rank() const {
    std::vector<std::uint32_t> all;
    all.reserve(ranks());
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) all.push_back(node_of(rank));
    return all;
  }
  std::vector<std::uint32_t> ranks_of(std::uint32_t node) const {
    std::vector<std::uint32_t> here;
    for (std::uint32_t i = 0; i < per_node; ++i) here.push_back(dealt ? node + i * nodes : node * per_node + i);
    return here;
  }
  std::uint64_t chunks_of(std::uint32_t rank) const {
    const std::uint64_t each = kChunksPerNode / per_node;
    return irregular ? each / 2 + std::minstd_rand(rank + 1)() % each : each;
  }
  /// Makes a node's answer; the members of its group only if these will be told.
  ipc::Holdings holdings(std::uint32_t node, bool members_too = true) const {
    ipc::Holdings reply;
    reply.kept.emplace();
    if (lost.contains(node)) return reply;
    for (std::uint64_t v = 0; v < kVersions; ++v) {
      reply.held.push_back(
          {version_id(v), ranks(), ranks_of(node), true, false, {}, {}, {{node, nodes, ranks_of(node)}}});
      ipc::RedundancySummary kept{version_id(v), ranks(), 9, node / 8, "xor", 1, node % 8, {}, {}};
      for (std::uint32_t other = node / 8 * 8; other < node / 8 * 8 + 8; ++other) {
        auto& members = kept.members.emplace_back();
        if (!members_too) continue;
        for (const std::uint32_t rank : ranks_of(other)) members.push_back({rank, chunks_of(rank)});
      }
      reply.kept->push_back(std::move(kept));
    }
    return reply;
  }
};

/// Counts the bytes that one rank gets from the others.
class CountingBytes : public comm::Communicator {
 public:
  CountingBytes(std::unique_ptr<comm::Communicator> wrapped, std::uint64_t& bytes)
      : wrapped_(std::move(wrapped)), bytes_(bytes) {}
  int rank() const override { return wrapped_->rank(); }
  int size() const override { return wrapped_->size(); }
  base::Status barrier() override { return wrapped_->barrier(); }
  base::Status allreduce(std::span<std::uint64_t> values, comm::Reduce operation) override {
    bytes_ += values.size_bytes();
    return wrapped_->allreduce(values, operation);
  }
  base::Status allgather(base::ConstByteSpan mine, base::ByteSpan all) override {
    bytes_ += all.size();
    return wrapped_->allgather(mine, all);
  }
  base::Status broadcast(base::ByteSpan data, int root) override {
    bytes_ += data.size();
    return wrapped_->broadcast(data, root);
  }

 private:
  std::unique_ptr<comm::Communicator> wrapped_;
  std::uint64_t& bytes_;
};

/// The decision of one rank, from the messages of all nodes.
struct Decision {
  std::optional<segment::VersionId> chosen;
  std::vector<plan::PieceSource> sources;
  std::vector<plan::NodeQuestion> questions;  ///< questions of a leader whose node was lost
};

// Decides as a restore does (VersionReader::choose), from the inventories on.
Decision decide(comm::Communicator& comm, const comm::Speaker& leader, std::uint32_t node, const LargeJob& job,
                const std::vector<std::uint32_t>& node_of_rank, JobInventory all) {
  const StoreView store;
  const std::set<segment::VersionId> none;
  const Candidates candidates{-1, none};
  auto plans = plan_versions(all, store, node_of_rank, true);
  if (const auto needed = wanting(plans, all, candidates); !needed.empty()) {
    const auto mine = leader.number ? shares_to_tell(node, *job.holdings(node).kept, needed) : std::vector<ToldShare>();
    const auto gathered =
        gather_shares(comm, leader, mine, needed, leader.number.has_value(), all, store, node_of_rank, plans);
    EXPECT_TRUE(gathered) << gathered.error().text();
  }
  Decision decision{choose_version(plans, candidates), {}, {}};
  if (!decision.chosen) return decision;
  // The nodes that replace the lost ones are to write these segments.
  const auto missing = plan::lay_out_missing(known_parts(*decision.chosen, all, store), node_of_rank, {});
  EXPECT_TRUE(missing && missing->size() == job.lost.size());
  decision.sources = plans.of.at(*decision.chosen).pieces.of_rank;
  if (leader.number && job.lost.contains(node))
    decision.questions = nodes_to_ask(*decision.chosen, all, store, node_of_rank, job.ranks_of(node));
  return decision;
}

void expect_rebuilt(const Decision& decision, const LargeJob& job, std::uint32_t node, bool leads) {
  ASSERT_TRUE(decision.chosen);
  EXPECT_EQ(decision.chosen->version, kVersions - 1);
  ASSERT_EQ(decision.sources.size(), job.ranks());
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank)
    ASSERT_EQ(decision.sources[rank],
              job.lost.contains(job.node_of(rank)) ? plan::PieceSource::rebuild : plan::PieceSource::in_place);
  if (!leads || !job.lost.contains(node)) return;
  ASSERT_EQ(decision.questions.size(), 7U) << "the others of its group, and nobody else";
  for (const auto& question : decision.questions) {
    EXPECT_EQ(question.node / 8, node / 8);
    EXPECT_EQ(question.pieces, job.ranks_of(question.node));
    EXPECT_EQ(question.redundancy, job.ranks_of(node));
  }
}

// Runs a restore on ranks that are threads, on nodes of 128 GiB: the call, the inventories, the redundancy, the
// decision.
void restore_on_all_ranks(const LargeJob& job) {
  const auto node_of_rank = job.node_of_rank();
  test_support::ThreadGroup group(static_cast<int>(job.ranks()));
  std::vector<std::uint64_t> bytes(job.ranks());
  std::vector<std::int64_t> peaks(job.ranks());
  group.run([&](const perdure_communicator& c) {
    const auto rank = static_cast<std::uint32_t>(c.rank);
    const std::uint32_t node = job.node_of(rank);
    CountingBytes comm(comm::make_from_c(c).value(), bytes[rank]);
    count_memory();
    const auto nodes = find_nodes(comm, "node" + std::to_string(node));
    ASSERT_TRUE(nodes) << nodes.error().text();
    const comm::Speaker leader = nodes->speaker(c.rank);
    const auto told = leader.number ? base::encode_fields(holdings_to_tell(job.holdings(node), node, job.nodes))
                                    : std::vector<std::byte>();
    Opening opening{Operation::restore, "simulation", -1};
    opening.leader = leader;
    opening.bytes = told.size();
    const auto opened = open_collective(comm, opening, {});
    ASSERT_TRUE(opened);
    JobInventory all;
    ASSERT_TRUE(comm::tell_all(comm, leader, told, opened->bytes,
                               [&](std::size_t from, base::ConstByteSpan said) -> base::Status {
                                 PERDURE_TRY(auto holdings, base::decode_fields<ToldHoldings>(said, "inventory"));
                                 all.add(static_cast<std::uint32_t>(from), std::move(holdings));
                                 return {};
                               }));
    const auto decision = decide(comm, leader, node, job, node_of_rank, std::move(all));
    peaks[rank] = memory_peak;
    expect_rebuilt(decision, job, node, leader.number.has_value());
  });
  const std::uint64_t most_bytes = *std::max_element(bytes.begin(), bytes.end());
  const std::int64_t most_memory = *std::max_element(peaks.begin(), peaks.end());
  std::printf("%u ranks on %u nodes%s: %llu bytes told to each rank, %lld bytes of memory at most\n", job.ranks(),
              job.nodes, job.irregular ? ", irregular" : "", static_cast<unsigned long long>(most_bytes),
              static_cast<long long>(most_memory));
  EXPECT_LT(most_bytes, 512 << 10);
  EXPECT_LT(most_memory, kMostMemory);
}

TEST(InventoriesAtSize, Of512RanksOn8NodesTakeLittleMemoryOfEachRank) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  restore_on_all_ranks({8, 64, false, false, {3}});
  restore_on_all_ranks(
      {8, 16, true, true, {3}});  // 512 of them take half a minute; a larger job runs one rank at a time below
}

/// One rank of a job whose others are not there: it hears their messages.
class OneOfMany : public comm::Communicator {
 public:
  OneOfMany(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  base::Status barrier() override { return {}; }
  base::Status allreduce(std::span<std::uint64_t> values, comm::Reduce) override {
    EXPECT_LE(values.size_bytes(), std::max<std::size_t>(comm::kSliceBytes, 8 * said_.size()));
    if (next_ == 0 && values.size() == said_.size()) {  // lengths
      for (std::size_t i = 0; i < said_.size(); ++i) values[i] = said_[i].size();
      next_ = 1;
    } else {
      std::memcpy(values.data(), stream_.data() + at_, values.size_bytes());
      at_ += values.size_bytes();
    }
    heard_ += values.size_bytes();
    return {};
  }
  base::Status allgather(base::ConstByteSpan, base::ByteSpan) override { return {}; }
  base::Status broadcast(base::ByteSpan, int) override { return {}; }
  /// Sets the messages of all nodes.
  void say(std::vector<std::vector<std::byte>> said) {
    said_ = std::move(said);
    stream_.clear();
    at_ = next_ = 0;
    for (const auto& each : said_) {
      stream_.insert(stream_.end(), each.begin(), each.end());
      stream_.resize((stream_.size() + 7) / 8 * 8);
    }
  }
  std::uint64_t heard() const { return heard_; }

 private:
  int rank_, size_;
  std::vector<std::vector<std::byte>> said_;
  std::vector<std::byte> stream_;
  std::size_t at_ = 0;
  unsigned next_ = 0;
  std::uint64_t heard_ = 0;
};

// Restores after the loss of a rack of 64 nodes, of which no two are in one group, on one rank of a lost node. That is
// its leader or another one.
void restore_at_4096_nodes(LargeJob job, bool leads) {
  for (std::uint32_t i = 0; i < 64; ++i) job.lost.insert(i * 8 * (job.nodes / 512) + i % 8);
  const std::uint32_t node = *job.lost.rbegin();
  const auto node_of_rank = job.node_of_rank();
  OneOfMany comm(static_cast<int>(job.ranks_of(node)[leads ? 0 : job.per_node - 1]), static_cast<int>(job.ranks()));
  Wanting needed;
  for (std::uint64_t v = 0; v < kVersions; ++v) {
    auto& ranks = needed[version_id(v)];
    for (const std::uint32_t of : node_of_rank) ranks.push_back(job.lost.contains(of));
  }
  std::vector<std::vector<std::byte>> holdings, shares;
  for (std::uint32_t of = 0; of < job.nodes; ++of) {
    const bool concerned = std::any_of(job.lost.begin(), job.lost.end(), [&](auto lost) { return lost / 8 == of / 8; });
    const auto reply = job.holdings(of, concerned);
    holdings.push_back(base::encode_fields(holdings_to_tell(reply, of, job.nodes)));
    const auto told = concerned ? shares_to_tell(of, *reply.kept, needed) : std::vector<ToldShare>();
    shares.push_back(told.empty() ? std::vector<std::byte>() : base::encode_fields(told));
  }
  const comm::Speaker leader{job.nodes, leads ? std::optional<std::size_t>(node) : std::nullopt};
  comm.say(holdings);
  count_memory();
  const auto begun = std::chrono::steady_clock::now();
  JobInventory all;
  ASSERT_TRUE(comm::tell_all(comm, leader, leads ? holdings[node] : std::vector<std::byte>(),
                             [&](std::size_t from, base::ConstByteSpan said) -> base::Status {
                               PERDURE_TRY(auto told, base::decode_fields<ToldHoldings>(said, "inventory"));
                               all.add(static_cast<std::uint32_t>(from), std::move(told));
                               return {};
                             }));
  const std::uint64_t of_inventories = comm.heard();
  const std::int64_t before = memory_now;
  comm.say(std::move(shares));
  memory_now = before;  // the messages' own memory is not this rank's
  const auto decision = decide(comm, leader, node, job, node_of_rank, std::move(all));
  const std::int64_t peak = memory_peak;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::printf("%u nodes x %u%s%s: inventories %llu bytes, redundancy %llu, memory %lld, decided in %.0f ms\n",
              job.nodes, job.per_node, job.irregular ? ", irregular" : "", leads ? ", a leader" : "",
              static_cast<unsigned long long>(of_inventories),
              static_cast<unsigned long long>(comm.heard() - of_inventories), static_cast<long long>(peak),
              1e3 * took.count());
  EXPECT_LT(peak, kMostMemory);
  expect_rebuilt(decision, job, node, leads);
}

TEST(InventoriesAtSize, Of4096NodesTakeLittleMemoryOfEachRank) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  restore_at_4096_nodes({4096, 1}, true);
  restore_at_4096_nodes({4096, 128, true, true}, true);
}

// Redundancy of intact versions is not told.
TEST(Wanting, IsNothingWhereEverythingIsInPlaceAndTheLostGroupsOtherwise) {
  LargeJob job{1024, 4};
  const auto told = [&] {
    JobInventory all;
    for (std::uint32_t node = 0; node < job.nodes; ++node)
      all.add(node, holdings_to_tell(job.holdings(node), node, job.nodes));
    const std::set<segment::VersionId> none;
    const auto plans = plan_versions(all, {}, job.node_of_rank(), true);
    const auto needed = wanting(plans, all, {-1, none});
    std::size_t nodes = 0;
    for (std::uint32_t node = 0; node < job.nodes; ++node)
      nodes += shares_to_tell(node, *job.holdings(node).kept, needed).empty() ? 0 : 1;
    return std::pair(needed.size(), nodes);
  };
  EXPECT_EQ(told(), std::pair(std::size_t{0}, std::size_t{0}));
  job.lost = {9};
  EXPECT_EQ(told(), std::pair(std::size_t{kVersions}, std::size_t{7}));
  job.lost = {9, 10, 40};
  EXPECT_EQ(told(), std::pair(std::size_t{kVersions}, std::size_t{6 + 7}));
}

// A later version that is lost for good leaves the newest that every rank can have. Older ones are not told.
TEST(ChooseVersion, TakesWhatWasBegunLaterNotTheHigherNumberAndNeverTwoAttemptsMixed) {
  VersionPlans plans;
  const auto put = [&](std::uint64_t version, std::uint64_t time, std::uint64_t nonce, bool whole) {
    auto& pieces = plans.of[{"app", version, {time, nonce}}].pieces;
    if (!whole) pieces.lost = "gone";
  };
  std::set<segment::VersionId> excluded;
  const auto chosen = [&](std::int64_t version) { return choose_version(plans, {version, excluded}); };
  EXPECT_EQ(chosen(-1), std::nullopt);
  put(7, 10, 1, true);
  put(5, 20, 1, true);
  EXPECT_EQ(chosen(-1)->version, 5U) << "begun later";
  put(5, 30, 1, false);
  put(5, 30, 2, false);
  EXPECT_EQ(chosen(-1)->attempt.created_ns, 20U);
  put(5, 20, 9, true);
  EXPECT_EQ(chosen(5)->attempt.nonce, 9U);
  excluded.insert({"app", 5, {20, 9}});
  EXPECT_EQ(chosen(5)->attempt.nonce, 1U);
  excluded.insert({"app", 5, {20, 1}});
  EXPECT_EQ(chosen(-1)->version, 7U);
  EXPECT_EQ(chosen(5), std::nullopt);
}

/// Two ranks, each on a node of its own.
class PlanVersions : public testing::Test {
 protected:
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {100 * version, 1}}; }
  void hold(std::uint32_t node, std::uint64_t version, const std::vector<std::uint32_t>& ranks, std::uint32_t of = 2) {
    ToldVersion held;
    held.id = id(version);
    held.ranks = of;
    held.held = Ranks(ranks);
    held.committed = true;
    all_.held.push_back({node, held});
  }
  void store(std::uint64_t version, const std::vector<std::uint32_t>& ranks, std::uint32_t of = 2) {
    StoredVersionView view{id(version), of, {}};
    for (const std::uint32_t rank : ranks)
      view.segments.push_back({{rank, of, id(version).attempt, {}, {}}, Ranks({rank})});
    view_.versions.push_back(view);
  }
  VersionPlans plans(bool network) const { return plan_versions(all_, view_, {0, 1}, network); }
  std::vector<Kind> kinds(std::uint64_t version, bool network) const {
    const auto planned = plans(network);
    const auto plan = planned.of.find(id(version));
    return plan == planned.of.end() ? std::vector<Kind>() : plan->second.pieces.of_rank;
  }
  std::optional<std::uint64_t> chosen(std::int64_t version, const std::set<segment::VersionId>& excluded = {}) const {
    const auto found = choose_version(plans(true), {version, excluded});
    if (!found) return std::nullopt;
    EXPECT_EQ(*found, id(found->version));
    return found->version;
  }
  JobInventory all_;
  StoreView view_;
};

TEST_F(PlanVersions, TakesAPieceFromWhereItsRankRunsFromAnotherNodeAndFromTheStore) {
  hold(0, 1, {0});
  hold(0, 1, {1});
  store(2, {0, 1});
  EXPECT_THAT(kinds(1, true), ElementsAre(Kind::in_place, Kind::move));
  EXPECT_THAT(kinds(2, true), ElementsAre(Kind::store, Kind::store));
  EXPECT_TRUE(plans(true).of.at(id(1)).on_nodes);
  EXPECT_FALSE(plans(true).of.at(id(2)).on_nodes);
}

TEST_F(PlanVersions, WhereEnginesDoNotReachEachOtherARankHasWhatItsOwnNodeHas) {
  hold(0, 1, {0, 1});
  EXPECT_THAT(kinds(1, false), ElementsAre(Kind::in_place, Kind::nowhere));
  EXPECT_FALSE(plans(false).of.at(id(1)).on_nodes);
  const auto lost = plans(false).of.at(id(1)).pieces.lost;
  ASSERT_TRUE(lost);
  EXPECT_NE(lost->find("rank 1"), std::string::npos) << *lost;
  EXPECT_TRUE(plans(true).of.at(id(1)).pieces.whole());
  EXPECT_FALSE(to_fetch(Kind::in_place));
  EXPECT_TRUE(to_fetch(Kind::move)) << "it is on another node";
}

// A rank that runs elsewhere now gets nothing of it; a version that is not committed may never be complete.
TEST_F(PlanVersions, APieceInATemporarySegmentIsOfUseToTheRankOfThatNodeAlone) {
  hold(0, 1, {0});
  hold(1, 1, {});
  all_.held[1].held.spilled = Ranks({1});
  for (const bool network : {true, false})
    EXPECT_THAT(kinds(1, network), ElementsAre(Kind::in_place, Kind::in_place)) << network;
  all_.held[1].held.committed = false;
  EXPECT_THAT(kinds(1, true), ElementsAre(Kind::in_place, Kind::nowhere));
  all_.held[1].held.committed = true;
  all_.held[1].node = 0;
  EXPECT_THAT(kinds(1, true), ElementsAre(Kind::in_place, Kind::nowhere));
}

TEST_F(PlanVersions, VersionsOfOtherNumbersOfRanksAreNotTakenButTold) {
  hold(0, 1, {0}, 4);
  EXPECT_EQ(plans(false).other_ranks, 0U) << "it may be that of another job on this node";
  EXPECT_EQ(plans(true).other_ranks, 4U);
  EXPECT_THAT(plans(true).of, IsEmpty());
  all_.held.clear();
  store(2, {0, 1, 2}, 3);
  EXPECT_EQ(plans(false).other_ranks, 3U) << "the store's are the job's";
  view_.versions.clear();
  all_.kept.emplace_back(1, ToldKept{id(3), 8});
  EXPECT_EQ(plans(true).other_ranks, 8U);
  EXPECT_EQ(plans(false).other_ranks, 0U);
}

TEST_F(PlanVersions, TheNewestThatAllHaveIsTakenAndOnlyTheOneThatWasAskedFor) {
  for (const std::uint64_t version : {1, 2, 3}) hold(0, version, {0});
  for (const std::uint64_t version : {1, 2}) hold(1, version, {1});
  EXPECT_EQ(chosen(-1), 2U);
  EXPECT_EQ(chosen(1), 1U);
  EXPECT_EQ(chosen(3), std::nullopt) << "rank 1 has nothing of it";
  EXPECT_EQ(chosen(0), std::nullopt);
  EXPECT_EQ(chosen(-1, {id(2)}), 1U);
  EXPECT_EQ(chosen(2, {id(2)}), std::nullopt);
}

TEST_F(PlanVersions, SegmentsThatEnginesWillWriteAndThoseOfTheStoreAreKnown) {
  hold(0, 1, {0});
  all_.held[0].held.segments = {{0, 2, Ranks({0})}};
  hold(1, 2, {1});
  all_.held[1].held.segments = {{1, 2, Ranks({1})}};
  store(1, {1});
  const auto parts = known_parts(id(1), all_, view_);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_THAT(parts[0].ranks, ElementsAre(0U));
  EXPECT_THAT(parts[1].ranks, ElementsAre(1U));
  EXPECT_THAT(known_parts(id(3), all_, view_), IsEmpty());
}

}  // namespace
}  // namespace perdure::client

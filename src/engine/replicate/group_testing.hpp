#pragma once
// For tests: runs a group of nodes in one process, makes checkpoints, and checks the redundancy that each node keeps.
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "engine/ledger/node_state_testing.hpp"
#include "engine/replicate/replicator.hpp"
#include "redundancy/reference_testing.hpp"
#include "redundancy/registry.hpp"
#include "support/eventually.hpp"
#include "support/quiescent.hpp"

namespace perdure::engine {

using test_support::eventually;

/// True if no thread has anything to do, nor retries something soon.
[[nodiscard]] inline bool quiescent() { return test_support::quiescent({}, std::chrono::milliseconds(50)); }

/// Retries come at once, and captures are followed however small they are.
inline ReplicatorOptions group_options() {
  ReplicatorOptions options{2, 1'000'000};
  options.least_early_bytes = 0;
  return options;
}

/// A node's state over a file tier, and its ranks' chunks.
class GroupNode {
 public:
  explicit GroupNode(std::uint64_t slots, const char* kind = "file",
                     const ReplicatorOptions& options = group_options()) {
    const std::uint64_t room = kind == std::string("memory") ? 2 * base::MiB : kChunk;  // size of the smallest slot
    std::vector<std::unique_ptr<tier::Tier>> tiers;
    tiers.push_back(*tier::make_tier(kind, {0, directory_ / "tier", kChunk, slots * room}));
    ledger_ = std::make_unique<Ledger>(*catalog::Catalog::open(directory_.path()), std::move(tiers), reports_);
    {
      const auto held = ledger_->lock();
      core_ = &*held;
      EXPECT_TRUE(held->recover());
    }
    ReplicatorOptions all = options;
    all.busy = [this] { return busy_.load(); };
    replicator_ = std::make_unique<Replicator>(*ledger_, reports_, std::move(all), [] {});
  }
  /// Commits a piece of each rank, with so many chunks of random content; the last one is short.
  void checkpoint(const segment::VersionId& id, const std::vector<std::uint64_t>& chunks, std::uint32_t first_rank,
                  std::uint32_t ranks, std::mt19937_64& random) {
    const auto guard = ledger_->lock();
    std::vector<std::uint32_t> mine;
    for (const std::uint64_t count : chunks) {
      const auto rank = first_rank + static_cast<std::uint32_t>(mine.size());
      mine.push_back(rank);
      stage(id, rank, count, ranks, random);
    }
    EXPECT_TRUE(core_->held.commit({id, {{0, 1, mine}}}));
  }
  /// Commits a piece of one rank, which another node brings to the store.
  void receive(const segment::VersionId& id, std::uint64_t chunks, std::uint32_t rank, std::uint32_t ranks,
               std::mt19937_64& random) {
    const auto guard = ledger_->lock();
    stage(id, rank, chunks, ranks, random);
    EXPECT_TRUE(core_->held.commit({id, {}}));
  }
  /// Announces a capture of one rank with so many chunks; write() writes them one after the other.
  void begin(const segment::VersionId& id, std::uint32_t rank, std::uint64_t chunks, std::uint32_t ranks) {
    capture_ = {rank, kChunk, {{0, 1, chunks * kChunk}}, {}};
    ipc::Begin begin{id, ranks, capture_, {{0, 1, {rank}}}};
    for (std::uint64_t i = 0; i < chunks; ++i) begin.piece.chunks.push_back({0, kChunk, {}, 0});
    const auto guard = ledger_->lock();
    core_->grants.begin_capture(rank + 1, begin);
  }
  void write(const segment::VersionId& id, std::mt19937_64& random) {
    const auto guard = ledger_->lock();
    std::vector<std::byte> data(kChunk);
    for (auto& byte : data) byte = static_cast<std::byte>(random());
    const auto rank = capture_.rank;
    const auto granted = core_->grants.grant(rank + 1, {id, kChunk, 0, {}, {}});
    ASSERT_EQ(granted.kind, GrantOutcome::Kind::granted) << granted.error.text();
    base::Hasher hasher;
    ASSERT_TRUE(slots_.write(granted.address, 0, data, hasher));
    const auto number = static_cast<std::uint32_t>(capture_.chunks.size());
    capture_.chunks.push_back({granted.address.slot, kChunk, hasher.digest(), 0});
    ASSERT_TRUE(core_->writes.written(rank + 1, {id, rank, number, 0, granted.address.slot, kChunk, hasher.digest()}));
  }
  void commit(const segment::VersionId& id, std::uint32_t ranks) {
    const auto guard = ledger_->lock();
    ASSERT_TRUE(core_->held.stage(capture_.rank + 1, {id, ranks, capture_}));
    ASSERT_TRUE(core_->held.commit({id, {{0, 1, {capture_.rank}}}}));
  }
  void abort(const segment::VersionId& id) {
    const auto guard = ledger_->lock();
    ASSERT_TRUE(core_->held.abort(capture_.rank + 1, id));
  }
  base::Hash128 hash(const segment::ChunkEntry& chunk) { return base::hash128(content(chunk)); }
  std::vector<std::byte> content(const segment::ChunkEntry& chunk) {
    std::vector<std::byte> bytes(chunk.length);
    base::Hasher hasher;
    EXPECT_TRUE(slots_.read(core_->address(chunk), 0, bytes, hasher));
    return bytes;
  }
  std::uint64_t used() {
    const auto guard = ledger_->lock();
    const auto usage = core_->tiers()[0]->usage();
    return usage.slots - usage.free_slots;
  }
  /// Says whether other threads want this node's processors.
  void be_busy(bool busy) { busy_ = busy; }
  /// Only with lock() held, once the replicator has anything to do.
  NodeState& core() { return *core_; }
  /// Returns the present set under this id.
  std::optional<catalog::RedundancySet> redundancy_set(const catalog::RedundancyId& id) {
    const auto guard = ledger_->lock();
    const auto* found = core_->redundancy.find(id);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  Replicator& replicator() { return *replicator_; }
  Reports& reports() { return reports_; }
  Ledger::Access lock() { return ledger_->lock(); }
  void end() { replicator_->stop(); }
  tier::SlotIo& slots() { return slots_; }

 private:
  void stage(const segment::VersionId& id, std::uint32_t rank, std::uint64_t count, std::uint32_t ranks,
             std::mt19937_64& random) {
    segment::Piece piece{rank, kChunk, {}, {}};
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::vector<std::byte> data(i + 1 < count ? kChunk : 1 + random() % kChunk);
      for (auto& byte : data) byte = static_cast<std::byte>(random());
      const auto granted = core_->grants.grant(rank + 1, {id, data.size(), 0, {}, {}});
      ASSERT_EQ(granted.kind, GrantOutcome::Kind::granted) << granted.error.text();
      base::Hasher hasher;
      ASSERT_TRUE(slots_.write(granted.address, 0, data, hasher));
      piece.chunks.push_back({granted.address.slot, data.size(), hasher.digest(), 0});
      bytes += data.size();
    }
    piece.regions = {{0, 1, bytes}};
    ASSERT_TRUE(core_->held.stage(rank + 1, {id, ranks, piece}));
  }

  test_support::TemporaryDirectory directory_;
  Reports reports_;
  std::unique_ptr<Ledger> ledger_;
  NodeState* core_ = nullptr;  ///< inside the ledger
  tier::SlotIo slots_;
  segment::Piece capture_;
  std::atomic<bool> busy_ = false;
  std::unique_ptr<Replicator> replicator_;
};

/// Messages arrive at once, and all slots are files that everybody can read.
class DirectLink : public GroupLink {
 public:
  explicit DirectLink(std::vector<std::unique_ptr<GroupNode>>& nodes) : nodes_(nodes) {}
  void close() noexcept override {}
  base::Status send(unsigned position, base::ConstByteSpan message) override {
    return nodes_[position]->replicator().receive(message);
  }
  base::Result<BlockPlace> place(const tier::SlotAddress& slot) override {
    const auto* first = reinterpret_cast<const std::byte*>(slot.path.data());
    return BlockPlace{{first, first + slot.path.size()}, slot.offset};
  }
  std::optional<BlockView> view(unsigned, const BlockPlace&, std::uint64_t) override { return std::nullopt; }
  base::Status read(unsigned, const BlockPlace& place, std::uint64_t offset, base::ByteSpan target) override {
    tier::SlotAddress slot;
    slot.path.assign(reinterpret_cast<const char*>(place.memory.data()), place.memory.size());
    slot.offset = place.offset;
    slot.capacity = kChunk;
    base::Hasher hasher;
    return slots_.read(slot, offset, target, hasher);
  }

 private:
  std::vector<std::unique_ptr<GroupNode>>& nodes_;
  tier::SlotIo slots_;
};

struct GroupCase {
  const char* scheme;
  unsigned n, m;
  unsigned trouble;  // percent
};

/// A fixture for groups; derived fixtures choose the links.
class GroupFixtureBase : public testing::Test {
 protected:
  virtual std::shared_ptr<GroupLink> link(unsigned position) = 0;
  virtual Membership membership(unsigned position, std::uint64_t epoch) {
    return {epoch, scheme_, position, link(position)};
  }
  void make(const GroupCase& c, std::uint64_t seed, std::uint64_t slots = 64, const char* kind = "file") {
    random_.seed(seed);
    scheme_ = {*redundancy::find_scheme(c.scheme), c.n, c.m, 3};
    for (unsigned p = 0; p < c.n; ++p) nodes_.push_back(std::make_unique<GroupNode>(slots, kind, options_));
    join(7);
  }
  void TearDown() override {
    for (auto& node : nodes_) node->end();  // before the others, which its threads talk to
  }
  void join(std::uint64_t epoch) {
    for (unsigned p = 0; p < nodes_.size(); ++p) ASSERT_TRUE(nodes_[p]->replicator().join(membership(p, epoch)));
  }
  /// Makes a checkpoint of up to three ranks a node, each with up to five chunks.
  void checkpoint(const segment::VersionId& id) {
    std::vector<std::vector<std::uint64_t>> chunks(nodes_.size());
    std::uint32_t ranks = 0;
    for (auto& node : chunks)
      for (std::uint64_t left = 1 + random_() % 3; left > 0; --left, ++ranks) node.push_back(random_() % 6);
    std::uint32_t rank = 0;
    for (unsigned p = 0; p < nodes_.size(); ++p) {
      nodes_[p]->checkpoint(id, chunks[p], rank, ranks, random_);
      rank += static_cast<std::uint32_t>(chunks[p].size());
    }
    for (auto& node : nodes_) node->replicator().committed(id);
  }
  bool wait_reached(const segment::VersionId& id) {
    bool failed = false;
    const bool over = eventually(id.text() + " reaches its level at all nodes", [&] {
      bool all = true;
      for (auto& node : nodes_) {
        const auto state = node->replicator().state(id);
        if (state.failed) ADD_FAILURE() << state.failed->text();
        failed = failed || state.failed;
        // The catalog has it before the replicator is told. Until then the replicator does not act on it.
        all = all && state.reached && !state.under_way;
      }
      return all || failed;
    });
    return over && !failed;
  }
  std::optional<segment::ChunkEntry> block(const segment::VersionId& id, redundancy::Block block) {
    const auto guard = nodes_[block.position]->lock();
    const auto* held = guard->find(id);
    if (held == nullptr) return std::nullopt;
    std::vector<const segment::Piece*> pieces;
    std::vector<std::uint64_t> counts;
    for (const auto& [rank, piece] : held->pieces) pieces.push_back(&piece), counts.push_back(piece.chunks.size());
    const redundancy::BlockOrder order(counts);
    if (block.number >= order.count()) return std::nullopt;
    const auto where = order.chunk(block.number);
    return pieces[where.rank]->chunks[where.chunk];
  }
  std::vector<std::byte> data(const segment::VersionId& id, redundancy::Block which) {
    const auto chunk = block(id, which);
    return chunk ? nodes_[which.position]->content(*chunk) : std::vector<std::byte>();
  }
  /// Computes a redundancy block by the slow rule: term by term, symbol by symbol.
  std::vector<std::byte> expected(const segment::VersionId& id, unsigned position, catalog::BlockName name) {
    const auto map = scheme_.scheme->map(scheme_.members, scheme_.parities);
    std::vector<std::uint64_t> blocks(scheme_.members);
    for (unsigned p = 0; p < blocks.size(); ++p)
      while (block(id, {p, blocks[p]})) ++blocks[p];
    std::vector<std::byte> sum;
    for (const auto& kept : map->kept(position, blocks)) {
      if (catalog::BlockName{kept.stripe, kept.index} != name) continue;
      for (const auto& term : map->recipe(kept)) {
        const auto bytes = data(id, {term.item.position, term.item.number});
        sum.resize(std::max(sum.size(), bytes.size()));
        redundancy::reference::add_product(sum, term.factor, bytes);
      }
    }
    return sum;
  }
  /// Checks that every block of every node has redundancy blocks on other nodes, with the right content.
  void expect_protected(const segment::VersionId& id, std::uint64_t epoch) {
    for (unsigned p = 0; p < nodes_.size(); ++p) {
      const auto redundancy_set = nodes_[p]->redundancy_set({id, epoch});
      ASSERT_TRUE(redundancy_set);
      EXPECT_EQ(redundancy_set->members.size(), nodes_.size());
      EXPECT_EQ(redundancy_set->scheme, scheme_.scheme->name);
      EXPECT_EQ(redundancy_set->position, p);
      for (const auto& [name, chunk] : redundancy_set->kept) {
        EXPECT_EQ(nodes_[p]->content(chunk), expected(id, p, name)) << p << ": " << name.stripe << "." << name.index;
        EXPECT_EQ(nodes_[p]->hash(chunk), chunk.hash);
      }
      for (redundancy::Block own{p, 0}; block(id, own); ++own.number) expect_kept_elsewhere(id, epoch, own);
    }
  }
  void expect_kept_elsewhere(const segment::VersionId& id, std::uint64_t epoch, redundancy::Block own) {
    std::vector<std::pair<unsigned, catalog::BlockName>> where;
    for (const auto& kept :
         scheme_.scheme->map(scheme_.members, scheme_.parities)->kept_for({own.position, own.number}))
      where.push_back({kept.position, {kept.stripe, kept.index}});
    EXPECT_FALSE(where.empty());
    for (const auto& [position, name] : where) {
      EXPECT_NE(position, own.position);
      const auto redundancy_set = nodes_[position]->redundancy_set({id, epoch});
      ASSERT_TRUE(redundancy_set);
      EXPECT_TRUE(redundancy_set->kept.contains(name)) << position << ": " << name.stripe << "." << name.index;
    }
  }

  ReplicatorOptions options_ = group_options();
  std::mt19937_64 random_;
  GroupScheme scheme_;
  std::vector<std::unique_ptr<GroupNode>> nodes_;
  const segment::VersionId first_{"app", 1, {1, 1}}, second_{"app", 2, {2, 2}};
};

class GroupFixture : public GroupFixtureBase, public testing::WithParamInterface<GroupCase> {};

}  // namespace perdure::engine

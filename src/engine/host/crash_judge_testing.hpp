#pragma once
// For tests only: judges a state that a crash may leave. A node and its store must keep their promises, and a new
// engine must go on from there.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/host/crash_node_testing.hpp"
#include "os/file.hpp"
#include "segment/reader.hpp"
#include "support/crash_states.hpp"

namespace perdure::engine {

/// Text of a mark in the log.
inline std::string committed_mark(std::uint64_t version) { return "committed " + std::to_string(version); }
inline std::string stored_mark(std::uint64_t version) { return "stored " + std::to_string(version); }

/// Judges one state. A broken promise is a failure of the test.
class CrashJudge {
 public:
  using Versions = std::set<std::uint64_t>;
  static constexpr std::uint64_t kNext = 100;  ///< the version after the crash

  CrashJudge(const test_support::CrashState& state, CrashNode& node, std::string at)
      : state_(state), node_(node), at_(std::move(at)) {
    for (const std::string& promise : state.promises) {
      const std::size_t blank = promise.find(' ');
      (promise.starts_with("stored") ? stored_ : committed_).insert(std::stoull(promise.substr(blank + 1)));
    }
  }
  /// Requires the disk in the given state, and nobody that uses it.
  void judge() {
    expect_all_there(stored_, at_store(), "at the store");
    ASSERT_NO_FATAL_FAILURE(succeeded(node_.start(), "an engine starts"));
    ASSERT_NO_FATAL_FAILURE(succeeded(node_.connect(false), "its ranks connect"));
    ASSERT_NO_FATAL_FAILURE(judge_node());
    ASSERT_NO_FATAL_FAILURE(go_on());
    ASSERT_NO_FATAL_FAILURE(expect_nothing_left());
  }

 private:
  static void succeeded(const base::Status& status, const char* what) {
    ASSERT_TRUE(status) << what << ": " << status.error().text();
  }
  /// Retention may have removed versions that are not among the newest.
  bool given_up(std::uint64_t version, const Versions& there) const {
    const auto newer = std::distance(there.upper_bound(version), there.end());
    return static_cast<std::uint64_t>(newer) >= node_.shape().keep_last;
  }
  void expect_all_there(const Versions& promised, const Versions& there, const char* where) const {
    for (const std::uint64_t version : promised)
      EXPECT_TRUE(there.contains(version) || given_up(version, there)) << "version " << version << " is not " << where;
  }

  /// Returns the versions that the store has. Each listed one has to be whole: it is one segment, which is complete or
  /// invisible.
  Versions at_store() const {
    Versions whole;
    const auto store = node_.store();
    for (const auto& listing : store->list("app").value_or(std::vector<store::VersionListing>())) {
      EXPECT_EQ(listing.id, CrashNode::id(listing.id.version));
      const auto read = store::read_version(*store, listing);
      EXPECT_TRUE(read) << "the store lists what is partial: " << read.error().text();
      if (read) expect_content(*store, listing);
      whole.insert(listing.id.version);
    }
    return whole;
  }
  void expect_content(store::Store& store, const store::VersionListing& listing) const {
    const auto source = store.open(listing.segments.at(0));
    ASSERT_TRUE(source);
    const auto manifest = segment::read_manifest(**source);
    ASSERT_TRUE(manifest) << manifest.error().text();
    ASSERT_EQ(manifest->pieces.size(), node_.shape().ranks);
    for (const segment::Piece& piece : manifest->pieces)
      for (std::size_t c = 0; c < piece.chunks.size(); ++c) {
        std::vector<std::byte> bytes(piece.chunks[c].length);
        const auto read = segment::read_chunk(**source, piece, c, bytes);
        ASSERT_TRUE(read) << "the store offers what is damaged: " << read.error().text();
        ASSERT_TRUE(bytes == CrashNode::content(listing.id.version, piece.rank, c, bytes.size()));
      }
  }

  /// Judges the node's holdings as restarting ranks see them. The ranks settle versions whose outcome no rank knows.
  void judge_node() {
    const auto holdings = node_.call(ipc::Inventory{"app"});
    ASSERT_TRUE(holdings) << holdings.error().text();
    Versions in_slots;
    for (const ipc::HeldSummary& held : holdings->held) {
      bool all = held.held.size() == held.ranks;
      for (const std::uint32_t rank : held.held) all = offers(held.id, rank) && all;
      if (all) in_slots.insert(held.id.version);
      ASSERT_NO_FATAL_FAILURE(settle(held));
    }
    if (!state_.all_kept) return;
    for (const std::uint64_t version : committed_) {
      if (in_slots.contains(version) || at_store().contains(version)) continue;
      if (!given_up(version, at_store())) (void)node_.await_stored(version);  // a part of it is in no slot
    }
    Versions restorable = at_store();
    restorable.merge(in_slots);
    expect_all_there(committed_, restorable, "on the node or at the store");
  }
  /// True if the rank's piece can be restored from its slots. Wrong bytes have another hash. The death of processes
  /// alone causes none.
  bool offers(const segment::VersionId& id, std::uint32_t rank) {
    const auto located = node_.call(ipc::Locate{id, rank}, rank);
    if (!located) return false;  // it may be in the store by now, and too old to be kept here
    bool good = true;
    for (std::size_t c = 0; c < located->slots.size(); ++c) {
      const segment::ChunkEntry& chunk = located->piece.chunks[c];
      base::Hasher hasher;
      std::vector<std::byte> bytes(chunk.length);
      const bool read = node_.read(located->slots[c], bytes, hasher).has_value();
      const bool right = bytes == CrashNode::content(id.version, rank, c, chunk.length);
      const bool believed = read && hasher.digest() == chunk.hash;
      EXPECT_TRUE(right || !believed) << id.text() << ", rank " << rank << ": its hash does not find that it is wrong";
      EXPECT_TRUE(believed || !state_.all_kept) << id.text() << ", rank " << rank << ": it is not in its slot";
      good = good && believed;
    }
    EXPECT_TRUE(node_.call(ipc::Unpin{}, rank));
    return good;
  }
  /// Acts as ranks that find all of it on one node, or only a part.
  void settle(const ipc::HeldSummary& held) {
    if (held.committed) return;
    const bool whole = held.held.size() + held.spilled.size() == held.ranks;
    if (!whole) return succeeded_call(node_.call(ipc::Abort{held.id}), "what is partial is given up");
    succeeded(node_.commit(held.id), "what is whole is agreed on");
    committed_.insert(held.id.version);
  }
  template <class Reply>
  static void succeeded_call(const Reply& reply, const char* what) {
    ASSERT_TRUE(reply) << what << ": " << reply.error().text();
  }

  /// The next launch takes its checkpoint, which is stored and retires older ones.
  void go_on() {
    ASSERT_NO_FATAL_FAILURE(succeeded(node_.connect(true), "the ranks of the next launch connect"));
    ASSERT_NO_FATAL_FAILURE(succeeded(take_next(), "a new engine takes a checkpoint"));
    ASSERT_NO_FATAL_FAILURE(succeeded(node_.await_stored(kNext), "it gets to the store"));
    ASSERT_NO_FATAL_FAILURE(succeeded(node_.drain(), "all is at the store or retired"));
    const Versions there = at_store();
    EXPECT_TRUE(there.contains(kNext));
    EXPECT_LE(there.size(), node_.shape().keep_last);
    expect_all_there(stored_, there, "at the store any more");
    if (state_.all_kept) expect_all_there(committed_, there, "at the store in the end");
    node_.stop();
  }
  // A damaged version keeps its slots until a newer one is in the store. If it has all the slots, people have to drop
  // the node's versions, as by perdure prune --node (docs/known-defects.md).
  base::Status take_next() {
    auto taken = node_.checkpoint(kNext);
    const bool full = !taken && taken.error().code == PERDURE_NO_SPACE;
    if (!full || state_.all_kept || !node_.shape().through) return taken;
    node_.stop();
    for (const char* place : {"/node", "/file"}) {
      PERDURE_TRY(const auto entries, os::list_directory(at_ + place));
      for (const auto& entry : entries) PERDURE_CHECK(os::remove_tree(at_ + place + "/" + entry.name));
    }
    PERDURE_CHECK(node_.start());
    PERDURE_CHECK(node_.connect(true));
    return node_.checkpoint(kNext);
  }
  std::vector<std::string> residue() const {
    std::vector<std::string> paths;
    const auto found = node_.store()->residue();
    EXPECT_TRUE(found) << found.error().text();
    for (const auto& one : found.value_or(std::vector<store::Residue>())) paths.push_back(one.path);
    return paths;
  }
  /// Temporary segments that no catalog knows are removed when the next engine looks, once a newer version is whole.
  void expect_nothing_left() {
    if (!state_.all_kept && !residue().empty()) {
      ASSERT_NO_FATAL_FAILURE(succeeded(node_.start(), "one more engine starts"));
      ASSERT_NO_FATAL_FAILURE(succeeded(node_.connect(true), "its ranks connect"));
      ASSERT_NO_FATAL_FAILURE(succeeded(node_.drain(), "it cleans the store"));
      node_.stop();
    }
    EXPECT_EQ(residue(), std::vector<std::string>()) << "at the store";
    for (const char* place : {"/node", "/file"})
      for (const auto& entry : os::list_directory(at_ + place).value_or(std::vector<os::Entry>()))
        ADD_FAILURE() << "left on the node: " << place << "/" << entry.name;
  }

  const test_support::CrashState& state_;
  CrashNode& node_;
  const std::string at_;
  Versions committed_, stored_;
};

}  // namespace perdure::engine

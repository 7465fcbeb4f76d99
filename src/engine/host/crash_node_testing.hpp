#pragma once
// For tests only: keeps a node and its store below one directory. The engine and its ranks are in this process, and
// slots are files, so all their writes are on the disk that a test records.
#include <cstring>

#include "engine/host/engine.hpp"
#include "ipc/channel.hpp"
#include "store/store.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

/// The content of each version, and the room for versions.
struct CrashShape {
  std::uint32_t ranks = 2;
  std::vector<std::uint64_t> chunks = {3000};  ///< of each rank; all but the last are full
  std::uint64_t slots = 4;                     ///< slots of the tier
  std::uint64_t keep_last = 1;
  bool through = false;  ///< the engine is told of a capture when it begins, and flushes chunks as they are written
};

class CrashNode {
 public:
  static constexpr std::uint64_t kCrashChunk = 64 * base::KiB, kLimitNs = 60'000'000'000;

  CrashNode(std::string at, CrashShape shape) : at_(std::move(at)), shape_(std::move(shape)) {}
  const CrashShape& shape() const { return shape_; }
  std::unique_ptr<store::Store> store() const { return store::make_store(at_ + "/store").value(); }
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {version * 1000, version}}; }
  /// Returns the captured bytes. They follow from the arguments, so whatever is found can be judged.
  static std::vector<std::byte> content(std::uint64_t version, std::uint32_t rank, std::size_t chunk,
                                        std::uint64_t bytes) {
    std::vector<std::byte> made(bytes);
    std::uint64_t word = version * 1'000'003 + rank * 1009 + chunk + 1;
    for (std::uint64_t i = 0; i < bytes; i += sizeof word) {
      word = word * 6364136223846793005ULL + 1442695040888963407ULL;
      std::memcpy(made.data() + i, &word, std::min<std::uint64_t>(sizeof word, bytes - i));
    }
    return made;
  }

  base::Status start() {
    config::Config config;
    PERDURE_CHECK(config.set_all(
        "store.path=" + at_ + "/store;node.path=" + at_ + "/node;tier.file.path=" + at_ +
            "/file;tier.order=file;chunk_bytes=64KiB;catalog.compact_above=1KiB;flush.retry_initial=0.001;"
            "flush.retry_max=0.01;tier.file.max_bytes=" +
            std::to_string(shape_.slots * kCrashChunk) + ";retention.keep_last=" + std::to_string(shape_.keep_last),
        config::Origin::program));
    fingerprint_ = config.fingerprint();
    PERDURE_TRY(auto claimed, claim(config, "here"));
    PERDURE_TRY(engine_, Engine::start(config, std::get<Claim>(std::move(claimed)), false));
    return {};
  }
  /// Connects the ranks of a launch. Old versions are removed from the store only with `retention`.
  base::Status connect(bool retention) {
    ranks_.clear();
    for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
      ipc::Hello hello;
      hello.fingerprint = fingerprint_;
      hello.rank = rank;
      hello.first_node = retention;
      PERDURE_TRY(auto channel, ipc::Channel::connect(engine_->socket_path()));
      PERDURE_CHECK(channel.call(hello, kLimitNs));
      ranks_.push_back(std::move(channel));
    }
    return {};
  }
  void stop() {
    ranks_.clear();
    engine_.reset();
    slots_.clear();
  }

  template <class Message>
  auto call(const Message& message, std::uint32_t rank = 0) {
    return ranks_.at(rank).call(message, kLimitNs);
  }
  base::Status stage(std::uint64_t version, std::uint32_t rank) {
    segment::Piece piece{rank, kCrashChunk, {{0, 1, 0}}, {}};
    for (const std::uint64_t bytes : shape_.chunks) {
      piece.regions[0].count += bytes;
      piece.chunks.push_back({0, bytes, {}, 0});
    }
    if (shape_.through) PERDURE_CHECK(ranks_[rank].tell(ipc::Begin{id(version), shape_.ranks, piece, segments()}));
    for (std::uint32_t chunk = 0; chunk < piece.chunks.size(); ++chunk)
      PERDURE_CHECK(write(version, rank, chunk, piece.chunks[chunk]));
    PERDURE_CHECK(call(ipc::Stage{id(version), shape_.ranks, piece}, rank));
    return {};
  }
  base::Status commit(const segment::VersionId& version) {
    PERDURE_CHECK(call(ipc::Commit{version, segments()}));
    return {};
  }
  /// All ranks capture the version and agree on it.
  base::Status checkpoint(std::uint64_t version) {
    for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) PERDURE_CHECK(stage(version, rank));
    return commit(id(version));
  }
  /// Waits until this node's part of it is in the store.
  base::Status await_stored(std::uint64_t version) {
    PERDURE_TRY(const auto outcome, call(ipc::WaitStored{id(version), 0}));
    return outcome.held ? base::Status() : base::fail(PERDURE_NOT_FOUND, id(version).text(), "nothing of it is held");
  }
  base::Status drain() {
    PERDURE_TRY(const auto drained, call(ipc::Drain{0}));
    const bool all = drained.done && drained.remaining == 0;
    return all ? base::Status() : base::fail(PERDURE_INCOMPLETE, drained.which, "it stays on the node: " + drained.why);
  }
  base::Status read(const ipc::SlotAddress& slot, base::ByteSpan target, base::Hasher& hasher) {
    return slots_.read(address(slot), 0, target, hasher);
  }

 private:
  static tier::SlotAddress address(const ipc::SlotAddress& slot) {
    return {slot.tier, slot.slot, slot.path, slot.offset, slot.capacity, slot.mapped, slot.fresh, slot.access};
  }
  std::vector<ipc::PlannedSegment> segments() const {
    ipc::PlannedSegment all{0, 1, {}};
    for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) all.ranks.push_back(rank);
    return {all};
  }
  base::Status write(std::uint64_t version, std::uint32_t rank, std::uint32_t number, segment::ChunkEntry& chunk) {
    PERDURE_TRY(const auto granted, call(ipc::Grant{id(version), chunk.length, kLimitNs, {}, {}}, rank));
    base::Hasher hasher;
    PERDURE_CHECK(slots_.write(address(granted.slot), 0, content(version, rank, number, chunk.length), hasher));
    chunk = {granted.slot.slot, chunk.length, hasher.digest(), granted.slot.tier};
    PERDURE_CHECK(call(
        ipc::AwaitWritten{{id(version), rank, number, granted.slot.tier, granted.slot.slot, chunk.length, chunk.hash}},
        rank));
    return {};
  }

  const std::string at_;
  const CrashShape shape_;
  std::string fingerprint_;
  std::unique_ptr<Engine> engine_;
  std::vector<ipc::Channel> ranks_;
  tier::SlotIo slots_;
};

}  // namespace perdure::engine

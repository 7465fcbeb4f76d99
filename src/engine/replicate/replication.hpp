#pragma once
// A state machine drives the redundancy of one version on one node in one launch: events go in, actions come out. Pure:
// no thread, no message, no clock, no slot. Answers may come in any order, messages twice (docs/adr/0014).
#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "engine/replicate/replication_table.hpp"

namespace perdure::engine {

struct ReplicationOptions {
  unsigned threads = 1;                    ///< blocks that are encoded at the same time
  std::uint64_t retry_ns = 200'000'000;    ///< delay after a position could not be reached, or there was no room
  std::uint64_t hold_ns = 10'000'000'000;  ///< the longest that the flush waits for level node; 0: it does not wait
};

/// When an event happens.
struct Moment {
  std::uint64_t now_ns = 0;
  bool busy = false;  ///< other threads want the processors, so uncommitted versions wait
};

/// The holder of the slots of blocks that were made here.
enum class BlockOwner : std::uint8_t { replication, record_under_way, catalog, nobody };
/// The known content of the store. `own_part`: all pieces of this node's ranks.
enum class StoreHas : std::uint8_t { nothing, own_part, whole };
/// Progress of parities at a server; only position 0 orders. `heard`: position 0 reported that they are there.
enum class ServerOrder : std::uint8_t { none, wanted, under_way, ask_again, kept, dropped, heard };
enum class WithdrawnBy : std::uint8_t { nobody, this_node, peer };

/// The last message of another position.
enum class PeerSaid : std::uint8_t { nothing, announced, recorded, stored, withdrew };
/// The messages that another position has acknowledged, in this order.
enum class PeerKnows : std::uint8_t { nothing, announced, recorded, server_keeps, stored, withdrawn };
/// The message to it that is in flight.
enum class MessageUnderWay : std::uint8_t { none, announce, offer, keeps, server_keeps, stored, withdraw };

struct PeerProgress {
  PeerSaid said = PeerSaid::nothing;
  PeerKnows knows = PeerKnows::nothing;
  MessageUnderWay sending = MessageUnderWay::none;
  std::size_t offered = 0;           ///< number of this node's blocks that it acknowledged
  std::size_t blocks_under_way = 0;  ///< number of blocks in the message in flight
  std::uint64_t retry_at_ns = 0;     ///< 0: at once
  friend auto operator<=>(const PeerProgress&, const PeerProgress&) = default;
};

struct ReplicationState {
  ReplicationPhase phase = ReplicationPhase::heard;
  BlockOwner blocks = BlockOwner::replication;
  StoreHas store = StoreHas::nothing;
  ServerOrder order = ServerOrder::none;
  WithdrawnBy withdrawn_by = WithdrawnBy::nobody;
  bool flush_held = false;
  bool announced = false;           ///< the pieces of this node are known
  unsigned encoding = 0;            ///< blocks that are being encoded
  std::uint64_t hold_until_ns = 0;  ///< for the flush
  std::uint64_t retry_at_ns = 0;    ///< for encoding, recording and ordering; 0: at once
  std::uint64_t wake_at_ns = 0;
  std::vector<PeerProgress> peers;  ///< by position; this node's entry is not used
  friend auto operator<=>(const ReplicationState&, const ReplicationState&) = default;
};

class Replication {
 public:
  Replication(catalog::RedundancyId id, GroupScheme group, unsigned position, std::uint32_t ranks,
              ReplicationOptions options);

  /// Handles an event and returns the actions to take now, in order. Actions that the ledger takes at once come before
  /// those that take time.
  std::vector<ReplicationAction> step(const ReplicationEvent& event, const Moment& moment);

  const ReplicationState& state() const { return state_; }
  const Encoding& encoding() const { return encoding_; }
  const catalog::RedundancyId& id() const { return encoding_.id(); }
  /// Returns why it was withdrawn or dropped.
  const std::optional<base::Error>& why() const { return why_; }
  /// Returns the pieces of this node; empty before they are known, or if none of its ranks has one.
  const std::vector<segment::Piece>& pieces() const { return pieces_; }

 private:
  using Phase = ReplicationPhase;
  void react(Reaction reaction, const ReplicationEvent& event);
  base::Status offer(const std::vector<segment::Piece>& pieces, const std::vector<OfferedBlock>& blocks);
  void offer_captured(const event::CapturePublished& published);
  void commit();
  void encode_rest(const event::Published& published);
  void withdraw(const base::Error& error, WithdrawnBy by);
  void drop();
  void end();
  void release();
  void hold_flush();
  void let_flush();
  void give_back();
  void return_blocks();
  void retry_later() { state_.retry_at_ns = moment_.now_ns + options_.retry_ns; }
  void keep_block(const event::Encoded& encoded);
  void try_again(const event::EncodingFailed& failed);
  void note_recorded();
  void catalog_failed(const base::Error& error);
  void reach();
  void reach_later(const base::Error& error);
  base::Status check_sender(const GroupMessage& message) const;
  base::Status take(const GroupMessage& message);
  base::Status take_announce(const GroupMessage& message, const Announce& announce);
  void receive(Reaction reaction, const GroupMessage& message);
  void sent(const event::Sent& sent);
  void sent_in_vain(PeerProgress& peer, MessageUnderWay kind, const base::Error& error);
  void ordered(const base::Result<bool>& done);
  void drop_order();
  void make_room(const event::RoomWanted& wanted);
  void ask_store(const event::RoomWanted& wanted);
  void drop_again(const event::RoomWanted& wanted);

  void proceed();
  void send_what_is_due();
  MessageUnderWay next_message(const PeerProgress& peer) const;
  GroupMessage make_message(MessageUnderWay kind, PeerProgress& peer) const;
  bool waits_for_this_node(unsigned position) const;
  bool group_told_of_withdrawal() const;
  void work();
  bool all_told() const;
  bool all_stored() const;
  void plan_to_wake();
  bool one_of(Phase first, Phase last) const { return state_.phase >= first && state_.phase <= last; }
  bool yields() const { return state_.phase == Phase::capturing && moment_.busy; }
  template <typename Action>
  void act(Action action) {
    actions_.emplace_back(std::move(action));
  }

  Encoding encoding_;
  unsigned position_;
  ReplicationOptions options_;
  ReplicationState state_;
  std::vector<segment::Piece> pieces_;
  std::vector<OfferedBlock> offers_;  ///< of this node, in the order of their offers
  std::optional<base::Error> why_;
  Moment moment_;                           ///< of the present step
  std::vector<ReplicationAction> actions_;  ///< of the present step
};

/// This node's knowledge of a version that has no Replication here.
enum class KnownBefore : std::uint8_t {
  nothing,
  reached,  ///< level node, in this launch
  aborted,  ///< its capture ended without a commit, as it does on all nodes
  dropped   ///< dropped on this node
};
/// Answers a message about such a version. nullopt: a Replication begins with this message.
std::optional<base::Status> answer_to_unknown(const GroupMessage& message, KnownBefore known);

/// True if a retry can help without anybody's intervention.
bool passes(const base::Error& error);

}  // namespace perdure::engine

#include "engine/replicate/replication.hpp"

#include <algorithm>

#include "redundancy/scheme.hpp"

namespace perdure::engine {
namespace {

constexpr std::size_t kBlocksPerOffer = 256;

bool at_server(const GroupScheme& group) { return group.scheme->at_server; }

std::uint64_t earlier(std::uint64_t a_ns, std::uint64_t b_ns) {
  return a_ns == 0 || (b_ns != 0 && b_ns < a_ns) ? b_ns : a_ns;
}

PeerKnows knows_after(MessageUnderWay kind, PeerKnows before) {
  switch (kind) {
    case MessageUnderWay::announce:
      return PeerKnows::announced;
    case MessageUnderWay::keeps:
      return PeerKnows::recorded;
    case MessageUnderWay::server_keeps:
      return PeerKnows::server_keeps;
    case MessageUnderWay::stored:
      return PeerKnows::stored;
    case MessageUnderWay::withdraw:
      return PeerKnows::withdrawn;
    default:
      return before;
  }
}

}  // namespace

bool passes(const base::Error& error) {
  return error.retryable || error.code == PERDURE_PEER_FAILED || error.code == PERDURE_TIMEOUT ||
         error.code == PERDURE_UNAVAILABLE || error.code == PERDURE_BUSY;
}

std::optional<base::Status> answer_to_unknown(const GroupMessage& message, KnownBefore known) {
  // It is a repetition, or cannot matter any more. The sender learns of the abort from its own ranks.
  if (known == KnownBefore::reached || known == KnownBefore::aborted) return base::Status();
  const bool ends = std::holds_alternative<Withdraw>(message.body) || std::holds_alternative<Stored>(message.body);
  if (ends) return base::Status();  // these follow an announcement, so the version is forgotten
  if (known == KnownBefore::dropped)
    return base::fail(PERDURE_NOT_FOUND, message.id.text(), "it was given up on a node of the group");
  if (std::holds_alternative<Announce>(message.body)) return std::nullopt;
  return base::fail(PERDURE_BUSY, message.id.text(), "nobody has announced it here", {}, true);
}

Replication::Replication(catalog::RedundancyId id, GroupScheme group, unsigned position, std::uint32_t ranks,
                         ReplicationOptions options)
    : encoding_(std::move(id), group, position, ranks), position_(position), options_(options) {
  state_.peers.resize(group.members);
  if (position == 0 && at_server(group)) state_.order = ServerOrder::wanted;
}

std::vector<ReplicationAction> Replication::step(const ReplicationEvent& event, const Moment& moment) {
  moment_ = moment;
  actions_.clear();
  actions_.reserve(16);  // enough for most steps, so that act() allocates no memory
  react(kReplicationTable[kind_of(event)][static_cast<std::size_t>(state_.phase)], event);
  if (state_.phase != Phase::ended) proceed();
  plan_to_wake();
  return std::move(actions_);
}

void Replication::react(Reaction reaction, const ReplicationEvent& event) {
  if (const auto* received = std::get_if<event::Received>(&event)) return receive(reaction, received->message);
  switch (reaction) {
    case Reaction::never:
    case Reaction::ignore:
    case Reaction::take:
    case Reaction::note_withdraw:
      return;
    case Reaction::offer:
      return offer_captured(std::get<event::CapturePublished>(event));
    case Reaction::end:
      return end();
    case Reaction::commit:
      return commit();
    case Reaction::encode:
      return encode_rest(std::get<event::Published>(event));
    case Reaction::withdraw:
      return withdraw(std::get<event::PublishingFailed>(event).error, WithdrawnBy::this_node);
    case Reaction::keep_block:
      return keep_block(std::get<event::Encoded>(event));
    case Reaction::return_block:
      return act(action::GiveBack{{std::get<event::Encoded>(event).chunk}});
    case Reaction::try_again:
      return try_again(std::get<event::EncodingFailed>(event));
    case Reaction::note_recorded:
      return note_recorded();
    case Reaction::drop_record:
      state_.blocks = BlockOwner::nobody;
      return act(action::DropRedundancy{});
    case Reaction::return_blocks:
      return return_blocks();
    case Reaction::record_later:
      state_.phase = Phase::encoding;
      state_.blocks = BlockOwner::replication;
      return catalog_failed(std::get<event::RecordingFailed>(event).error);
    case Reaction::reach:
      return reach();
    case Reaction::reach_later:
      return reach_later(std::get<event::NotingFailed>(event).error);
    case Reaction::sent:
      return sent(std::get<event::Sent>(event));
    case Reaction::ordered:
      return ordered(std::get<event::Ordered>(event).done);
    case Reaction::drop_order:
      state_.order = ServerOrder::dropped;
      return act(action::DropOrder{});
    case Reaction::note_stored:
      state_.store = std::max(state_.store, StoreHas::own_part);
      return;
    case Reaction::note_whole:
      state_.store = StoreHas::whole;
      return;
    case Reaction::make_room:
      return make_room(std::get<event::RoomWanted>(event));
    case Reaction::ask_store:
      return ask_store(std::get<event::RoomWanted>(event));
    case Reaction::drop_again:
      return drop_again(std::get<event::RoomWanted>(event));
    case Reaction::drop:
      return drop();
    case Reaction::supersede:
      act(action::CountSuperseded{});
      return end();
  }
}

// ---- this node's blocks

base::Status Replication::offer(const std::vector<segment::Piece>& pieces, const std::vector<OfferedBlock>& blocks) {
  PERDURE_CHECK(encoding_.announced(position_, pieces));
  if (!state_.announced) pieces_ = pieces;
  state_.announced = true;
  for (const auto& block : blocks) {
    PERDURE_CHECK(encoding_.offered(position_, block));
    offers_.push_back(block);
  }
  return {};
}

void Replication::offer_captured(const event::CapturePublished& published) {
  if (state_.phase == Phase::heard) state_.phase = Phase::capturing;
  if (auto offered = offer(published.pieces, published.blocks); !offered)
    withdraw(offered.error(), WithdrawnBy::this_node);
}

void Replication::commit() {
  state_.phase = Phase::committed;
  state_.retry_at_ns = 0;
  act(action::Pin{});
  if (options_.hold_ns > 0) hold_flush();
  act(action::Publish{});
}

void Replication::hold_flush() {
  state_.flush_held = true;
  state_.hold_until_ns = moment_.now_ns + options_.hold_ns;
  act(action::HoldFlush{});
}

void Replication::encode_rest(const event::Published& published) {
  state_.phase = Phase::encoding;
  if (published.part_stored) state_.store = std::max(state_.store, StoreHas::own_part);
  if (auto offered = offer(published.pieces, published.blocks); !offered)
    withdraw(offered.error(), WithdrawnBy::this_node);
}

// ---- its end without the level

void Replication::let_flush() {
  if (!state_.flush_held) return;
  state_.flush_held = false;
  state_.hold_until_ns = 0;
  act(action::LetFlush{});
}

void Replication::give_back() {
  action::GiveBack blocks;
  for (const auto& [name, chunk] : encoding_.kept_blocks()) blocks.blocks.push_back(chunk);
  if (!blocks.blocks.empty()) act(std::move(blocks));
}

void Replication::return_blocks() {
  give_back();
  state_.blocks = BlockOwner::nobody;
}

// Other versions may reuse this node's slots, and those of blocks that were made but never recorded. While the record
// is being made, its outcome decides who holds them.
void Replication::release() {
  let_flush();
  if (one_of(Phase::committed, Phase::reaching)) act(action::Unpin{});
  if (state_.blocks == BlockOwner::replication) return_blocks();
}

// Nobody relies on a level that is not reached. Its records would keep slots, and the version, until a newer one is
// protected everywhere. An earlier launch's record stays, and so does one of a version that is only forgotten: after a
// death it may still help.
void Replication::withdraw(const base::Error& error, WithdrawnBy by) {
  why_ = error;
  act(action::ReportWithdrawn{error, state_.store >= StoreHas::own_part});
  release();
  state_.phase = Phase::withdrawn;
  state_.withdrawn_by = by;
  if (state_.blocks != BlockOwner::record_under_way) {
    state_.blocks = BlockOwner::nobody;
    act(action::DropRedundancy{});
  }
  drop_order();
}

// The server's room is for parities that may still be needed. An order in flight is dropped when the server has
// answered.
void Replication::drop_order() {
  if (state_.order != ServerOrder::kept && state_.order != ServerOrder::ask_again) return;
  state_.order = ServerOrder::dropped;
  act(action::DropOrder{});
}

void Replication::drop() {
  if (state_.phase != Phase::withdrawn) {
    withdraw({PERDURE_UNAVAILABLE, id().text(), "it was given up on that node", {}, false}, WithdrawnBy::this_node);
    std::erase_if(actions_, [](const auto& done) { return std::holds_alternative<action::ReportWithdrawn>(done); });
  }
  state_.phase = Phase::dropped;
}

void Replication::end() {
  if (state_.phase < Phase::reached) release();
  state_.phase = Phase::ended;
  act(action::Forget{});
}

// ---- the blocks that this node keeps

void Replication::keep_block(const event::Encoded& encoded) {
  --state_.encoding;
  encoding_.kept(encoded.name, encoded.chunk);
}

void Replication::try_again(const event::EncodingFailed& failed) {
  --state_.encoding;
  const bool no_room = failed.error.code == PERDURE_NO_SPACE && !failed.before_commit;
  if (no_room) act(action::SeekRoom{});
  // Captures may wait for the slots that it keeps, while the store has the version, or will get it from other nodes.
  if (no_room && failed.nothing_to_store) return withdraw(failed.error, WithdrawnBy::this_node);
  // Before the commit, a peer's slot may have been given back with its capture. Then nothing is known to be wrong.
  if (!failed.before_commit && !no_room && !passes(failed.error)) return withdraw(failed.error, WithdrawnBy::this_node);
  encoding_.failed(failed.task);
  let_flush();
  if (failed.before_commit && state_.phase != Phase::capturing)
    state_.retry_at_ns = 0;
  else
    retry_later();
}

void Replication::note_recorded() {
  state_.phase = Phase::recorded;
  state_.blocks = BlockOwner::catalog;
  encoding_.keeps(position_);
}

// A failure of the catalog may pass, but a refusal is a defect.
void Replication::catalog_failed(const base::Error& error) {
  if (error.code == PERDURE_INVALID_ARGUMENT || error.code == PERDURE_NOT_FOUND)
    withdraw(error, WithdrawnBy::this_node);
  else
    retry_later();
}

void Replication::reach() {
  release();
  state_.phase = Phase::reached;
  act(action::Reached{});
}

void Replication::reach_later(const base::Error& error) {
  state_.phase = Phase::recorded;
  for (unsigned position = 0; position < state_.peers.size(); ++position)
    if (state_.peers[position].said == PeerSaid::withdrew)
      return withdraw({PERDURE_UNAVAILABLE,
                       id().text(),
                       "position " + std::to_string(position) + " of the group gives it up",
                       {},
                       false},
                      WithdrawnBy::peer);
  catalog_failed(error);
}

// ---- messages of others

base::Status Replication::check_sender(const GroupMessage& message) const {
  const bool server = message.position == encoding_.group().members && at_server(encoding_.group());
  if ((message.position < encoding_.group().members || server) && message.position != position_) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, message.id.text(), "it is from a position that is not in the group");
}

void Replication::receive(Reaction reaction, const GroupMessage& message) {
  const auto* withdrawal = std::get_if<Withdraw>(&message.body);
  base::Status answer = check_sender(message);
  if (answer && withdrawal == nullptr) answer = take(message);
  const bool said = answer && withdrawal != nullptr && message.position < state_.peers.size();
  if (said && reaction != Reaction::ignore) state_.peers[message.position].said = PeerSaid::withdrew;
  act(action::Answer{answer});
  if (said && reaction == Reaction::withdraw)
    withdraw({PERDURE_UNAVAILABLE, message.id.text(),
              "position " + std::to_string(message.position) + " of the group gives it up: " + withdrawal->why,
              "see that node's reports", false},
             WithdrawnBy::peer);
}

base::Status Replication::take_announce(const GroupMessage& message, const Announce& announce) {
  const auto& group = encoding_.group();
  if (announce.scheme != group.scheme->name || announce.members != group.members ||
      announce.parities != group.parities || announce.group != group.number)
    return base::fail(PERDURE_MISMATCH, message.id.text(),
                      "position " + std::to_string(message.position) + " takes itself to be in another group",
                      "start all nodes with the same redundancy options");
  PERDURE_CHECK(encoding_.announced(message.position, announce.pieces));
  for (const auto& block : announce.blocks) PERDURE_CHECK(encoding_.offered(message.position, block));
  return {};
}

base::Status Replication::take(const GroupMessage& message) {
  const bool server = message.position >= state_.peers.size();
  PeerSaid said = PeerSaid::nothing;
  if (const auto* announce = std::get_if<Announce>(&message.body)) {
    PERDURE_CHECK(take_announce(message, *announce));
    said = PeerSaid::announced;
  } else if (const auto* offer = std::get_if<Offer>(&message.body)) {
    for (const auto& block : offer->blocks) PERDURE_CHECK(encoding_.offered(message.position, block));
  } else if (std::holds_alternative<Keeps>(message.body)) {
    encoding_.keeps(message.position);
    if (server && state_.order == ServerOrder::none) state_.order = ServerOrder::heard;
    said = PeerSaid::recorded;
  } else {
    said = PeerSaid::stored;
  }
  if (!server) state_.peers[message.position].said = std::max(state_.peers[message.position].said, said);
  return {};
}

// ---- messages to others

void Replication::sent(const event::Sent& sent) {
  PeerProgress& peer = state_.peers[sent.position];
  const MessageUnderWay kind = peer.sending;
  const std::size_t blocks = peer.blocks_under_way;
  peer.sending = MessageUnderWay::none;
  peer.blocks_under_way = 0;
  if (!sent.outcome) return sent_in_vain(peer, kind, sent.outcome.error());
  peer.knows = knows_after(kind, peer.knows);
  peer.offered += blocks;
}

void Replication::sent_in_vain(PeerProgress& peer, MessageUnderWay kind, const base::Error& error) {
  const bool refused = !passes(error);
  if (refused && kind == MessageUnderWay::withdraw) {
    peer.knows = PeerKnows::withdrawn;  // it does not wait for this node
  } else if (refused && one_of(Phase::capturing, Phase::recorded)) {
    withdraw(error, WithdrawnBy::this_node);
  } else {
    peer.retry_at_ns = moment_.now_ns + options_.retry_ns;
    if (error.code != PERDURE_BUSY) let_flush();
  }
}

// A withdrawal is sent once to each position that may wait for this node's part: it was told of the version, or
// announced it. A position that withdrew itself tells the others.
bool Replication::waits_for_this_node(unsigned position) const {
  const PeerProgress& peer = state_.peers[position];
  return position != position_ && state_.withdrawn_by == WithdrawnBy::this_node && peer.said != PeerSaid::withdrew &&
         peer.knows != PeerKnows::withdrawn &&
         (peer.knows != PeerKnows::nothing || peer.said != PeerSaid::nothing || peer.sending != MessageUnderWay::none);
}

bool Replication::group_told_of_withdrawal() const {
  for (unsigned position = 0; position < state_.peers.size(); ++position)
    if (waits_for_this_node(position) || state_.peers[position].sending != MessageUnderWay::none) return false;
  return true;
}

MessageUnderWay Replication::next_message(const PeerProgress& peer) const {
  if (!state_.announced || yields()) return MessageUnderWay::none;
  if (peer.knows == PeerKnows::nothing) return MessageUnderWay::announce;
  if (peer.offered < offers_.size()) return MessageUnderWay::offer;
  if (state_.phase >= Phase::recorded && peer.knows < PeerKnows::recorded) return MessageUnderWay::keeps;
  if (state_.order == ServerOrder::kept && peer.knows < PeerKnows::server_keeps) return MessageUnderWay::server_keeps;
  const bool stored = state_.phase == Phase::reached && state_.store >= StoreHas::own_part;
  return stored && peer.knows < PeerKnows::stored ? MessageUnderWay::stored : MessageUnderWay::none;
}

GroupMessage Replication::make_message(MessageUnderWay kind, PeerProgress& peer) const {
  GroupMessage message{id(), position_, Keeps{}};
  const auto& group = encoding_.group();
  const auto next_blocks = [&] {
    peer.blocks_under_way = std::min(kBlocksPerOffer, offers_.size() - peer.offered);
    const auto first = offers_.begin() + static_cast<std::ptrdiff_t>(peer.offered);
    return std::vector<OfferedBlock>(first, first + static_cast<std::ptrdiff_t>(peer.blocks_under_way));
  };
  if (kind == MessageUnderWay::announce)
    message.body = Announce{group.scheme->name, group.members, group.parities, group.number,
                            encoding_.ranks(),  pieces_,       next_blocks()};
  if (kind == MessageUnderWay::offer) message.body = Offer{next_blocks()};
  if (kind == MessageUnderWay::server_keeps) message.position = group.members;
  if (kind == MessageUnderWay::stored) message.body = Stored{};
  if (kind == MessageUnderWay::withdraw) message.body = Withdraw{why_->text()};
  return message;
}

void Replication::send_what_is_due() {
  const bool withdrawn = state_.phase == Phase::withdrawn || state_.phase == Phase::dropped;
  for (unsigned position = 0; position < state_.peers.size(); ++position) {
    PeerProgress& peer = state_.peers[position];
    if (position == position_ || peer.sending != MessageUnderWay::none) continue;
    const MessageUnderWay nothing = MessageUnderWay::none;
    const MessageUnderWay withdrawal = waits_for_this_node(position) ? MessageUnderWay::withdraw : nothing;
    const MessageUnderWay kind = withdrawn ? withdrawal : next_message(peer);
    if (kind == nothing) continue;
    if (moment_.now_ns < peer.retry_at_ns) {
      state_.wake_at_ns = earlier(state_.wake_at_ns, peer.retry_at_ns);
      continue;
    }
    peer.retry_at_ns = 0;
    peer.sending = kind;
    act(action::Send{position, make_message(kind, peer)});
  }
}

// ---- the parity server

void Replication::ordered(const base::Result<bool>& done) {
  state_.order = ServerOrder::ask_again;
  if (done && *done) {
    state_.order = ServerOrder::kept;
    encoding_.keeps(encoding_.group().members);
  } else if (!done && done.error().code == PERDURE_BUSY) {
    retry_later();
  } else if (!done) {
    withdraw(done.error(), WithdrawnBy::this_node);
  }
}

// ---- room

void Replication::make_room(const event::RoomWanted& wanted) {
  if (wanted.by != event::RoomWanted::By::captures || !wanted.nothing_to_store) return;
  const char* why = state_.store >= StoreHas::own_part
                        ? "captures need the room, and the store has it"
                        : "captures need the room, and other nodes bring it to the store";
  withdraw({PERDURE_NO_SPACE, id().text(), why, "raise tier.memory.max_bytes or tier.file.max_bytes", false},
           WithdrawnBy::this_node);
}

// Some positions may never report their part as stored: those whose pieces others store, and those that are cut off.
void Replication::ask_store(const event::RoomWanted& wanted) {
  if (wanted.nothing_to_store) act(action::AskStore{});
}

void Replication::drop_again(const event::RoomWanted& wanted) {
  if (wanted.by == event::RoomWanted::By::captures && wanted.nothing_to_store &&
      state_.blocks != BlockOwner::record_under_way)
    act(action::DropRedundancy{});
}

// ---- what is due

void Replication::proceed() {
  state_.wake_at_ns = 0;
  if (state_.flush_held && moment_.now_ns >= state_.hold_until_ns) let_flush();
  if (state_.phase == Phase::reached && all_stored()) {
    // Nobody will rebuild anything from redundancy of this version, since the store has it.
    act(action::NoteGroupStored{});
    drop_order();
    return end();
  }
  send_what_is_due();
  const bool record_open = state_.blocks == BlockOwner::record_under_way;
  if (state_.phase == Phase::dropped && !record_open && group_told_of_withdrawal()) return end();
  if (one_of(Phase::capturing, Phase::recorded)) work();
}

void Replication::work() {
  if (moment_.now_ns < state_.retry_at_ns) {
    state_.wake_at_ns = earlier(state_.wake_at_ns, state_.retry_at_ns);
    return;
  }
  state_.retry_at_ns = 0;
  while (!yields() && state_.encoding < options_.threads) {
    auto task = encoding_.next_task();
    if (!task) break;
    ++state_.encoding;
    act(action::Encode{std::move(*task), state_.phase == Phase::capturing});
  }
  if (state_.phase == Phase::encoding && encoding_.complete()) {
    state_.phase = Phase::recording;
    state_.blocks = BlockOwner::record_under_way;
    act(action::Record{encoding_.redundancy_set()});
  }
  if (state_.phase != Phase::recorded) return;
  if (state_.order == ServerOrder::wanted || state_.order == ServerOrder::ask_again) {
    state_.order = ServerOrder::under_way;
    act(action::Order{encoding_.blocks()});
  } else if (all_told() && encoding_.reached()) {
    state_.phase = Phase::reaching;
    act(action::NoteReached{});
  }
}

// True if the others have all they need of this node's slots, and know what this node keeps of theirs.
bool Replication::all_told() const {
  const PeerKnows needed = state_.order == ServerOrder::kept ? PeerKnows::server_keeps : PeerKnows::recorded;
  for (unsigned position = 0; position < state_.peers.size(); ++position)
    if (position != position_ && state_.peers[position].knows < needed) return false;
  return true;
}

bool Replication::all_stored() const {
  if (state_.store != StoreHas::own_part) return state_.store == StoreHas::whole;
  for (unsigned position = 0; position < state_.peers.size(); ++position) {
    const PeerProgress& peer = state_.peers[position];
    if (position != position_ && (peer.said != PeerSaid::stored || peer.knows != PeerKnows::stored)) return false;
  }
  return true;
}

void Replication::plan_to_wake() {
  if (state_.phase == Phase::ended) state_.wake_at_ns = 0;
  if (state_.flush_held) state_.wake_at_ns = earlier(state_.wake_at_ns, state_.hold_until_ns);
  act(action::WakeAt{state_.wake_at_ns});
}

}  // namespace perdure::engine

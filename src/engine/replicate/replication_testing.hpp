#pragma once
// For tests: simulates a group of positions that replicate one version, without threads, time or slots. Each possible
// next event is a Choice; a copy of the group is a state of the search.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "engine/replicate/replication.hpp"
#include "redundancy/registry.hpp"

namespace perdure::engine {

/// Upper limits for failures and random events in one history.
struct Trouble {
  unsigned lost = 0;        ///< messages, or their answers
  unsigned late = 0;        ///< copies of messages that arrive later, out of order
  unsigned failed = 0;      ///< encodings, records, publications, orders
  unsigned room = 0;        ///< slots are short
  unsigned dropped = 0;     ///< versions
  unsigned superseded = 0;  ///< one node learns of a newer version
  unsigned left = 0;        ///< one node leaves the group
  unsigned again = 0;       ///< a committed version is asked to be replicated again
  bool captured = false;    ///< versions are captured before they are committed, and captures may be aborted
  bool stored = false;      ///< parts are stored
};

class SimulatedGroup {
 public:
  enum class Happens : std::uint8_t {
    capture,
    news,
    follow,
    follow_fails,
    commit,
    commit_again,
    abort,
    finish,
    fail,
    fail_for_good,
    no_room,
    deliver,
    lose,
    lose_answer,
    delay,
    deliver_late,
    store,
    store_whole,
    want_room,
    drop,
    supersede,
    leave,
    timer
  };
  struct Choice {
    Happens what = Happens::timer;
    unsigned node = 0;
    std::size_t instance = 0, index = 0;
  };

  SimulatedGroup(const char* scheme, unsigned members, unsigned parities, Trouble trouble)
      : group_{*redundancy::find_scheme(scheme), members, parities, 3}, trouble_(trouble), nodes_(members) {}

  static const char* name_of(Happens what) {
    static constexpr const char* kNames[] = {
        "capture", "news",          "follow",    "follow fails", "commit",    "commit again", "abort", "finish",
        "fail",    "fail for good", "no room",   "deliver",      "lose",      "lose answer",  "delay", "deliver late",
        "store",   "store whole",   "want room", "drop",         "supersede", "leave",        "timer"};
    return kNames[static_cast<std::size_t>(what)];
  }
  static std::string text(const Choice& c) {
    return std::string(name_of(c.what)) + " at " + std::to_string(c.node) + " (" + std::to_string(c.instance) + "." +
           std::to_string(c.index) + ")";
  }

  /// Returns everything that can happen now.
  std::vector<Choice> choices() const {
    std::vector<Choice> all;
    for (unsigned n = 0; n < nodes_.size(); ++n) choices_of(n, all);
    for (std::size_t i = 0; i < late_.size(); ++i) all.push_back({Happens::deliver_late, late_[i].to, 0, i});
    return all;
  }
  /// Returns the next event if nothing fails any more; nullopt: it is over.
  std::optional<Choice> good_choice() const {
    for (unsigned n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].following) return Choice{Happens::follow, n, 0, 0};
      for (std::size_t i = 0; i < nodes_[n].instances.size(); ++i) {
        if (!nodes_[n].instances[i].jobs.empty()) return Choice{Happens::finish, n, i, 0};
        if (!nodes_[n].instances[i].mail.empty()) return Choice{Happens::deliver, n, i, 0};
      }
    }
    if (!late_.empty()) return Choice{Happens::deliver_late, late_[0].to, 0, 0};
    for (unsigned n = 0; n < nodes_.size(); ++n) {  // a fact about the whole job reaches all nodes
      if (any_left_ && !nodes_[n].left) return Choice{Happens::leave, n, 0, 0};
      if (any_superseded_ && alive(nodes_[n])) return Choice{Happens::supersede, n, 0, 0};
      if (may_commit(nodes_[n])) return Choice{Happens::commit, n, 0, 0};
      if (aborted_ && nodes_[n].life != Life::over) return Choice{Happens::abort, n, 0, 0};
      if (aborted_ && may_follow(nodes_[n])) return Choice{Happens::news, n, 0, 0};
    }
    for (unsigned n = 0; n < nodes_.size(); ++n)
      for (std::size_t i = 0; i < nodes_[n].instances.size(); ++i)
        if (nodes_[n].instances[i].wake_at_ns != 0) return Choice{Happens::timer, n, i, 0};
    return std::nullopt;
  }
  /// Returns the promise that was broken; empty: none.
  const std::string& broken() const { return broken_; }
  /// True if no position waits for anything.
  bool settled() const {
    for (const Node& node : nodes_)
      for (const Instance& instance : node.instances) {
        const auto phase = instance.replication.state().phase;
        if (phase != ReplicationPhase::reached && phase != ReplicationPhase::withdrawn) return false;
      }
    return std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
      return node.reserved.empty() && !node.flush_held && (node.kept.empty() || node.catalog != Record::none);
    });
  }
  /// Everything that the future depends on.
  std::string key() const;
  void happen(const Choice& choice);
  std::string phases() const {
    std::string text;
    for (const Node& node : nodes_) {
      const Instance* now = alive(node);
      text += now == nullptr ? " none" : std::string(" ") + perdure::engine::name_of(now->replication.state().phase);
    }
    return text;
  }

  /// Pairs of event kind and phase that occurred.
  using Pairs = std::array<std::array<bool, kReplicationPhases>, kReplicationEventKinds>;
  static Pairs& seen() {
    static Pairs pairs{};
    return pairs;
  }

 private:
  enum class Life : std::uint8_t { quiet, captured, committed, over };
  enum class Record : std::uint8_t { none, recorded, reached };
  enum class JobKind : std::uint8_t { follow, publish, encode, record, note, order };
  struct Job {
    JobKind kind = JobKind::publish;
    std::optional<EncodingTask> task = {};
    bool before_commit = false;  ///< of an encoding; for a followed capture: it is over
    std::optional<catalog::RedundancySet> record = {};
  };
  struct Mail {
    unsigned from, to;
    GroupMessage message;
  };
  struct Instance {
    explicit Instance(Replication begun) : replication(std::move(begun)) {}
    Replication replication;
    std::vector<Job> jobs;
    std::vector<Mail> mail;  ///< at most one to each position
    std::uint64_t wake_at_ns = 0;
    unsigned published = 0;     ///< 1: pieces, 2: also blocks
    unsigned blocks_heard = 0;  ///< a bit for each position
    bool alive = true, pinned = false, withdrawn = false;
  };
  struct Node {
    Life life = Life::quiet;
    Record catalog = Record::none;
    std::vector<Instance> instances;  ///< one that is alive, and others that wait for answers
    std::set<std::uint64_t> reserved, kept;
    bool flush_held = false, stored = false, left = false;
    bool following = false;  ///< a capture without a Replication when that began
  };
  struct History {  ///< of a node; for the invariants
    bool recorded = false, withdrew = false, dropped = false;
  };

  catalog::RedundancyId id() const { return {{"app", 1, {1, 1}}, 7}; }
  static const Instance* alive(const Node& node) {
    for (const auto& instance : node.instances)
      if (instance.alive) return &instance;
    return nullptr;
  }
  bool all_parts_stored() const {
    return std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.stored; });
  }
  bool may_commit(const Node& node) const {
    return !aborted_ && !node.left && (node.life == Life::quiet || node.life == Life::captured);
  }
  Replication begin(unsigned n) const {
    ReplicationOptions options;
    options.retry_ns = 1;
    options.hold_ns = 2;
    return {id(), group_, n, static_cast<std::uint32_t>(nodes_.size()), options};
  }
  std::vector<segment::Piece> pieces(unsigned n) const {
    segment::Piece piece{n, 100, {{0, 1, 100}}, {}};
    piece.chunks.push_back({0, 100, {}, 0});
    return {piece};
  }
  OfferedBlock block(unsigned n) const {
    return {0, base::hash128(std::vector<std::byte>(1, static_cast<std::byte>(n))), {}};
  }

  /// One thread at a time follows a capture; none does when the version is committed, or only withdrawals are left to
  /// send.
  bool may_follow(const Node& node) const {
    const Instance* now = alive(node);
    const bool early = now == nullptr || now->replication.state().phase < ReplicationPhase::committed;
    if (!early || follows(node)) return false;
    return node.life == Life::captured ? now == nullptr || now->published < 2 : aborted_ && now != nullptr;
  }
  void choices_of(unsigned n, std::vector<Choice>& all) const;
  void choices_of_instance(unsigned n, std::size_t i, std::vector<Choice>& all) const;
  std::size_t instance_of(unsigned n) {
    Node& node = nodes_[n];
    for (std::size_t i = 0; i < node.instances.size(); ++i)
      if (node.instances[i].alive) return i;
    node.instances.emplace_back(begin(n));
    return node.instances.size() - 1;
  }
  std::optional<std::size_t> find(unsigned n) const {
    for (std::size_t i = 0; i < nodes_[n].instances.size(); ++i)
      if (nodes_[n].instances[i].alive) return i;
    return std::nullopt;
  }
  void step(unsigned n, std::size_t i, const ReplicationEvent& event, std::uint64_t now_ns = 0);
  void step_if_there(unsigned n, const ReplicationEvent& event) {
    if (const auto i = find(n)) step(n, *i, event);
  }
  void carry_out(unsigned n, std::size_t i, ReplicationAction& action);
  base::Status receive(unsigned n, const GroupMessage& message);
  void check_repeated(const Instance& instance, const GroupMessage& message);
  void require(bool holds, const char* what) {
    if (!holds && broken_.empty()) broken_ = what;
  }
  void finish(unsigned n, std::size_t i, std::size_t job);
  void fail(unsigned n, std::size_t i, std::size_t job, const base::Error& error);
  void followed(unsigned n, std::size_t i);
  static bool follows(const Node& node) {
    return node.following || std::any_of(node.instances.begin(), node.instances.end(), [](const Instance& instance) {
             return !instance.jobs.empty() && instance.jobs[0].kind == JobKind::follow;
           });
  }
  void mail_comes_back(unsigned n, std::size_t i, std::size_t mail, const base::Status& outcome);
  void clean(unsigned n);

  GroupScheme group_;
  Trouble trouble_;
  std::vector<Node> nodes_;
  std::vector<Mail> late_;
  std::vector<History> history_ = std::vector<History>(nodes_.size());
  bool aborted_ = false, committed_ = false, any_left_ = false, any_superseded_ = false;
  bool server_keeps_ = false, server_kept_ = false;  ///< now, and ever
  std::optional<base::Status> answer_;               ///< to the message that is being received
  std::string broken_;
};

// ---- what can happen

inline void SimulatedGroup::choices_of(unsigned n, std::vector<Choice>& all) const {
  const Node& node = nodes_[n];
  const auto add = [&](bool possible, Happens what) {
    if (possible) all.push_back({what, n, 0, 0});
  };
  const Instance* now = alive(node);
  for (std::size_t i = 0; i < node.instances.size(); ++i) choices_of_instance(n, i, all);
  if (node.left) return;
  add(trouble_.captured && may_commit(node) && node.life == Life::quiet, Happens::capture);
  add(may_follow(node), Happens::news);
  add(node.following, Happens::follow);
  add(node.following && trouble_.failed > 0, Happens::follow_fails);
  add(may_commit(node), Happens::commit);
  add(trouble_.again > 0 && now != nullptr && (node.life == Life::committed || history_[n].dropped),
      Happens::commit_again);
  add(trouble_.captured && !committed_ && node.life != Life::over && (aborted_ || node.life == Life::captured),
      Happens::abort);
  add(trouble_.stored && (node.life == Life::committed || history_[n].dropped) && !node.stored, Happens::store);
  add(trouble_.stored && now != nullptr && all_parts_stored(), Happens::store_whole);
  add(trouble_.room > 0 && now != nullptr, Happens::want_room);
  if (trouble_.room > 0 && now != nullptr) all.push_back({Happens::want_room, n, 0, 1});
  add(trouble_.dropped > 0 &&
          (node.life == Life::committed || (now != nullptr && (node.life != Life::over || history_[n].dropped))),
      Happens::drop);
  const bool all_begun =
      std::none_of(nodes_.begin(), nodes_.end(), [&](const Node& other) { return may_commit(other); });
  add(trouble_.superseded > 0 && now != nullptr && all_begun, Happens::supersede);  // newer ones come later
  add(trouble_.left > 0, Happens::leave);
}

inline void SimulatedGroup::choices_of_instance(unsigned n, std::size_t i, std::vector<Choice>& all) const {
  const Instance& instance = nodes_[n].instances[i];
  const auto add = [&](bool possible, Happens what, std::size_t index) {
    if (possible) all.push_back({what, n, i, index});
  };
  for (std::size_t job = 0; job < instance.jobs.size(); ++job) {
    if (instance.jobs[job].kind == JobKind::publish && follows(nodes_[n])) continue;  // one after the other
    add(true, Happens::finish, job);
    add(trouble_.failed > 0, Happens::fail, job);
    add(trouble_.failed > 0 && instance.jobs[job].kind > JobKind::publish, Happens::fail_for_good, job);
    add(trouble_.failed > 0 && instance.jobs[job].kind == JobKind::encode, Happens::no_room, job);
  }
  for (std::size_t mail = 0; mail < instance.mail.size(); ++mail) {
    add(true, Happens::deliver, mail);
    add(trouble_.lost > 0, Happens::lose, mail);
    add(trouble_.lost > 0, Happens::lose_answer, mail);
    add(trouble_.late > 0, Happens::delay, mail);
  }
  add(instance.alive && instance.wake_at_ns != 0, Happens::timer, 0);
}

// ---- what happens

inline void SimulatedGroup::happen(const Choice& c) {
  Node& node = nodes_[c.node];
  const auto timeout = base::fail(PERDURE_TIMEOUT, "message", "it got lost", {}, true);
  switch (c.what) {
    case Happens::capture:
      node.life = Life::captured;
      break;
    case Happens::news:
      if (const auto i = find(c.node))
        node.instances[*i].jobs.insert(node.instances[*i].jobs.begin(),
                                       {JobKind::follow, {}, node.life == Life::over, {}});
      else
        node.following = true;
      break;
    case Happens::follow:
      node.following = false;
      if (node.life != Life::over && !node.left) followed(c.node, instance_of(c.node));
      break;
    case Happens::follow_fails:
      --trouble_.failed;
      node.following = false;
      step_if_there(c.node, event::PublishingFailed{{PERDURE_IO, "slot", "it cannot be mapped", {}, false}});
      break;
    case Happens::commit_again:
      --trouble_.again;
      step_if_there(c.node, event::Committed{});
      break;
    case Happens::commit:
      node.life = Life::committed;
      committed_ = true;
      step(c.node, instance_of(c.node), event::Committed{});
      break;
    case Happens::abort:
      node.life = Life::over;
      aborted_ = true;
      break;
    case Happens::finish:
      finish(c.node, c.instance, c.index);
      break;
    case Happens::fail:
      --trouble_.failed;
      fail(c.node, c.instance, c.index, {PERDURE_UNAVAILABLE, "disk", "it does not answer", {}, true});
      break;
    case Happens::fail_for_good:
      --trouble_.failed;
      fail(c.node, c.instance, c.index, {PERDURE_INVALID_ARGUMENT, "disk", "it refuses", {}, false});
      break;
    case Happens::no_room:
      --trouble_.failed;
      fail(c.node, c.instance, c.index, {PERDURE_NO_SPACE, "tier", "it is full", {}, true});
      break;
    case Happens::deliver: {
      const Mail mail = node.instances[c.instance].mail[c.index];
      mail_comes_back(c.node, c.instance, c.index, receive(mail.to, mail.message));
      break;
    }
    case Happens::lose:
      --trouble_.lost;
      mail_comes_back(c.node, c.instance, c.index, timeout);
      break;
    case Happens::lose_answer: {
      --trouble_.lost;
      const Mail mail = node.instances[c.instance].mail[c.index];
      (void)receive(mail.to, mail.message);
      mail_comes_back(c.node, c.instance, c.index, timeout);
      break;
    }
    case Happens::delay:
      --trouble_.late;
      late_.push_back(node.instances[c.instance].mail[c.index]);
      mail_comes_back(c.node, c.instance, c.index, timeout);
      break;
    case Happens::deliver_late: {
      const Mail mail = late_[c.index];
      late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(c.index));
      (void)receive(mail.to, mail.message);
      break;
    }
    case Happens::store:
      node.stored = true;
      step_if_there(c.node, event::PartStored{});
      break;
    case Happens::store_whole:
      step_if_there(c.node, event::WholeAtStore{});
      break;
    case Happens::want_room:
      --trouble_.room;
      step_if_there(c.node, event::RoomWanted{static_cast<event::RoomWanted::By>(c.index), node.stored});
      break;
    case Happens::drop:
      --trouble_.dropped;
      node.life = Life::over;
      history_[c.node].dropped = true;
      step_if_there(c.node, event::Dropped{});
      break;
    case Happens::supersede:
      if (!any_superseded_) --trouble_.superseded;
      any_superseded_ = true;
      step_if_there(c.node, event::Superseded{});
      break;
    case Happens::leave:
      if (!any_left_) --trouble_.left;
      any_left_ = node.left = true;
      step_if_there(c.node, event::Left{});
      break;
    case Happens::timer:
      step(c.node, c.instance, event::Timer{}, node.instances[c.instance].wake_at_ns);
      break;
  }
  for (unsigned n = 0; n < nodes_.size(); ++n) clean(n);
  const bool all =
      std::all_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.catalog == Record::reached; });
  require(!all || std::none_of(history_.begin(), history_.end(), [](const auto& past) { return past.withdrew; }),
          "all have reached the level, though somebody withdrew");
}

inline void SimulatedGroup::step(unsigned n, std::size_t i, const ReplicationEvent& event, std::uint64_t now_ns) {
  Instance& instance = nodes_[n].instances[i];
  const auto kind = kind_of(event);
  const auto phase = static_cast<std::size_t>(instance.replication.state().phase);
  seen()[kind][phase] = true;
  require(kReplicationTable[kind][phase] != Reaction::never, "something happened that the table says cannot");
  auto actions = instance.replication.step(event, {now_ns, false});
  for (auto& action : actions) carry_out(n, i, action);
}

inline base::Status SimulatedGroup::receive(unsigned n, const GroupMessage& message) {
  Node& node = nodes_[n];
  if (node.left) return base::fail(PERDURE_BUSY, "message", "this node is in another launch", {}, true);
  if (!find(n)) {
    KnownBefore known = node.catalog == Record::reached ? KnownBefore::reached : KnownBefore::nothing;
    if (known == KnownBefore::nothing && node.life == Life::over)
      known = history_[n].dropped ? KnownBefore::dropped : KnownBefore::aborted;
    if (const auto answer = answer_to_unknown(message, known)) return *answer;
  }
  answer_.reset();
  const std::size_t i = instance_of(n);
  const auto* announce = std::get_if<Announce>(&message.body);
  const auto* offer = std::get_if<Offer>(&message.body);
  if ((announce != nullptr && !announce->blocks.empty()) || (offer != nullptr && !offer->blocks.empty()))
    node.instances[i].blocks_heard |= 1U << message.position;
  step(n, i, event::Received{message});
  require(answer_.has_value(), "a message was not answered");
  const base::Status answer = answer_.value_or(base::Status());
  require(answer.has_value(), "a message of the group was refused");
  check_repeated(nodes_[n].instances[i], message);
  return answer;
}

// A repeated message changes nothing.
inline void SimulatedGroup::check_repeated(const Instance& instance, const GroupMessage& message) {
  if (instance.replication.state().phase == ReplicationPhase::ended) return;
  Replication again = instance.replication;
  for (const auto& action : again.step(event::Received{message}, {})) {
    const auto* answer = std::get_if<action::Answer>(&action);
    const bool nothing = (answer != nullptr && answer->status) || std::holds_alternative<action::WakeAt>(action);
    require(nothing, "a repeated message had an effect");
  }
  require(again.state() == instance.replication.state(), "a repeated message changed the state");
}

inline void SimulatedGroup::mail_comes_back(unsigned n, std::size_t i, std::size_t mail, const base::Status& outcome) {
  auto& all = nodes_[n].instances[i].mail;
  const unsigned to = all[mail].to;
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(mail));
  step(n, i, event::Sent{to, outcome});
}

inline void SimulatedGroup::finish(unsigned n, std::size_t i, std::size_t j) {
  Node& node = nodes_[n];
  Instance& instance = node.instances[i];
  const Job job = std::move(instance.jobs[j]);
  instance.jobs.erase(instance.jobs.begin() + static_cast<std::ptrdiff_t>(j));
  switch (job.kind) {
    case JobKind::follow:
      if (job.before_commit) return step(n, i, event::CaptureOver{});
      return followed(n, i);
    case JobKind::publish: {
      std::vector<OfferedBlock> rest;
      if (instance.published < 2) rest.push_back(block(n));
      instance.published = 2;
      return step(n, i, event::Published{pieces(n), rest, node.stored});
    }
    case JobKind::encode: {
      std::uint64_t slot = 0;
      while (node.reserved.contains(slot) || node.kept.contains(slot)) ++slot;
      node.reserved.insert(slot);
      return step(n, i, event::Encoded{job.task->name, {slot, job.task->length, {}, 0}});
    }
    case JobKind::record: {
      std::set<std::uint64_t> slots;
      for (const auto& [name, chunk] : job.record->kept) slots.insert(chunk.offset);
      for (const auto slot : slots)
        require(node.reserved.erase(slot) == 1, "a slot was recorded that was not taken for that");
      node.kept = std::move(slots);
      node.catalog = Record::recorded;
      history_[n].recorded = true;
      return step(n, i, event::Recorded{});
    }
    case JobKind::note:
      if (node.catalog == Record::none)
        return step(n, i, event::NotingFailed{{PERDURE_NOT_FOUND, "catalog", "nothing is kept", {}, false}});
      node.catalog = Record::reached;
      return step(n, i, event::ReachedNoted{});
    case JobKind::order:
      server_keeps_ = server_kept_ = true;
      return step(n, i, event::Ordered{true});
  }
}

// Delivers the state of the capture when it was observed.
inline void SimulatedGroup::followed(unsigned n, std::size_t i) {
  unsigned& published = nodes_[n].instances[i].published;
  published = std::min(published + 1, 2U);
  std::vector<OfferedBlock> blocks;
  if (published == 2) blocks.push_back(block(n));
  step(n, i, event::CapturePublished{pieces(n), blocks});
}

inline void SimulatedGroup::fail(unsigned n, std::size_t i, std::size_t j, const base::Error& error) {
  Instance& instance = nodes_[n].instances[i];
  const Job job = std::move(instance.jobs[j]);
  instance.jobs.erase(instance.jobs.begin() + static_cast<std::ptrdiff_t>(j));
  switch (job.kind) {
    case JobKind::follow:
    case JobKind::publish:
      return step(n, i, event::PublishingFailed{error});
    case JobKind::encode:
      return step(n, i, event::EncodingFailed{*job.task, error, job.before_commit, nodes_[n].stored});
    case JobKind::record:
      return step(n, i, event::RecordingFailed{error});
    case JobKind::note:
      return step(n, i, event::NotingFailed{error});
    case JobKind::order:
      if (error.retryable) return step(n, i, event::Ordered{false});
      return step(n, i, event::Ordered{base::fail(error)});
  }
}

inline void SimulatedGroup::carry_out(unsigned n, std::size_t i, ReplicationAction& next) {
  Node& node = nodes_[n];
  Instance& instance = node.instances[i];
  if (auto* answer = std::get_if<action::Answer>(&next)) answer_ = answer->status;
  if (std::holds_alternative<action::Pin>(next)) instance.pinned = true;
  if (std::holds_alternative<action::Unpin>(next)) {
    require(instance.pinned, "it was not pinned");
    instance.pinned = false;
  }
  if (std::holds_alternative<action::HoldFlush>(next)) node.flush_held = true;
  if (std::holds_alternative<action::LetFlush>(next)) {
    require(node.flush_held, "its flush did not wait");
    node.flush_held = false;
  }
  if (std::holds_alternative<action::Publish>(next)) instance.jobs.push_back({JobKind::publish});
  if (auto* send = std::get_if<action::Send>(&next)) {
    for (const Mail& mail : instance.mail) require(mail.to != send->position, "two messages to one position at once");
    instance.mail.push_back({n, send->position, std::move(send->message)});
  }
  if (auto* encode = std::get_if<action::Encode>(&next))
    instance.jobs.push_back({JobKind::encode, std::move(encode->task), encode->before_commit, {}});
  if (auto* record = std::get_if<action::Record>(&next))
    instance.jobs.push_back({JobKind::record, {}, false, std::move(record->redundancy_set)});
  if (std::holds_alternative<action::NoteReached>(next)) {
    require(std::all_of(history_.begin(), history_.end(), [](const auto& past) { return past.recorded; }) ||
                (server_kept_ && history_[n].recorded),
            "the level is reached before everybody has recorded what it keeps");
    require(!instance.withdrawn, "the level is reached after somebody was heard to withdraw");
    instance.jobs.push_back({JobKind::note});
  }
  if (std::holds_alternative<action::NoteGroupStored>(next))
    require(all_parts_stored(), "redundancy is not needed any more before the store has all parts");
  if (std::holds_alternative<action::DropRedundancy>(next)) {
    require(node.catalog != Record::reached, "redundancy of a level that was reached is dropped");
    node.catalog = Record::none;
    node.kept.clear();
  }
  if (auto* back = std::get_if<action::GiveBack>(&next))
    for (const auto& chunk : back->blocks) require(node.reserved.erase(chunk.offset) == 1, "it was not taken");
  if (std::holds_alternative<action::Order>(next)) instance.jobs.push_back({JobKind::order});
  if (std::holds_alternative<action::DropOrder>(next)) server_keeps_ = false;
  if (std::holds_alternative<action::ReportWithdrawn>(next)) instance.withdrawn = history_[n].withdrew = true;
  if (const auto* wake = std::get_if<action::WakeAt>(&next)) instance.wake_at_ns = wake->ns;
  if (std::holds_alternative<action::Forget>(next)) {
    require(!instance.pinned, "what is forgotten stays pinned");
    instance.alive = false;
  }
}

// Removes instances that are forgotten and wait for no answer.
inline void SimulatedGroup::clean(unsigned n) {
  std::erase_if(nodes_[n].instances, [](const Instance& instance) {
    return !instance.alive && instance.jobs.empty() && instance.mail.empty();
  });
}

inline std::string SimulatedGroup::key() const {
  std::string key;
  const auto add = [&key](auto value) { key.push_back(static_cast<char>(value)); };
  for (unsigned left : {trouble_.lost, trouble_.late, trouble_.failed, trouble_.room, trouble_.dropped,
                        trouble_.superseded, trouble_.left, trouble_.again})
    add(left);
  add(aborted_ + 2 * committed_ + 4 * any_left_ + 8 * any_superseded_ + 16 * server_keeps_ + 32 * server_kept_);
  const auto add_message = [&](const Mail& mail) {
    const auto* announce = std::get_if<Announce>(&mail.message.body);
    add(mail.from * 8 + mail.to);
    add(mail.message.body.index() * 16 + mail.message.position * 2 +
        (announce != nullptr && !announce->blocks.empty()));
  };
  for (const Mail& mail : late_) add_message(mail);
  for (unsigned n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    add(255);
    add(node.life);
    add(node.catalog);
    add(node.flush_held + 2 * node.stored + 4 * node.left + 8 * history_[n].recorded + 16 * history_[n].withdrew +
        32 * history_[n].dropped + 64 * node.following);
    for (const auto slot : node.reserved) add(slot);
    add(254);
    for (const auto slot : node.kept) add(slot);
    for (const Instance& instance : node.instances) {
      const ReplicationState& state = instance.replication.state();
      add(253);
      add(instance.alive + 2 * instance.pinned + 4 * instance.withdrawn + 8 * instance.published);
      add(instance.blocks_heard);
      add(instance.replication.encoding().kept_blocks().size());
      for (const auto& [name, chunk] : instance.replication.encoding().kept_blocks()) add(chunk.offset);
      add(state.phase);
      add(state.blocks);
      add(state.store);
      add(state.order);
      add(state.withdrawn_by);
      add(state.flush_held + 2 * state.announced + 4 * state.encoding);
      add(state.hold_until_ns * 16 + state.retry_at_ns * 4 + state.wake_at_ns);
      for (const PeerProgress& peer : state.peers) {
        add(static_cast<unsigned>(peer.said) * 8 + static_cast<unsigned>(peer.knows));
        add(static_cast<unsigned>(peer.sending) * 16 + peer.offered * 4 + peer.blocks_under_way);
        add(peer.retry_at_ns);
      }
      for (const Job& job : instance.jobs) {
        add(static_cast<unsigned>(job.kind) * 2 + job.before_commit);
        if (job.task) add(job.task->name.stripe);
      }
      add(252);
      for (const Mail& mail : instance.mail) add_message(mail);
    }
  }
  return key;
}

}  // namespace perdure::engine

#include "engine/protector.hpp"

#include <algorithm>

#include "os/system.hpp"

namespace perdure::engine {
Protector::Protector(Core& core, std::mutex& lock, Reports& reports, ProtectorOptions options,
                     std::function<void()> changed)
    : core_(core), lock_(lock), reports_(reports), options_(options), changed_(std::move(changed)) {
  for (unsigned i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { run(); });
}

void Protector::stop() {
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
    leave_group();
  }
  wake_.notify_all();
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

base::Status Protector::join(Membership membership) {
  std::shared_ptr<const redundancy::Code> code;
  const auto& group = membership.group;
  if (group.scheme->method == redundancy::Method::parity) {  // with a server, it computes
    PERDURE_TRY(auto made, redundancy::Code::make(group.members - group.parities, group.parities));
    code = std::make_shared<const redundancy::Code>(std::move(made));
  }
  {
    std::lock_guard guard(mutex_);
    leave_group();
    membership_ = std::move(membership);
    code_ = std::move(code);
  }
  changed_();
  return {};
}

void Protector::leave() {
  bool was_member = false;
  {
    std::lock_guard guard(mutex_);
    was_member = membership_.has_value();
    leave_group();
  }
  if (was_member) changed_();  // else nothing did, and at the engine's end nobody is there to hear of it
}

// With mutex_ held.
void Protector::leave_group() {
  for (auto it = works_.begin(); it != works_.end(); it = works_.begin()) forget(WorkPointer(it->second));
  {
    std::lock_guard core_guard(lock_);
    for (const auto& id : committed_) core_.unpin(kKeeper, id);
    for (const auto& id : committed_) core_.protect_before_flush(id, false);
  }
  committed_.clear();
  captures_.clear();
  done_.clear();
  if (membership_) membership_->link->close();
  membership_.reset();
  code_.reset();
}

Protector::WorkPointer Protector::find_or_make(const catalog::ProtectionId& id, std::uint32_t ranks) {
  WorkPointer& work = works_[id];
  if (work) return work;
  work = std::make_shared<Work>(Encoding(id, membership_->group, membership_->position, ranks));
  work->told.resize(membership_->group.members);
  return work;
}

// The pieces and slots of this node. With mutex_ held.
base::Status Protector::fill(Work& work, const segment::VersionId& id) {
  std::vector<NewBlock> blocks;
  std::vector<segment::Piece> pieces;
  {
    std::lock_guard guard(lock_);
    const auto* held = core_.find(id);
    if (held == nullptr || held->any_moved())
      return base::fail(PERDURE_UNAVAILABLE, id.text(), "a part of it has left this node's tiers already",
                        "raise tier.memory.max_bytes, so that a version fits");
    std::vector<std::uint64_t> counts;
    for (const auto& [rank, piece] : held->pieces) {
      // A rank that moved has left its piece here; where it runs now it is protected.
      if (!membership_->ranks.empty() && !membership_->ranks.contains(rank)) continue;
      pieces.push_back(piece);
      counts.push_back(piece.chunks.size());
    }
    const redundancy::BlockOrder order(counts);
    for (std::uint64_t number = 0; number < order.count(); ++number) {
      const auto where = order.chunk(number);
      const auto& chunk = pieces[where.rank].chunks[where.chunk];
      blocks.push_back({number, core_.address(chunk), chunk.hash});
    }
    core_.pin(kKeeper, id);
  }
  PERDURE_CHECK(work.encoding.announced(membership_->position, pieces));
  if (!work.early) work.pieces = std::move(pieces);
  PERDURE_CHECK(offer(work, blocks));
  work.here = true;
  work.retry_at_ns = 0;
  return {};
}

// Slots become readable for the others. With mutex_ held.
base::Status Protector::offer(Work& work, const std::vector<NewBlock>& blocks) {
  for (const NewBlock& block : blocks) {
    const auto [known, added] = work.hash.emplace(block.number, block.hash);
    if (!added && known->second == block.hash) continue;
    if (!added)
      return base::fail(PERDURE_CORRUPT, work.encoding.id().text(),
                        "block " + std::to_string(block.number) + " was committed with another hash than written");
    PERDURE_TRY(auto place, membership_->link->place(block.slot));
    work.offers.push_back({block.number, block.hash, std::move(place)});
    PERDURE_CHECK(work.encoding.offered(membership_->position, work.offers.back()));
  }
  return {};
}

void Protector::committed(const segment::VersionId& id) {
  {
    std::lock_guard guard(mutex_);
    if (!membership_) return;
    committed_.push_back(id);
    std::lock_guard core_guard(lock_);
    core_.pin(kKeeper, id);  // until it is begun
    core_.protect_before_flush(id, true);
  }
  wake_.notify_all();
}

// Whoever restores a version asks for it to be protected, be it for the second time. With both locks held.
bool Protector::done_before(const segment::VersionId& id) const {
  const auto* protection = core_.find(catalog::ProtectionId{id, membership_->epoch});
  return done_.contains(id) || (protection != nullptr && protection->reached);
}

// With mutex_ held.
void Protector::begin(const segment::VersionId& id) {
  std::uint32_t ranks = 0;
  bool stored = false;
  {
    std::lock_guard core_guard(lock_);
    const auto* held = core_.find(id);
    if (held == nullptr) return;
    const bool done = done_before(id);
    core_.protect_before_flush(id, !done);
    if (done) return core_.unpin(kKeeper, id);
    ranks = held->ranks;
    stored = held->all_stored();
  }
  const WorkPointer work = find_or_make({id, membership_->epoch}, ranks);
  if (work->failed) {
    let_flush(*work);
    std::lock_guard core_guard(lock_);
    core_.unpin(kKeeper, id);
  }
  if (work->here || work->failed) return;
  work->first = true;
  work->begun_ns = os::monotonic_ns();
  work->stored_here = stored;
  if (auto filled = fill(*work, id); !filled) fail(work, filled.error());
}

void Protector::stored(const segment::VersionId& id) {
  {
    std::lock_guard guard(mutex_);
    if (!membership_) return;
    const auto it = works_.find({id, membership_->epoch});
    if (it == works_.end()) return;
    it->second->stored_here = true;
  }
  wake_.notify_all();
}

void Protector::gone(const segment::VersionId& id) {
  std::lock_guard guard(mutex_);
  done_.erase(id);
  if (membership_ && membership_->parity) later([parity = membership_->parity, id] { parity->drop(id); });
  for (auto it = works_.lower_bound({id, 0}); it != works_.end() && it->first.version == id;
       it = works_.lower_bound({id, 0}))
    forget(WorkPointer(it->second));
}

void Protector::superseded(const std::string& name, std::uint64_t attempt_ns) {
  std::lock_guard guard(mutex_);
  if (membership_ && membership_->parity && membership_->position == 0)
    later([parity = membership_->parity, name, attempt_ns] { parity->drop_older(name, attempt_ns); });
  std::vector<WorkPointer> older;
  for (const auto& [id, work] : works_)
    if (id.version.name == name && id.version.attempt.created_ns < attempt_ns) older.push_back(work);
  for (const auto& work : older) forget(work);
}

base::Status Protector::apply(Work& work, const GroupMessage& message) {
  const auto& group = work.encoding.group();
  const bool server = message.position == group.members && group.scheme->method == redundancy::Method::server;
  if (message.position >= group.members && !server)
    return base::fail(PERDURE_INVALID_ARGUMENT, message.id.text(), "it is from a position that is not in the group");
  if (const auto* announce = std::get_if<Announce>(&message.body)) {
    if (announce->scheme != group.scheme->name || announce->members != group.members ||
        announce->parities != group.parities || announce->group != group.number)
      return base::fail(PERDURE_MISMATCH, message.id.text(),
                        "position " + std::to_string(message.position) + " takes itself to be in another group",
                        "start all nodes with the same redundancy options");
    return work.encoding.announced(message.position, announce->pieces);
  }
  if (const auto* offer = std::get_if<Offer>(&message.body)) {
    for (const auto& block : offer->blocks) PERDURE_CHECK(work.encoding.offered(message.position, block));
  } else if (std::holds_alternative<Keeps>(message.body)) {
    work.encoding.keeps(message.position);
  } else if (std::holds_alternative<Stored>(message.body)) {
    work.stored_at.insert(message.position);
  }
  return {};
}

base::Status Protector::hear(base::ConstByteSpan bytes) {
  PERDURE_TRY(const GroupMessage message, decode_group_message(bytes));
  const GivesUp* gives_up = nullptr;
  {
    std::lock_guard guard(mutex_);
    if (!membership_ || membership_->epoch != message.id.epoch)
      return base::fail(PERDURE_BUSY, message.id.text(), "this node is in another launch of the job", {}, true);
    if (message.position == membership_->position)
      return base::fail(PERDURE_INVALID_ARGUMENT, message.id.text(), "it claims to be from this position");
    {
      std::lock_guard core_guard(lock_);
      const auto* known = core_.find(message.id);
      // Said again; or it cannot matter any more.
      if (known != nullptr && known->reached && !works_.contains(message.id)) return {};
    }
    const auto* announce = std::get_if<Announce>(&message.body);
    if (announce == nullptr && !works_.contains(message.id))
      return base::fail(PERDURE_BUSY, message.id.text(), "nobody has announced it here", {}, true);
    const bool known_here = works_.contains(message.id);
    const WorkPointer work = find_or_make(message.id, announce == nullptr ? 0 : announce->ranks);
    const base::Status applied = apply(*work, message);
    if (!applied && !known_here) works_.erase(message.id);  // what is refused leaves no trace
    PERDURE_CHECK(applied);
    gives_up = std::get_if<GivesUp>(&message.body);
    if (gives_up != nullptr) {
      work->heard_failure = true;
      fail(work, {PERDURE_UNAVAILABLE, message.id.text(),
                  "position " + std::to_string(message.position) + " of the group gives it up: " + gives_up->why,
                  "see that node's reports", false});
    }
  }
  wake_.notify_all();
  if (gives_up != nullptr) changed_();
  return {};
}

// Nobody counts on a level that is not reached. What was recorded for it would keep slots, and the version, until a
// newer one is protected everywhere. An earlier launch's record stays, and all that is only forgotten: after a death
// that may still help. With mutex_ held; `changed` has to be called after that.
void Protector::fail(const WorkPointer& work, const base::Error& error) {
  if (work->failed || work->reached) return;
  work->failed = error;
  const auto& id = work->encoding.id().version;
  reports_.add(id.text() + ": it does not reach level node: " + error.text());
  release(*work);
  unprotect(*work);
  work->unwanted = true;
  drop_order(*work);
}

// With mutex_ held: others may use this node's slots again, and those of blocks that were made, but never recorded.
void Protector::release(Work& work) {
  let_flush(work);
  std::lock_guard guard(lock_);
  core_.unpin(kKeeper, work.encoding.id().version);
  if (work.recorded) return;
  for (const auto& [name, chunk] : work.encoding.kept_blocks()) core_.give_back_kept({chunk.place, chunk.offset});
}

// With mutex_ held.
void Protector::unprotect(const Work& work) {
  std::lock_guard guard(lock_);
  if (auto done = core_.unprotect(work.encoding.id()); !done) reports_.add("catalog: " + done.error().text());
}

// It is protected, will not be, or that takes too long. With mutex_ held; `changed` has to be called after that.
void Protector::let_flush(Work& work) {
  work.first = false;
  std::lock_guard guard(lock_);
  core_.protect_before_flush(work.encoding.id().version, false);
}

// With mutex_ held.
void Protector::forget_older(const segment::VersionId& id) {
  std::vector<WorkPointer> older;
  for (const auto& [other, work] : works_)
    if (other.version.name == id.name && other.version.attempt < id.attempt && !work->reached) older.push_back(work);
  for (const auto& work : older) forget(work);
}

// With mutex_ held. Whoever works on it still finds out that it failed.
void Protector::forget(const WorkPointer& work) {
  const auto id = work->encoding.id();
  works_.erase(id);
  if (!work->failed && !work->reached) release(*work);
  work->failed = base::Error{PERDURE_UNAVAILABLE, id.text(), "it was given up", {}, false};
}

void Protector::give_way() {
  bool any = false;
  {
    std::lock_guard guard(mutex_);
    for (const auto& [id, work] : works_) {
      if (!work->here || work->reached || !work->stored_here) continue;
      any = any || !work->failed;
      fail(work, {PERDURE_NO_SPACE, id.text(), "captures need the room, and the store has it",
                  "raise tier.memory.max_bytes or tier.file.max_bytes", false});
      unprotect(*work);  // where the catalog could not take it when it failed
    }
  }
  if (!any) return;
  wake_.notify_all();  // the group is to hear of it
  changed_();
}

Protector::State Protector::state(const segment::VersionId& id) const {
  State state;
  std::lock_guard guard(mutex_);
  for (auto it = works_.lower_bound({id, 0}); it != works_.end() && it->first.version == id; ++it)
    if (it->second->failed && !it->second->reached) state.failed = it->second->failed;
  std::lock_guard core_guard(lock_);
  // What an earlier launch reached says nothing: nodes that had a part in it may be gone since.
  state.reached = membership_ && done_before(id);
  return state;
}

std::size_t Protector::under_way() const {
  std::lock_guard guard(mutex_);
  const auto works = std::count_if(works_.begin(), works_.end(), [](const auto& entry) {
    return (entry.second->here || !entry.second->early) && !entry.second->failed && !entry.second->reached;
  });
  return static_cast<std::size_t>(works) + committed_.size() + chores_.size() + (chore_running_ ? 1 : 0);
}

}  // namespace perdure::engine

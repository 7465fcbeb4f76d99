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
  {
    std::lock_guard core_guard(lock_);
    const auto* held = core_.find(id);
    if (held == nullptr) return;
    const bool done = done_before(id);
    core_.protect_before_flush(id, !done);
    if (done) return core_.unpin(kKeeper, id);
    ranks = held->ranks;
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
  if (auto filled = fill(*work, id); !filled) return fail(work, filled.error());
  work->stored_here = own_part_stored(*work);
}

// A piece that moved to where its rank runs is not this node's to store: the one that it came from does that, some
// time. With mutex_ held.
bool Protector::own_part_stored(const Work& work) const {
  std::lock_guard guard(lock_);
  const auto* held = core_.find(work.encoding.id().version);
  if (held == nullptr) return false;
  if (work.pieces.empty()) return held->all_stored();  // none of its ranks: it has only what it wrote for others
  return std::all_of(work.pieces.begin(), work.pieces.end(),
                     [held](const auto& piece) { return held->stored(piece.rank); });
}

// With mutex_ held.
bool Protector::nothing_to_store(const Work& work) const {
  std::lock_guard guard(lock_);
  const auto* held = core_.find(work.encoding.id().version);
  return held != nullptr && held->all_stored();
}

void Protector::stored(const segment::VersionId& id) {
  {
    std::lock_guard guard(mutex_);
    if (!membership_) return;
    const auto it = works_.find({id, membership_->epoch});
    if (it == works_.end()) return;
    it->second->stored_here = own_part_stored(*it->second);
  }
  wake_.notify_all();
}

void Protector::whole_at_store(const segment::VersionId& id) {
  {
    std::lock_guard guard(mutex_);
    if (!membership_) return;
    const auto it = works_.find({id, membership_->epoch});
    if (it == works_.end() || !it->second->reached) return;
    it->second->whole_at_store = true;
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
  for (const auto& work : older) forget_superseded(work);
}

Protector::State Protector::state(const segment::VersionId& id) const {
  State state;
  std::lock_guard guard(mutex_);
  state.under_way = std::find(committed_.begin(), committed_.end(), id) != committed_.end();
  for (auto it = works_.lower_bound({id, 0}); it != works_.end() && it->first.version == id; ++it) {
    if (it->second->failed && !it->second->reached) state.failed = it->second->failed;
    state.under_way = state.under_way || (!it->second->failed && !it->second->reached);
    state.stored = state.stored || it->second->stored_here;
  }
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

// Parities on a server: one position orders them when all blocks are known, and tells the others what became of it.
#include "engine/protector.hpp"
#include "os/system.hpp"

namespace perdure::engine {

// With mutex_ held.
void Protector::later(Job chore) {
  chores_.push_back(std::move(chore));
  wake_.notify_one();
}

void Protector::drop_all() {
  std::lock_guard guard(mutex_);
  if (membership_ && membership_->parity) later([parity = membership_->parity] { parity->drop_all(); });
}

// With mutex_ held.
Protector::Job Protector::job_with_server(const WorkPointer& work) {
  const bool mine = membership_->position == 0 && membership_->group.scheme->method == redundancy::Method::server;
  if (!mine || !work->recorded || work->parity_kept || work->ordering) return {};
  // What is to be dropped goes first: it makes room, and may have the same name.
  if (!chores_.empty() || chore_running_) return {};
  work->ordering = true;
  return [this, work] { order(work); };
}

// Whatever is wrong with the server, the version stays at its lower level: the next one is another order.
void Protector::order(const WorkPointer& work) {
  std::shared_ptr<ParityKeeper> parity;
  ParityKeeper::Group group;
  std::vector<std::vector<std::byte>> addresses;
  std::vector<std::vector<EncodingTask::Source>> blocks;
  {
    std::lock_guard guard(mutex_);
    if (work->failed) {
      work->ordering = false;
      return drop_order(*work);
    }
    parity = membership_->parity;
    work->ordered = parity != nullptr;
    group = group_at_server(*work);
    addresses = membership_->addresses;
    blocks = work->encoding.blocks();
  }
  base::Result<bool> done =
      base::fail(PERDURE_UNSUPPORTED, "parity server", "this engine knows none", "set redundancy.parity_servers");
  if (parity) done = parity->order(group, addresses, blocks);
  {
    std::lock_guard guard(mutex_);
    work->ordering = false;
    if (work->failed) return drop_order(*work);
    if (done) {
      work->parity_kept = *done;
      if (*done) work->encoding.keeps(membership_->group.members);
    } else if (done.error().code == PERDURE_BUSY) {
      work->retry_at_ns = os::monotonic_ns() + options_.retry_ns;
    } else {
      fail(work, done.error());
    }
  }
  wake_.notify_all();
  changed_();
}

// The server's room is for what somebody may still need. What is being ordered is dropped when the server has answered.
// With mutex_ held.
void Protector::drop_order(Work& work) {
  if (!work.unwanted || !work.ordered || work.ordering || !membership_) return;
  work.ordered = false;
  later([parity = membership_->parity, group = group_at_server(work)] { parity->drop(group); });
}

}  // namespace perdure::engine

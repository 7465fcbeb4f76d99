#include "engine/flush/chunk_pool.hpp"

#include <algorithm>

namespace perdure::engine {

void ChunkPool::add(ChunkWork& work) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({&work});
}

void ChunkPool::remove(ChunkWork& work) {
  std::unique_lock lock(mutex_);
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& known) { return known.work == &work; });
  if (entry == entries_.end()) return;
  std::list<Entry> leaving;  // no other thread can enter it any more
  leaving.splice(leaving.end(), entries_, entry);
  changed_.wait(lock, [&] { return entry->inside == 0; });
}

base::Status ChunkPool::more() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  for (std::size_t wanted = room(); idle_ < wanted && threads_.size() < most_ && !stopping_; ++idle_) {
    const auto begun = threads_.start(
        "flush worker", [this] { run(); },
        [this](const base::Error& why) {
          failed(why);
          const std::lock_guard guard(mutex_);
          return !stopping_;
        });
    if (!begun && threads_.empty()) return base::fail(begun.error());
    if (!begun) break;  // the threads that exist have to do
  }
  return {};
}

std::size_t ChunkPool::room() const {
  std::size_t threads = 0;
  for (const Entry& entry : entries_) threads += entry.work->room(entry.inside);
  return threads;
}

// Takes the works in turn, so that a large version does not keep others from the store.
ChunkPool::Entry* ChunkPool::next() {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (!entry->work->enter(entry->inside)) continue;
    entries_.splice(entries_.end(), entries_, entry);
    return &*entry;
  }
  return nullptr;
}

void ChunkPool::run() {
  std::vector<std::byte> buffer;
  std::unique_lock lock(mutex_);
  for (;;) {
    Entry* entry = nullptr;
    changed_.wait(lock, [&] { return stopping_ || (entry = next()) != nullptr; });
    if (entry == nullptr) return;
    ++entry->inside;
    --idle_;
    lock.unlock();
    const base::Status done = base::caught("flush", [&]() -> base::Status {
      entry->work->flush_chunk(buffer);
      return {};
    });
    if (!done) entry->work->fail(done.error());
    lock.lock();
    ++idle_;
    --entry->inside;
    changed_.notify_all();
  }
}

// Fails one of the waiting works because a thread could not even look for work. Whoever began that flush retries it.
void ChunkPool::failed(const base::Error& why) {
  ChunkWork* work = nullptr;
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    entry = stopping_ ? nullptr : next();
    if (entry == nullptr) return;
    ++entry->inside;
    work = entry->work;
  }
  work->fail(why);
  const std::lock_guard lock(mutex_);
  --entry->inside;
  changed_.notify_all();
}

void ChunkPool::stop() {
  os::Threads ending;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    std::swap(ending, threads_);
  }
  changed_.notify_all();
  ending.join();
}

}  // namespace perdure::engine

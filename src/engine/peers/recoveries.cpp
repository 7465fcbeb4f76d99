#include "engine/peers/recoveries.hpp"

#include <vector>

namespace perdure::engine {

// nullopt: none is known. nullptr: it runs. Otherwise it is over, and its thread has ended.
std::optional<std::unique_ptr<Recoveries::Started>> Recoveries::take_over(const Key& key) {
  std::unique_ptr<Started> over;
  {
    std::lock_guard guard(mutex_);
    const auto known = all_.find(key);
    if (known == all_.end()) return std::nullopt;
    if (!known->second->over) return std::optional<std::unique_ptr<Started>>(nullptr);
    over = std::move(known->second);
    all_.erase(known);
  }
  over->thread.join();
  return over;
}

void Recoveries::is_over(Started& recovery) {
  {
    std::lock_guard guard(mutex_);
    recovery.over = true;
  }
  changed_();
}

base::Status Recoveries::start(const Key& key, std::unique_ptr<Started> recovery, std::function<void()> body,
                               std::function<void(const base::Error&)> failed) {
  std::lock_guard guard(mutex_);
  Started& started = *all_.emplace(key, std::move(recovery)).first->second;
  auto begun = os::Thread::start("recovery", std::move(body), [failed = std::move(failed)](const base::Error& why) {
    failed(why);
    return false;
  });
  if (begun) {
    started.thread = std::move(*begun);
    return {};
  }
  all_.erase(key);
  return base::fail(begun.error());
}

// Recoveries are destroyed without the lock: one may be the last owner of an earlier launch's network.
void Recoveries::client_gone(ClientId client) {
  std::vector<std::unique_ptr<Started>> over;
  {
    std::lock_guard guard(mutex_);
    for (auto it = all_.begin(); it != all_.end();) {
      Started& recovery = *it->second;
      if (it->first.first == client) {
        recovery.recoverer.stop();
        recovery.abandoned = true;
      }
      const bool goes = recovery.abandoned && recovery.over;
      if (goes) over.push_back(std::move(it->second));
      it = goes ? all_.erase(it) : std::next(it);
    }
  }
  for (const auto& recovery : over) recovery->thread.join();
}

void Recoveries::stop() {
  std::map<Key, std::unique_ptr<Started>> ending;
  {
    std::lock_guard guard(mutex_);
    ending.swap(all_);
  }
  for (const auto& [key, recovery] : ending) recovery->recoverer.break_off();
  for (const auto& [key, recovery] : ending) recovery->thread.join();
}

}  // namespace perdure::engine

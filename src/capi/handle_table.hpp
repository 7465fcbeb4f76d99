#pragma once
// Maps numbers to objects. A program holds a number as a pointer that is never followed. So a call with a stale number
// is an error and not a crash (docs/adr/0001).
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace perdure::capi {

template <class Public, class Held>
class HandleTable {
 public:
  /// Never destroyed: objects that are open at the end of the process keep their threads until it is gone.
  static HandleTable& instance() {
    static auto* table = new HandleTable;
    return *table;
  }
  Public* add(std::shared_ptr<Held> held) {
    std::lock_guard guard(mutex_);
    const std::uintptr_t key = next_++;
    held_[key] = std::move(held);
    return reinterpret_cast<Public*>(key);
  }
  std::shared_ptr<Held> find(Public* handle) {
    std::lock_guard guard(mutex_);
    const auto it = held_.find(reinterpret_cast<std::uintptr_t>(handle));
    return it == held_.end() ? nullptr : it->second;
  }
  /// Removes and returns it; nothing if it is not there.
  std::shared_ptr<Held> take(Public* handle) {
    std::lock_guard guard(mutex_);
    auto node = held_.extract(reinterpret_cast<std::uintptr_t>(handle));
    return node.empty() ? nullptr : std::move(node.mapped());
  }
  std::vector<std::shared_ptr<Held>> newest_first() {
    std::lock_guard guard(mutex_);
    std::vector<std::shared_ptr<Held>> all;
    for (auto it = held_.rbegin(); it != held_.rend(); ++it) all.push_back(it->second);
    return all;
  }

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<Held>> held_;
  std::uintptr_t next_ = 1;
};

}  // namespace perdure::capi

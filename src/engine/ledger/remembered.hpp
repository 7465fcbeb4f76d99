#pragma once
// Remembers one fact each about a bounded number of versions that are gone; the oldest is forgotten first. Not
// thread-safe.
#include <algorithm>
#include <cstdint>
#include <map>

#include "segment/manifest.hpp"

namespace perdure::engine {

template <class News>
class Remembered {
 public:
  explicit Remembered(std::size_t most) : most_(most) {}
  /// Replaces what was known of the version.
  void note(const segment::VersionId& id, News news) {
    entries_[id] = {news, next_++};
    if (entries_.size() <= most_) return;
    entries_.erase(std::min_element(entries_.begin(), entries_.end(),
                                    [](const auto& a, const auto& b) { return a.second.number < b.second.number; }));
  }
  /// nullptr: nothing is known.
  const News* find(const segment::VersionId& id) const {
    const auto it = entries_.find(id);
    return it == entries_.end() ? nullptr : &it->second.news;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [id, entry] : entries_) visit(id, entry.news);
  }
  void forget(const segment::VersionId& id) { entries_.erase(id); }
  template <class Which>
  void forget_if(Which&& which) {
    std::erase_if(entries_, [&](const auto& entry) { return which(entry.first); });
  }
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    News news;
    std::uint64_t number = 0;
  };
  std::size_t most_;
  std::uint64_t next_ = 0;
  std::map<segment::VersionId, Entry> entries_;
};

}  // namespace perdure::engine

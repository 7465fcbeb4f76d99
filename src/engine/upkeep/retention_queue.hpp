#pragma once
// Queues the names that the janitor is to look at, now or later. Knows no clock. Not thread-safe.
#include <cstdint>
#include <set>
#include <string>

namespace perdure::engine {

class RetentionQueue {
 public:
  /// The work to do at once.
  struct Work {
    bool clean = false;  ///< the whole store, once
    std::set<std::string> names;
  };

  /// From now on this node is responsible for all names so far, and for the store's leftovers. Repeatable.
  void activate();
  /// A version of the name was stored or is held. The janitor looks at the name soon, and repeatedly as long as parts
  /// arrive.
  void add(const std::string& name);
  void add_all();  ///< all names once more
  /// Parts of this name are still arriving, or it could not be looked at. After `most` looks without news the queue
  /// gives up. A part that never comes, because its node is gone, must not be looked for for ever.
  void again(const std::string& name, unsigned most = kMostLooks);
  static constexpr unsigned kMostLooks = 40;  ///< three minutes
  /// For an older version behind a complete newer one: 0.8 s. Parts that come later wait for the next news of the name.
  static constexpr unsigned kMostLooksAtOlder = 4;

  bool active() const { return active_; }
  bool any() const { return clean_ || !now_.empty(); }  ///< something is to be done at once
  bool any_later() const { return !later_.empty(); }
  /// Returns the delay after which later work is due.
  std::uint64_t delay_ms() const { return delay_ms_; }
  void delay_over();
  Work take();

 private:
  bool active_ = false, clean_ = false;
  std::set<std::string> all_, now_, later_;
  std::uint64_t delay_ms_ = 50;
  unsigned looks_ = 0;  // since the last news
};

}  // namespace perdure::engine

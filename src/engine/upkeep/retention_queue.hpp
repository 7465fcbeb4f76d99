#pragma once
// Which names the janitor is to look at, and when again. Knows no clock. Not thread-safe.
#include <cstdint>
#include <set>
#include <string>

namespace perdure::engine {

class RetentionQueue {
 public:
  /// What is to be done at once.
  struct Work {
    bool clean = false;  ///< the whole store, once
    std::set<std::string> names;
  };

  /// From now on this node is responsible for all names so far, and for the store's leftovers. Repeatable.
  void activate();
  /// One of its versions was stored or is held by now: it is looked at soon, and often again as long as parts arrive.
  void add(const std::string& name);
  void add_all();  ///< once more
  /// Something is still arriving of this name, or it could not be looked at. After `most` looks that brought nothing it
  /// is given up: a part that never comes (its node is gone) must not be looked for until the end of time.
  void again(const std::string& name, unsigned most = kMostLooks);
  static constexpr unsigned kMostLooks = 40;  ///< three minutes
  /// At a version behind a newer one that is complete, 0.8 s: what comes later waits for the next news of the name.
  static constexpr unsigned kMostLooksAtOlder = 4;

  bool active() const { return active_; }
  bool any() const { return clean_ || !now_.empty(); }  ///< something is to be done at once
  bool any_later() const { return !later_.empty(); }
  /// After so long what is to be done later is due.
  std::uint64_t delay_ms() const { return delay_ms_; }
  void delay_over();
  Work take();

 private:
  bool active_ = false, clean_ = false;
  std::set<std::string> all_, now_, later_;
  std::uint64_t delay_ms_ = 50;
  unsigned looks_ = 0;  // since there was news
};

}  // namespace perdure::engine

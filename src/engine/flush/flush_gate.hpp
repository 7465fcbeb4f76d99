#pragma once
// The door that threads pass for every chunk they flush: so many are inside at once as placement::FlushPool says. Those
// that read a slow tier leave the store idle: others may be inside meanwhile, but no more write to the store.
#include <atomic>
#include <condition_variable>
#include <functional>

#include "engine/ledger/ledger.hpp"
#include "metrics/flush_rate.hpp"
#include "placement/flush_pool.hpp"

namespace perdure::engine {

class FlushGate {
 public:
  /// What it goes by.
  struct View {
    placement::Pressure pressure = {};
    bool slots_wanted = false;  ///< producers will want slots
  };
  /// A thread between enter() and leave().
  struct Pass {
    bool reading = false;
  };

  /// The lock of the ledger guards it, too. At most `limit` threads write to the store.
  FlushGate(Ledger& ledger, unsigned limit, std::function<View(NodeState&)> look)
      : ledger_(ledger), limit_(limit), look_(std::move(look)), pool_(limit) {}

  /// Blocks until there is room, `given_up` is set and look_again() called, or shut() was. leave() belongs to it in
  /// every case. `reading`: it begins with reading a slow tier.
  Pass enter(bool reading, const std::atomic<bool>& given_up);
  void leave(const Pass& pass);
  /// It reads from now on.
  void reads(Pass& pass);
  /// It writes to the store, as soon as there is room. Blocks like enter().
  void stores(Pass& pass, const std::atomic<bool>& given_up);

  // ---- The rest is for who holds the ledger.
  void look_again(Ledger::Access& ledger);
  void shut(Ledger::Access& ledger);
  /// Somebody waits for what a flush will bring: then the application's budget does not count.
  void somebody_waits(Ledger::Access& ledger, bool waits);
  void observe(Ledger::Access& ledger, const metrics::FlushRate::Observation& observation);

  struct Status {
    unsigned inside = 0;
    unsigned waiting = 0;    ///< to enter, or to write to the store
    unsigned held_back = 0;  ///< to enter, although fewer than the limit are inside
  };
  Status status(const Ledger::Access& ledger) const;

 private:
  bool may_enter(bool reading, unsigned threads, const View& view) const;
  /// Those that wait for the same, so that whoever makes room wakes one of each and not all.
  struct Line {
    std::condition_variable changed;
    unsigned waiting = 0;
  };
  void await(Line& line, Ledger::Access& ledger, const std::atomic<bool>& given_up,
             const std::function<bool(unsigned threads, const View& view)>& may);
  void room();
  unsigned inside() const { return reading_ + storing_; }
  unsigned outside() const { return to_read_.waiting + to_store_.waiting; }

  Ledger& ledger_;
  const unsigned limit_;
  std::function<View(NodeState&)> look_;
  placement::FlushPool pool_;
  Line to_read_, to_store_, has_read_;  // to enter; inside, to write to the store
  unsigned reading_ = 0, storing_ = 0;
  bool somebody_waits_ = false, shut_ = false;
};

}  // namespace perdure::engine

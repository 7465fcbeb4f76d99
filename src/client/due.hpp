#pragma once
// Says why a checkpoint is due, as far as this rank can tell: bits of perdure_due_reason. The ranks combine them.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "client/signals.hpp"
#include "config/config.hpp"
#include "store/store.hpp"

namespace perdure::client {

/// A request to halt concerns programs that run at that time, not those that begin later. Pure.
struct HaltTimes {
  std::uint64_t asked_ns = 0;  ///< time of the request; 0: there is none
  std::uint64_t begun_ns = 0;  ///< start of this program
  std::uint64_t now_ns = 0;
};
bool halts(const HaltTimes& times);

/// The signals that this rank has received. Pure.
struct Heard {
  std::uint64_t signals = 0;   ///< number of signals in all
  std::uint64_t served = 0;    ///< number of signals before the last checkpoint began
  bool end_by_signal = false;  ///< one of them asks for the end
  bool halt = false;
};
unsigned due_reasons(const Heard& heard);

class Due {
 public:
  /// Takes signals if the option `signals` says so.
  explicit Due(const config::Config& config);
  /// Notes a checkpoint name of this program: halting that name halts the program.
  void uses(std::string_view name);
  std::uint64_t asked() const { return signals_ ? signals_->asked() : 0; }
  /// A checkpoint succeeded that began after `asked` signals.
  void served(std::uint64_t asked) { served_ = asked; }
  /// Gives the reasons. `store`: looked at for requests to halt, at most once a second; nullptr: other ranks look.
  unsigned here(store::Store* store);

 private:
  bool halt_asked(store::Store& store);

  std::optional<Signals> signals_;
  std::uint64_t served_ = 0;
  const std::uint64_t begun_ns_;  // wall clock
  std::set<std::string, std::less<>> names_;
  std::uint64_t looked_at_ns_ = 0;
  bool halt_ = false;
};

}  // namespace perdure::client

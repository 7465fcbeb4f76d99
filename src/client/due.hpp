#pragma once
// Why a checkpoint is due, as far as this rank can tell: bits of perdure_due_reason. The ranks put them together.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "client/signals.hpp"
#include "config/config.hpp"
#include "store/store.hpp"

namespace perdure::client {

/// A request to halt is for programs that run at that time: not for those that begin later. Pure.
struct HaltTimes {
  std::uint64_t asked_ns = 0;  ///< when programs are to end; 0: nobody asks for that
  std::uint64_t begun_ns = 0;  ///< this program
  std::uint64_t now_ns = 0;
};
bool halts(const HaltTimes& times);

/// What this rank has heard. Pure.
struct Heard {
  std::uint64_t signals = 0;   ///< so many, in all
  std::uint64_t served = 0;    ///< so many had come before the last checkpoint began
  bool end_by_signal = false;  ///< one of them asks for the end
  bool halt = false;
};
unsigned due_reasons(const Heard& heard);

class Due {
 public:
  /// Takes signals where the option `signals` says so.
  explicit Due(const config::Config& config);
  /// Of a checkpoint of this program: who halts that name halts the program.
  void uses(std::string_view name);
  std::uint64_t asked() const { return signals_ ? signals_->asked() : 0; }
  /// A checkpoint succeeded that began when so many signals had asked.
  void served(std::uint64_t asked) { served_ = asked; }
  /// `store`: to be looked at for requests to halt, at most once a second; nullptr: other ranks do.
  unsigned here(const store::Store* store);

 private:
  bool halt_asked(const store::Store& store);

  std::optional<Signals> signals_;
  std::uint64_t served_ = 0;
  const std::uint64_t begun_ns_;  // wall clock
  std::set<std::string, std::less<>> names_;
  std::uint64_t looked_at_ns_ = 0;
  bool halt_ = false;
};

}  // namespace perdure::client

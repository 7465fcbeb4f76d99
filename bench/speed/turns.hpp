#pragma once
// Measures how much a program loses in the second after a checkpoint's call: turns with and without a checkpoint
// alternate.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "perdure/perdure.h"
#include "rewritten.hpp"

namespace perdure::bench {

struct LostTime {
  std::size_t bytes = 256U << 20;
  int turns = 5;           ///< of each kind that count, for each fraction and order; one more warms up
  double seconds = 1;      ///< of an undisturbed turn
  double settle_s = 0.25;  ///< between turns, when all is stored: the engine still tidies up
  std::vector<double> fractions = {0.01, 0.1, 1};
  std::string capture = "copy", store, more;
};

/// A program that rewrites a fraction of its memory and then computes.
class Turns {
 public:
  /// On any error, here and below, ends the process with a message.
  explicit Turns(const LostTime& settings);
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// Returns seconds of each turn. After each checkpoint it compares the captured data with the content at the call.
  nlohmann::json run();

 private:
  void open();
  void check(perdure_status status, const char* call) const;
  nlohmann::json cell(double fraction, Order order);
  double undisturbed(const std::vector<std::uint32_t>& pages, std::uint64_t steps);
  double disturbed(const std::vector<std::uint32_t>& pages, std::uint64_t steps);
  void settle(const std::vector<std::uint32_t>& at_the_call);
  std::vector<std::uint32_t> draw(double fraction, Order order);
  std::uint64_t steps_beside(const std::vector<std::uint32_t>& pages);

  const LostTime& settings_;
  Rewritten rewritten_;
  std::vector<std::byte> restored_;
  perdure_t* handle_ = nullptr;
  std::int64_t version_ = -1;
  std::uint64_t drawn_ = 0;
  bool returned_early_ = false;  ///< a call returned before all data was copied
  double call_s_ = 0;            ///< of the last call
};

}  // namespace perdure::bench

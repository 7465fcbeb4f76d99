#include "client/drain.hpp"

#include <algorithm>
#include <cstdio>

#include "base/bytes.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kFirstLook = kSecond / 10;  // most ends need no longer
constexpr std::uint64_t kLongestLook = 60 * kSecond;

// Gives the time of a look: 0.1 s, 0.9 s, 1 s, 2 s, 4 s, ... A job of 4,096 nodes meets 12 times in 300 s, for two sums
// and one short text.
std::uint64_t look_ns(unsigned round) {
  if (round == 0) return kFirstLook;
  if (round == 1) return kSecond - kFirstLook;
  return round >= 8 ? kLongestLook : kSecond << (round - 2);
}

std::string seconds(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%g", number);
  return std::string(text) + " s";
}

std::string checkpoints(const Left& left, std::uint64_t bytes) {
  return std::to_string(left.versions) + (left.versions == 1 ? " checkpoint (" : " checkpoints (") + left.which +
         (left.which.empty() ? "" : ", ") + base::format_bytes(bytes);
}

std::string still_left(const LeftByAll& left) {
  std::string text = checkpoints(left.first, left.bytes);
  if (left.nodes > 1) text += " on " + std::to_string(left.nodes) + " nodes";
  if (left.written > 0) text += ", " + base::format_bytes(left.written) + " of it written";
  return text + ")";
}

/// Tells people what the end of a handle waits for.
class Telling {
 public:
  Telling(const DrainCalls& calls, const DrainLimits& limits) : calls_(calls), limits_(limits) {}

  // Errors of the telling are ignored: the other ranks wait for this one.
  void hears(const LeftByAll& left, std::uint64_t passed_ns) {
    base::attempt([&] {
      if (left.nodes > 0 && !left.over) tell(left, passed_ns);
      if (left.nodes == 0 && told_)
        calls_.say("closing waited " + waited(passed_ns) + ", until nothing was under way any more");
    });
  }

 private:
  // Reports a failing store at the first look; a store that is being written to gets a second one.
  void tell(const LeftByAll& left, std::uint64_t passed_ns) {
    if (left.first.why.empty() && passed_ns < kSecond) return;
    const std::string why = left.first.why.empty() ? "" : ", because: " + left.first.why;
    const bool stored = left.first.versions == 0;
    const std::string what = stored ? "retention, or an added step of the pipeline" : still_left(left);
    if (told_)
      calls_.say("closing has waited " + waited(passed_ns) + limit(" of ") + "; left: " + what + why);
    else
      calls_.say("closing waits" + limit(" for ") + " until " +
                 (stored ? "this is done: " : "the store " + limits_.store + " has what is left: ") + what + why);
    told_ = true;
  }
  std::string limit(const char* word) const {
    if (limits_.timeout_ns() == 0) return "";
    return word + std::string("at most ") + seconds(limits_.timeout_s) + " (engine.drain_timeout)";
  }
  static std::string waited(std::uint64_t passed_ns) {
    return seconds(static_cast<double>((passed_ns + kSecond / 2) / kSecond));
  }

  const DrainCalls& calls_;
  const DrainLimits& limits_;
  bool told_ = false;
};

/// The time spent waiting. A suspended job does not wait: no engine had a chance to store anything.
class WaitTime {
 public:
  WaitTime(const std::function<std::uint64_t()>& now_ns, std::uint64_t timeout_ns)
      : now_ns_(now_ns), timeout_ns_(timeout_ns), round_ns_(now_ns()) {}
  void begin(std::uint64_t look_ns) {
    before_ns_ = passed_ns();
    round_ns_ = now_ns_();
    most_ns_ = look_ns + 2 * kSecond;
  }
  std::uint64_t passed_ns() const { return before_ns_ + std::min(now_ns_() - round_ns_, most_ns_); }
  bool is_over(std::uint64_t passed_ns) const { return timeout_ns_ != 0 && passed_ns >= timeout_ns_; }
  // Limits a wait to the time that is left. Once that is over, it is the shortest wait: the engine answers at once.
  std::uint64_t at_most(std::uint64_t wanted_ns) const {
    if (timeout_ns_ == 0) return wanted_ns;
    const std::uint64_t passed = passed_ns(), rest_ns = is_over(passed) ? 1 : timeout_ns_ - passed;
    return wanted_ns == 0 ? rest_ns : std::min(wanted_ns, rest_ns);
  }

 private:
  const std::function<std::uint64_t()>& now_ns_;
  std::uint64_t timeout_ns_;
  std::uint64_t before_ns_ = 0, round_ns_ = 0, most_ns_ = 0;
};

}  // namespace

LeftByAll left_by_one(const Left& mine, bool over) {
  LeftByAll all;
  all.over = over;
  if (mine.done) return all;
  all.nodes = 1;
  all.bytes = mine.bytes;
  all.written = mine.written;
  all.first = mine;
  return all;
}

// 0 means for ever; so do times that no clock can count.
std::uint64_t DrainLimits::timeout_ns() const {
  if (!(timeout_s >= 0 && timeout_s < 1e9)) return 0;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(timeout_s * 1e9));
}

base::Result<Left> drain(const DrainCalls& calls, DrainRoles roles, const DrainLimits& limits) {
  WaitTime waited(calls.now_ns, limits.timeout_ns());
  base::Result<Left> left = Left{};
  Telling telling(calls, limits);
  for (unsigned round = 0;; ++round) {
    waited.begin(look_ns(round));
    if (roles.leads && left && (round == 0 || !left->done)) left = calls.ask(waited.at_most(look_ns(round)));
    const std::uint64_t passed_ns = waited.passed_ns();
    const auto all = calls.meet(left ? *left : Left{}, waited.is_over(passed_ns));
    if (!all) return left;  // the other ranks have gone
    if (roles.speaks) telling.hears(*all, passed_ns);
    if (all->nodes == 0) break;
    if (all->over) return left;
  }
  return left && roles.leads && roles.retains ? calls.ask(waited.at_most(0)) : left;
}

base::Error left_behind(const Left& left, const DrainLimits& limits, const std::string& node_directory) {
  std::string cause = checkpoints(left, left.bytes) + ")";
  cause += left.done ? (left.versions == 1 ? " was given up, and did not reach the store"
                                           : " were given up, and did not reach the store")
                     : " did not reach the store";
  if (!left.done && limits.timeout_s > 0) cause += " within engine.drain_timeout, " + seconds(limits.timeout_s);
  if (!left.why.empty()) cause += ", because: " + left.why;
  cause += "; they are kept on this node in " + node_directory;
  return {PERDURE_UNAVAILABLE, limits.store, cause,
          std::string(left.why.empty() ? "mend the store" : "remove that cause") +
              " and start the program again on the same nodes with the same job, which flushes them",
          true};
}

}  // namespace perdure::client

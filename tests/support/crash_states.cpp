#include "support/crash_states.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace perdure::test_support {
namespace {

using Numbers = std::vector<std::size_t>;

constexpr std::array<std::pair<UnsyncedData, const char*>, 4> kFates = {{{UnsyncedData::kept, "kept"},
                                                                         {UnsyncedData::dropped, "dropped"},
                                                                         {UnsyncedData::zeroed, "zeroed"},
                                                                         {UnsyncedData::torn, "torn"}}};

std::vector<Numbers> losses(const Numbers& unsynced) {
  std::vector<Numbers> result;
  if (unsynced.size() <= 4) {
    for (unsigned mask = 0; mask < (1U << unsynced.size()); ++mask) {
      Numbers lost;
      for (std::size_t i = 0; i < unsynced.size(); ++i)
        if ((mask >> i) & 1U) lost.push_back(unsynced[i]);
      result.push_back(lost);
    }
    return result;
  }
  result = {{}, unsynced};
  for (std::size_t number : unsynced) {
    result.push_back({number});
    Numbers others = unsynced;
    std::erase(others, number);
    result.push_back(others);
  }
  return result;
}

void replay(DiskModel& model, const OperationLog& log, std::size_t prefix, const Numbers& lost) {
  for (std::size_t i = 0; i < prefix; ++i)
    model.apply(log.operations()[i], i, std::find(lost.begin(), lost.end(), i) != lost.end());
}

std::string describe(const OperationLog& log, std::size_t prefix, const Numbers& lost, const char* fate) {
  auto text = [&](std::size_t i) { return log.operations()[i].call + " " + log.operations()[i].path; };
  std::string result = "after " + std::to_string(prefix) + " operations";
  if (prefix > 0) result += " (the last: " + text(prefix - 1) + ")";
  result += std::string(", unsynced data ") + fate;
  for (std::size_t i : lost) result += ", lost: " + text(i);
  return result;
}

}  // namespace

std::size_t for_each_crash_state(const OperationLog& log, const std::function<void(const CrashState&)>& visit) {
  std::size_t visited = 0;
  const auto has = [](const std::vector<CrashState>& states, const CrashState& state) {
    return std::any_of(states.begin(), states.end(), [&](const CrashState& other) {
      return other.image == state.image && other.promises == state.promises && (other.all_kept || !state.all_kept);
    });
  };
  std::vector<CrashState> seen;  // of this prefix and the one before; states further apart differ
  for (std::size_t prefix = 0; prefix <= log.operations().size(); ++prefix) {
    std::vector<std::string> promises;
    for (const OperationLog::Mark& mark : log.marks())
      if (mark.operations <= prefix) promises.push_back(mark.promise);
    DiskModel whole(log.start());
    replay(whole, log, prefix, {});
    std::vector<CrashState> states;
    for (const Numbers& lost : losses(whole.unsynced_directory_operations())) {
      DiskModel model(log.start());
      replay(model, log, prefix, lost);
      for (const auto& [fate, name] : kFates) {
        const bool all_kept = lost.empty() && fate == UnsyncedData::kept;
        CrashState state{model.image(fate), promises, describe(log, prefix, lost, name), all_kept};
        if (!has(states, state)) states.push_back(std::move(state));
      }
    }
    for (const CrashState& state : states) {
      if (has(seen, state)) continue;
      visit(state);
      ++visited;
    }
    seen = std::move(states);
  }
  return visited;
}

}  // namespace perdure::test_support

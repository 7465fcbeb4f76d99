#include "cli/prune_outcome.hpp"

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "cli/libraries.hpp"
#include "inspect/table.hpp"

namespace perdure::cli {
namespace {

std::string summary(const PrunePlan& plan, std::uint64_t bytes, bool yes) {
  if (plan.actions.empty() && plan.refused.empty()) return "nothing to remove\n";
  if (plan.actions.empty()) return yes ? "nothing was removed\n" : "nothing would be removed\n";
  const std::string others = plan.refused.empty() ? "" : yes ? "; what is kept was not touched" : "";
  return base::format_bytes(bytes) + (yes ? " removed" + others : " would be removed; --yes does it") + "\n";
}

}  // namespace

int carry_out(const PrunePlan& plan, bool yes, bool json, Terminal& terminal) {
  base::Json actions = base::Json::array();
  Table table({{yes ? "REMOVED" : "WOULD REMOVE"}, {"SIZE", Table::Align::right}, {"WHY"}});
  std::uint64_t bytes = 0;
  bool failed = false;
  for (const PruneAction& action : plan.actions) {
    const base::Status done = yes ? action.act() : base::Status{};
    failed |= !done;
    if (done) bytes += action.bytes;
    if (!done) warn(terminal, done.error());
    table.row({action.what, base::format_bytes(action.bytes), done ? action.why : "FAILED: " + done.error().cause});
    actions.push_back({{"what", action.what},
                       {"why", action.why},
                       {"bytes", action.bytes},
                       {"done", yes && done},
                       {"error", done ? base::Json() : error_json(done.error())}});
  }
  if (json) {
    base::Json outcome = {{"done", yes}, {"actions", actions}, {"kept", plan.refused}, {"bytes", bytes}};
    if (plan.directories) outcome["directories"] = *plan.directories;
    print_json(terminal, outcome);
  } else {
    if (!table.empty()) print(terminal.out, table.text());
    for (const std::string& text : plan.refused) print(terminal.out, base::printable(text) + "\n");
    print(terminal.out, summary(plan, bytes, yes));
  }
  return failed ? kCannot : kGood;
}

}  // namespace perdure::cli

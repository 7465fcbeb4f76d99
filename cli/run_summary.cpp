#include "cli/run_summary.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "base/json.hpp"

namespace perdure::cli {
namespace {

base::Json to_json(const std::vector<Unstored>& unstored) {
  base::Json list = base::Json::array();
  for (const auto& node : unstored)
    list.push_back({{"directory", node.directory},
                    {"versions", node.versions},
                    {"bytes", node.bytes},
                    {"which", node.which},
                    {"why", node.why}});
  return list;
}

base::Json to_json(const LoopSummary& summary) {
  return {{"status", summary.status},
          {"reason", plan::reason_text(summary.reason)},
          {"launches", summary.state.launches},
          {"failures", summary.failures},
          {"early_failures_in_row", summary.state.early_failures_in_row},
          {"computing_s", summary.computing_s},
          {"waiting_s", summary.waiting_s},
          {"newest_complete", summary.versions}};
}

std::string text_of(const LoopSummary& summary) {
  std::string text =
      fmt::format("perdure: {}: {} launches, {} failures, status {}; {:.1f} s computing, {:.1f} s lost in restarts\n",
                  plan::reason_text(summary.reason), summary.state.launches, summary.failures.size(), summary.status,
                  summary.computing_s, summary.waiting_s);
  for (std::size_t i = 0; i < summary.failures.size(); ++i)
    text += fmt::format("perdure:   failure {}: {}\n", i + 1, summary.failures[i]);
  for (const auto& [name, version] : summary.versions)
    text += fmt::format("perdure:   newest complete: {}@{}\n", name, version);
  return text;
}

}  // namespace

void tell(const LoopSummary& summary, const std::vector<Unstored>& unstored, const NodeKeeper* nodes,
          const std::string& json_file, Terminal& terminal) {
  print(terminal.err, text_of(summary));
  for (const auto& node : unstored) print(terminal.err, "perdure:   not stored: " + node.text() + "\n");
  if (!unstored.empty())
    print(terminal.err, "perdure:   started again on this machine, with the same job, the program has it stored\n");
  base::Json json = to_json(summary);
  json["not_stored"] = to_json(unstored);
  if (nodes != nullptr) {
    json["nodes"] = nodes->now().positions;
    json["spare_nodes"] = nodes->now().spares;
    json["excluded_nodes"] = nodes->now().excluded;
    if (!nodes->now().excluded.empty())
      print(terminal.err, "perdure:   excluded nodes: " + listed(nodes->now().excluded) + "\n");
  }
  if (!json_file.empty() && !write_json(json, json_file))
    print(terminal.err, "perdure: " + base::errno_error(errno, "open", json_file).text() + "\n");
}

}  // namespace perdure::cli

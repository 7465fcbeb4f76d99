#include "cli/check_protection_report.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/checkpoints.hpp"
#include "inspect/table.hpp"
#include "launch/process.hpp"

namespace perdure::cli {
namespace {

using Right = Table::Align;

std::string table_text(const CheckFacts& facts, const ProtectionVerdict& verdict) {
  Table table({{"REGION"},
               {"FIRST IN"},
               {"RANK", Right::right},
               {"FIRST ELEMENT", Right::right},
               {"DIFFERENT", Right::right},
               {"OF", Right::right},
               {"RANKS", Right::right},
               {"VERSIONS", Right::right},
               {"UNDISTURBED, THEN AFTER A RESTORE"}});
  for (const auto& [key, difference] : facts.comparison.differing) {
    const RegionDefect& defect = difference.defect;
    const bool sized = defect.first_element.has_value();
    table.row({fmt::format("{} of {}", key.region, key.name), fmt::format("{}@{}", key.name, difference.version),
               std::to_string(difference.rank), sized ? std::to_string(*defect.first_element) : "-",
               sized ? std::to_string(defect.elements) : "-", std::to_string(defect.count),
               std::to_string(difference.ranks.size()), std::to_string(difference.versions.size()),
               defect.what + (verdict.unsteady.contains(key) ? "; undisturbed runs differ here, too" : "")});
  }
  return table.empty() ? "" : table.text();
}

std::string equal_text(const Comparison& comparison) {
  std::map<std::string, std::vector<std::uint32_t>> by_name;
  for (const RegionKey& key : comparison.equal()) by_name[key.name].push_back(static_cast<std::uint32_t>(key.region));
  std::string text;
  for (const auto& [name, regions] : by_name)
    text += fmt::format("perdure:   equal in every version compared: regions {} of {}\n", ranges_text(regions), name);
  return text;
}

base::Json end_json(const plan::ProgramEnd& end) { return {{"ended", end_text(end)}, {"lasted_s", end.lasted_s}}; }

base::Json texts(const std::vector<Checkpoint>& checkpoints) {
  base::Json all = base::Json::array();
  for (const Checkpoint& one : checkpoints) all.push_back(one.text());
  return all;
}

base::Json differing_json(const CheckFacts& facts, const ProtectionVerdict& verdict) {
  base::Json all = base::Json::array();
  for (const auto& [key, difference] : facts.comparison.differing) {
    const RegionDefect& defect = difference.defect;
    all.push_back({{"name", key.name},
                   {"region", key.region},
                   {"suspected", verdict.suspected.contains(key)},
                   {"first_version", difference.version},
                   {"first_rank", difference.rank},
                   {"first_element", defect.first_element ? base::Json(*defect.first_element) : base::Json()},
                   {"different_elements", defect.elements},
                   {"count", defect.count},
                   {"element_bytes", defect.element_bytes},
                   {"what", defect.what},
                   {"ranks", difference.ranks.size()},
                   {"versions", difference.versions.size()}});
  }
  return all;
}

}  // namespace

std::string report_text(const CheckFacts& facts, const ProtectionVerdict& verdict) {
  std::string text = table_text(facts, verdict) + equal_text(facts.comparison);
  if (!facts.comparison.compared.empty())
    text += fmt::format("perdure:   compared, bit by bit: {} versions, {} to {}\n", facts.comparison.compared.size(),
                        facts.comparison.compared.front().text(), facts.comparison.compared.back().text());
  return text + fmt::format("perdure: check of protection: {}: {}\n", finding_name(verdict.finding), verdict.text);
}

base::Json report_json(const CheckFacts& facts, const ProtectionVerdict& verdict) {
  base::Json equal = base::Json::array();
  for (const RegionKey& key : facts.comparison.equal()) equal.push_back({{"name", key.name}, {"region", key.region}});
  base::Json runs = {{{"run", "undisturbed"}}, {{"run", "restored"}}};
  runs[0].update(end_json(facts.undisturbed));
  runs[1].update(end_json(facts.resumed));
  if (facts.repeated) {
    runs.push_back({{"run", "undisturbed again"}});
    runs.back().update(end_json(*facts.repeated));
  }
  return {{"finding", finding_name(verdict.finding)},
          {"text", verdict.text},
          {"runs", runs},
          {"offered", facts.offered},
          {"restored", facts.restored},
          {"compared", texts(facts.comparison.compared)},
          {"only_undisturbed", texts(facts.comparison.only_here)},
          {"only_restored", texts(facts.comparison.only_there)},
          {"differing", differing_json(facts, verdict)},
          {"equal", equal}};
}

base::Json report_json(const base::Error& error) {
  return {{"finding", finding_name(ProtectionFinding::unknown)}, {"text", error.text()}, {"error", error_json(error)}};
}

}  // namespace perdure::cli

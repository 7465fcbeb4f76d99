// docs/metrics.md has every metric as it is, and the Grafana board asks only for existing metrics.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "metrics/definitions.hpp"

namespace perdure::cli {
namespace {

std::string page_text(const char* path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string row_of(const metrics::Definition& definition) {
  constexpr const char* kinds[] = {"counter", "gauge", "histogram"};
  const std::string labels = std::regex_replace(std::string(definition.labels), std::regex("\\w+"), "`$&`");
  return std::string("| `") + definition.name + "` | " + kinds[static_cast<std::size_t>(definition.kind)] + " | " +
         definition.unit + " | " + labels + " | " + definition.help + " |";
}

/// Gives the metrics that a text names; buckets, sums and counts as their histogram.
std::set<std::string> named_in(const std::string& text) {
  std::set<std::string> names;
  const std::regex name("perdure_[a-z_]+");
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) {
    std::string found = it->str();
    for (const std::string part : {"_bucket", "_sum", "_count"}) {
      if (!found.ends_with(part)) continue;
      const std::string whole = found.substr(0, found.size() - part.size());
      const auto* definition = metrics::find_definition(whole);
      if (definition != nullptr && definition->kind == metrics::Kind::histogram) found = whole;
    }
    if (found != "perdure_job") names.insert(found);  // a label
  }
  return names;
}

void expect_known(const std::set<std::string>& names, const char* where) {
  for (const std::string& name : names)
    EXPECT_NE(metrics::find_definition(name), nullptr) << where << " names " << name << ", which no engine exports";
}

TEST(MetricsPage, HasARowForEachMetricInTheirOrder) {
  const std::string page = page_text(PERDURE_METRICS_PAGE);
  std::size_t at = 0, rows = 0;
  for (const auto& definition : metrics::definitions()) {
    const std::size_t found = page.find("\n" + row_of(definition) + "\n", at == 0 ? 0 : at - 1);
    ASSERT_NE(found, std::string::npos) << "missing, or not after the row before it: " << row_of(definition);
    at = found + row_of(definition).size() + 2;
  }
  for (std::size_t row = page.find("\n| `perdure_"); row != std::string::npos;
       row = page.find("\n| `perdure_", row + 1))
    ++rows;
  EXPECT_EQ(rows, metrics::definitions().size()) << "a row too many";
  expect_known(named_in(page), "the page");
}

TEST(MetricsBoard, AsksOnlyForMetricsThatThereAre) {
  const auto board = base::Json::parse(page_text(PERDURE_BOARD), nullptr, false);
  ASSERT_FALSE(board.is_discarded()) << "no JSON";
  std::set<std::string> asked;
  std::set<int> ids;
  for (const auto& panel : board["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second) << panel["title"];
    if (panel["type"] == "row") continue;
    ASSERT_FALSE(panel["targets"].empty()) << panel["title"];
    for (const auto& target : panel["targets"]) {
      const auto names = named_in(target["expr"].get<std::string>());
      EXPECT_FALSE(names.empty()) << target["expr"];
      EXPECT_EQ(target["datasource"]["uid"], "${datasource}");
      asked.insert(names.begin(), names.end());
    }
  }
  expect_known(asked, "the board");
  for (const char* wanted : {"perdure_newest_checkpoint_timestamp_seconds", "perdure_capture_seconds",
                             "perdure_unflushed_bytes", "perdure_tier_slots_used", "perdure_flush_bytes_total",
                             "perdure_flush_failures_total", "perdure_protections_total"})
    EXPECT_TRUE(asked.contains(wanted)) << wanted;
}

TEST(MetricsBoard, LetsItsUserChooseWhereTheDataIs) {
  const auto board = base::Json::parse(page_text(PERDURE_BOARD), nullptr, false);
  ASSERT_FALSE(board.is_discarded());
  std::map<std::string, base::Json> variables;
  for (const auto& variable : board["templating"]["list"]) variables[variable["name"].get<std::string>()] = variable;
  EXPECT_EQ(variables["datasource"]["type"], "datasource");
  for (const char* name : {"job", "node"})
    expect_known(named_in(variables[name]["definition"].get<std::string>()), name);
  EXPECT_EQ(variables.size(), 3u);
}

}  // namespace
}  // namespace perdure::cli

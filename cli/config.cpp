// perdure config prints the effective configuration and where each value came from.
#include "config/config.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/json.hpp"
#include "cli/configuration.hpp"
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/table.hpp"
#include "inspect/words.hpp"

namespace perdure::cli {
namespace {

struct ConfigArguments {
  std::vector<std::string> topics;
  bool json = false, markdown = false, verbose = false;
};

std::string origin_text(const config::Value& value) {
  switch (value.origin) {
    case config::Origin::file:
      return "file " + value.source;
    case config::Origin::environment:
      return "environment " + value.source;
    default:
      return config::origin_name(value.origin);
  }
}

/// Topics are "store" and "tier.memory", and also a whole key; without any, all options are meant.
bool belongs(const std::string& key, const std::vector<std::string>& topics) {
  return topics.empty() || std::any_of(topics.begin(), topics.end(), [&](const std::string& topic) {
           return key == topic || key.starts_with(topic + ".");
         });
}

/// Names the existing topics, if no option begins with the word.
std::optional<base::Error> unknown_topic(const std::vector<std::string>& topics) {
  std::vector<std::string> known;
  for (const config::Option& option : config::options()) {
    const std::string key = option.key;
    known.push_back(key.substr(0, key.find('.')));
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& topic : topics) {
    const auto& options = config::options();
    const bool any = std::any_of(options.begin(), options.end(),
                                 [&](const config::Option& option) { return belongs(option.key, {topic}); });
    if (!any)
      return base::Error{PERDURE_INVALID_ARGUMENT, "topic '" + topic.substr(0, 100) + "'",
                         "no option begins with that word", "the words are " + enumerated(known, known.size()), false};
  }
  return std::nullopt;
}

int show(const ConfigArguments& arguments, Terminal& terminal) {
  if (arguments.markdown) {
    print(terminal.out, config::markdown());
    return kGood;
  }
  if (const auto unknown = unknown_topic(arguments.topics)) return report(terminal, *unknown);
  auto config = configuration_as_given(terminal);
  if (!config) return report(terminal, config.error());
  base::Json options = base::Json::array();
  std::vector<Table::Column> columns{{"KEY"}, {"VALUE"}, {"UNIT"}, {"ORIGIN"}};
  if (arguments.verbose) columns.push_back({"MEANING"});
  Table table(columns);
  for (const config::Option& option : config::options()) {
    if (!belongs(option.key, arguments.topics)) continue;
    const config::Value& value = config->values().find(option.key)->second;
    options.push_back({{"key", option.key},
                       {"value", value.text},
                       {"unit", option.unit},
                       {"origin", config::origin_name(value.origin)},
                       {"source", value.source},
                       {"environment", option.environment},
                       {"default", option.default_value},
                       {"documentation", option.documentation}});
    table.row({option.key, value.text, option.unit, origin_text(value), option.documentation});
  }
  if (arguments.json) {
    print_json(terminal, {{"options", options}, {"fingerprint", config->fingerprint()}});
  } else {
    print(terminal.out, table.text());
  }
  return kGood;
}

}  // namespace

Action enrol_config(CLI::App& app) {
  auto arguments = std::make_shared<ConfigArguments>();
  app.add_option("TOPIC", arguments->topics, "only options that begin with this word: store, node, tier.memory, flush");
  app.add_flag("--markdown", arguments->markdown, "the page docs/configuration.md");
  app.add_flag("--verbose", arguments->verbose, "with the meaning of each option");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return show(*arguments, terminal); };
}

}  // namespace perdure::cli

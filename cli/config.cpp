// perdure config: the effective configuration and where each value came from.
#include "config/config.hpp"

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "cli/configuration.hpp"
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/table.hpp"

namespace perdure::cli {
namespace {

struct ConfigArguments {
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

int show(const ConfigArguments& arguments, Terminal& terminal) {
  if (arguments.markdown) {
    print(terminal.out, config::markdown());
    return kGood;
  }
  auto config = configuration_as_given(terminal);
  if (!config) return report(terminal, config.error());
  base::Json options = base::Json::array();
  std::vector<Table::Column> columns{{"KEY"}, {"VALUE"}, {"UNIT"}, {"ORIGIN"}};
  if (arguments.verbose) columns.push_back({"MEANING"});
  Table table(columns);
  for (const config::Option& option : config::options()) {
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
  app.add_flag("--markdown", arguments->markdown, "the page docs/configuration.md");
  app.add_flag("--verbose", arguments->verbose, "with the meaning of each option");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return show(*arguments, terminal); };
}

}  // namespace perdure::cli

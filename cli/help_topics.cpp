#include "cli/help_topics.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

namespace perdure::cli {
namespace {

constexpr std::size_t kFewOptions = 8;

struct OptionGroup {
  std::string_view option, title;
};
// An option that is not here stands under "Options".
constexpr auto kTopics = std::to_array<OptionGroup>({
    {"--restarts", "After a failure"},
    {"--backoff", "After a failure"},
    {"--engine", "Store and settings"},
    {"--store", "Store and settings"},
    {"--job", "Store and settings"},
    {"--set", "Store and settings"},
    {"--nodes", "Nodes"},
    {"--hosts", "Nodes"},
    {"--hostfile", "Nodes"},
    {"--spares", "Nodes"},
    {"--failed-nodes", "Nodes"},
    {"--exclude", "Nodes"},
    {"--shrink-nodes", "Nodes"},
    {"--probe", "Nodes"},
    {"--probe-timeout", "Nodes"},
    {"--writers", "Nodes"},
    {"--check-protection", "What is not protected"},
    {"--restore-from", "What is not protected"},
    {"--branches", "What goes"},
    {"--leftovers", "What goes"},
    {"--quarantine", "What goes"},
    {"--node", "What goes"},
    {"--after", "What goes"},
    {"--keep-last", "What stays"},
    {"--keep-every", "What stays"},
    {"--min-age", "What stays"},
    {"--older-than", "What goes"},
    {"--even-unstored", "What goes"},
    {"--even-the-last", "What goes"},
    {"--every", "Checkpoints"},
    {"--name", "Checkpoints"},
    {"--increments", "Checkpoints"},
    {"--pre-copy", "Checkpoints"},
    {"--hash-files", "Checkpoints"},
    {"--tree", "The program"},
    {"--stop", "The program"},
    {"--leave-running", "The program"},
    {"--force-without", "The program"},
    {"--affinity", "The program"},
    {"--resume", "Going on"},
    {"--again", "Going on"},
    {"--cut-back-files", "Going on"},
    {"--detach", "Going on"},
    {"--lazy", "Going on"},
    {"--name-space", "Going on"},
    {"--chunks", "Data"},
    {"--chunk-bytes", "Data"},
    {"--total-bytes", "Data"},
    {"--member", "Data"},
    {"--rank", "Data"},
    {"--cache", "Placement and flush"},
    {"--policy", "Placement and flush"},
    {"--flush-threads", "Placement and flush"},
    {"--flush-order", "Placement and flush"},
    {"--interval", "Placement and flush"},
    {"--interference", "Placement and flush"},
    {"--seed", "Repetitions"},
    {"--repetitions", "Repetitions"},
    {"--json", "Answer"},
    {"--csv", "Answer"},
    {"--to", "Answer"},
    {"--width", "Answer"},
    {"--force", "Answer"},
});

std::string_view topic_of(const CLI::Option& option) {
  for (const std::string& name : option.get_lnames()) {
    const auto known = std::find_if(kTopics.begin(), kTopics.end(),
                                    [&](const OptionGroup& group) { return group.option == "--" + name; });
    if (known != kTopics.end()) return known->title;
  }
  return {};
}

}  // namespace

void sort_by_topic(CLI::App& verb) {
  const auto options = verb.get_options([](const CLI::Option* option) { return option->nonpositional(); });
  if (options.size() <= kFewOptions) return;
  for (CLI::Option* option : options)
    if (const auto topic = topic_of(*option); !topic.empty()) option->group(std::string(topic));
}

}  // namespace perdure::cli

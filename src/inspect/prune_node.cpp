#include "inspect/prune_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/json.hpp"
#include "node/give_up.hpp"
#include "node/store_look.hpp"

namespace perdure::inspect {
namespace {

using What = NodeChoice::What;

NodeChoice keep(const node::Left& left, const std::string& why) {
  return {What::keep, left.directory.path + " is kept: " + why};
}

bool is_asked_for(const NodePrune& wish, const node::Left& left) {
  const bool named = wish.names.empty() || std::any_of(wish.names.begin(), wish.names.end(),
                                                       [&](const auto& name) { return left.holds(name); });
  return named &&
         (!left.job || ((!wish.job || left.job->job == *wish.job) && (!wish.store || left.job->store == *wish.store)));
}

// Gives a held version of a name that was not asked for.
const node::Holding* other_name(const NodePrune& wish, const node::Left& left) {
  const auto found = std::find_if(left.holdings.begin(), left.holdings.end(),
                                  [&](const auto& one) { return !wish.names.contains(one.id.name); });
  return wish.names.empty() || found == left.holdings.end() ? nullptr : &*found;
}

std::string stored_text(const node::Left& left) {
  if (left.holdings.empty()) return node::whose(left) + ": it holds nothing";
  return node::whose(left) + ": " + node::enumerated(left.holdings) + ", all of it at the store";
}

base::Json held_json(const node::Left& left, const node::Judgement& judgement) {
  base::Json held = base::Json::array();
  for (const node::Holding& one : left.holdings) {
    const bool lacking = std::find(judgement.lacking.begin(), judgement.lacking.end(), one) != judgement.lacking.end();
    held.push_back({{"name", one.id.name}, {"version", one.id.version}, {"bytes", one.bytes}, {"at_store", !lacking}});
  }
  return held;
}

base::Json directory_json(const node::Left& left, const node::Judgement& judgement) {
  const auto known = [](bool is, const std::string& text) { return is ? base::Json(text) : base::Json(); };
  const bool noted = left.job.has_value();
  return {{"path", left.directory.path},
          {"job", known(noted, noted ? left.job->job : "")},
          {"store", known(noted, noted ? left.job->store : "")},
          {"node", known(noted, noted ? left.job->node : "")},
          {"bytes", left.directory.bytes},
          {"unused_s", left.directory.unused_s()},
          {"alive", left.directory.alive},
          {"all_at_store", judgement.all_stored()},
          {"not_known", known(!judgement.unknown.empty(), judgement.unknown)},
          {"held", held_json(left, judgement)}};
}

}  // namespace

NodeChoice choose(const NodePrune& wish, const node::Left& left, const node::Judgement& judgement) {
  if (!is_asked_for(wish, left)) return {};
  if (left.directory.alive) return keep(left, "its engine lives");
  if (!left.job && (wish.job || wish.store)) return keep(left, "it is left by " + node::whose(left));
  if (const auto* other = other_name(wish, left))
    return keep(left, "it also holds " + other->text() + " of " + node::whose(left) + "; name that, too");
  if (const double unused_s = left.directory.unused_s(); unused_s < wish.older_than_s)
    return keep(left, fmt::format("it was used {:.1f} h ago (--older-than)", unused_s / 3600));
  if (judgement.all_stored()) return {What::remove, stored_text(left)};
  const std::string lacking = node::lacking_text(left, judgement);
  if (wish.even_unstored || wish.older_than_s > 0)
    return {What::remove, "what the store lacks is lost with it: " + lacking};
  return keep(left, "the store lacks what it holds: " + lacking +
                        " (--even-unstored, or --older-than SECONDS, removes that, too)");
}

base::Status plan_node(const config::Config& config, const NodePrune& wish, PrunePlan& plan) {
  PERDURE_TRY(const auto directories, node::find_engine_directories(config));
  const auto stores = std::make_shared<node::StoreLook>(
      [&config](const std::string& location) { return store::make_store(location, config.below("store.")); });
  base::Json all = base::Json::array();
  std::set<std::string> nowhere = wish.names;
  for (const node::EngineDirectory& directory : directories) {
    const node::Left left = node::look_at(directory);
    for (const node::Holding& one : left.holdings) nowhere.erase(one.id.name);
    if (!is_asked_for(wish, left)) continue;
    const node::Facts facts = directory.alive ? node::Facts() : stores->facts_of(left);
    const node::Judgement judgement = node::judge(left, facts);
    const NodeChoice choice = choose(wish, left, judgement);
    all.push_back(directory_json(left, judgement));
    if (choice.what == What::keep) plan.refused.push_back(choice.why);
    if (choice.what != What::remove) continue;
    const auto remove = [left, facts, stores, stored = judgement.all_stored()]() -> base::Status {
      if (stored) PERDURE_CHECK(stores->make_lasting(left, facts));
      return node::give_up(left);
    };
    plan.actions.push_back({directory.path, choice.why, directory.bytes, remove});
  }
  for (const std::string& name : nowhere)
    plan.refused.push_back(name + ": no engine's directory on this machine holds anything of it");
  plan.directories = std::make_shared<base::Json>(std::move(all));
  return {};
}

}  // namespace perdure::inspect

#include "campaign/model.hpp"

#include <algorithm>

#include "redundancy/registry.hpp"

namespace perdure::campaign {
namespace {

std::vector<std::vector<int>> groups_of(const Launch& launch) {
  std::vector<std::vector<int>> groups;
  const auto scheme = redundancy::find_scheme(launch.scheme);
  if (!scheme || !redundancy::keeps_redundancy(**scheme)) return groups;
  const auto limits =
      redundancy::group_limits(**scheme, redundancy::parities(**scheme, static_cast<unsigned>(launch.parities)));
  if (!limits) return groups;
  const std::vector<redundancy::Domains> alone(launch.nodes.size());
  const auto plan = redundancy::plan_groups(alone, static_cast<unsigned>(launch.group_size), *limits);
  if (!plan) return groups;
  for (const auto& group : plan->groups)
    for (auto& numbers = groups.emplace_back(); const auto node : group) numbers.push_back(launch.nodes[node]);
  return groups;
}

bool contains(const std::vector<int>& nodes, int node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

bool is_killed(const Launch& launch) { return !launch.crash.empty() || !launch.killed.empty(); }

/// The launch is refused threads or memory.
bool gets_less(const Launch& launch) { return !launch.refused.empty(); }

/// Errors that are caused by another process's failure, or that may be temporary.
bool may_pass(int status) {
  return status == PERDURE_UNAVAILABLE || status == PERDURE_PEER_FAILED || status == PERDURE_TIMEOUT ||
         status == PERDURE_BUSY;
}

/// Results that a wait may give for a version of which a part is lost.
bool is_explained(int status) {
  return may_pass(status) || status == PERDURE_NOT_FOUND || status == PERDURE_INCOMPLETE;
}

std::string quoted(const Answer& answer) {
  return std::string(perdure_status_name(static_cast<perdure_status>(answer.status))) +
         (answer.text.empty() ? "" : " (" + answer.text + ")");
}

}  // namespace

/// The state of judging one launch.
struct Model::Judging {
  const Launch& launch;
  std::size_t number;
  const Told& told;
  std::uint64_t base = 0;  ///< the step of the program's state, 0 at a start
  bool writes = false;     ///< it has captured something, and so owns the name
  bool goes_on = true;     ///< false after a failed restore
  std::vector<Violation> found{};
  void violation(std::string rule, const std::string& text) {
    found.push_back({std::move(rule), "launch " + std::to_string(number + 1) + ": " + text});
  }
};

Model::Attempt* Model::find(std::uint64_t step) {
  const auto at = std::find_if(attempts_.begin(), attempts_.end(), [&](const auto& a) { return a.step == step; });
  return at == attempts_.end() ? nullptr : &*at;
}

std::string Model::text_of(const Attempt& attempt) const {
  static constexpr const char* kLevels[] = {"none", "process", "node", "store"};
  return scenario_.jobs[static_cast<std::size_t>(attempt.job)].name + " version " + std::to_string(attempt.version) +
         " of launch " + std::to_string(launch_of(attempt.step) + 1) + " (state " + std::to_string(attempt.step) +
         ", of " + std::to_string(attempt.ranks) + " ranks" + ", promised at level " + kLevels[attempt.level] +
         (attempt.left ? ", left" : "") + ")";
}

std::string Model::text() const {
  std::string all;
  for (const Attempt& attempt : attempts_) all += "  " + text_of(attempt) + "\n";
  return all;
}

bool Model::survives_at_node(const Attempt& attempt, const Launch& launch) const {
  const auto groups = groups_of(attempt.layout);
  if (groups.empty()) return false;
  const auto& scheme = **redundancy::find_scheme(attempt.layout.scheme);
  const unsigned m = redundancy::parities(scheme, static_cast<unsigned>(attempt.layout.parities));
  for (const auto& group : groups) {
    redundancy::Positions lost;
    for (std::size_t p = 0; p < group.size(); ++p)
      lost[p] = !attempt.intact.contains(group[p]) || attempt.damaged_on.contains(group[p]) ||
                !contains(launch.nodes, group[p]) || launch.missing == group[p];
    if (!scheme.survives(static_cast<unsigned>(group.size()), m, lost)) return false;
  }
  return true;
}

/// Whether the launch finds the version without redundancy, because all its nodes are there. With arrays each rank
/// needs elements of other ranks. Across nodes, engines reach those only with a network, or in the store.
bool Model::is_where_it_was(const Attempt& attempt, const Launch& launch) const {
  const auto& nodes = attempt.layout.nodes;
  const bool intact = std::all_of(nodes.begin(), nodes.end(), [&](int node) { return attempt.intact.contains(node); });
  if (scenario_.jobs[static_cast<std::size_t>(launch.job)].arrays == 0)
    return intact && nodes == launch.nodes && attempt.layout.per_node == launch.per_node;
  const bool reached = launch.nodes.size() == 1 || launch.scheme != "single" || launch.store == "works";
  return intact && reached && has_room(launch) &&
         std::all_of(nodes.begin(), nodes.end(), [&](int node) { return contains(launch.nodes, node); });
}

/// Whether the store has the version, and retention has not retired it for newer ones that were damaged since.
bool Model::is_the_store_s(std::size_t number, const Launch& launch) const {
  const Attempt& attempt = attempts_[number];
  if (attempt.level < PERDURE_LEVEL_STORE || attempt.store_gone || attempt.damaged_in_store) return false;
  if (launch.store == "unreadable") return false;
  int newer = 0, damaged = 0, keep = launch.keep_last;
  for (std::size_t i = number + 1; i < attempts_.size(); ++i) {
    if (attempts_[i].job != attempt.job) continue;
    ++newer;
    damaged += attempts_[i].damaged_in_store ? 1 : 0;
    keep = std::min(keep, attempts_[i].layout.keep_last);
  }
  return newer < keep || damaged < keep;
}

bool Model::is_there(std::size_t number, const Launch& launch) const {
  const Attempt& attempt = attempts_[number];
  if (attempt.left || attempt.refused || attempt.forgotten || attempt.level < PERDURE_LEVEL_PROCESS) return false;
  if (is_the_store_s(number, launch)) return true;
  // The nodes give up versions that the store has, or had before damage there.
  if (attempt.level >= PERDURE_LEVEL_STORE || (attempt.store_gone && attempt.may_be_stored)) return false;
  if (attempt.damaged_in_store) return false;
  if (attempt.may_be_stored && launch.store == "unreadable") return false;
  bool newer_acknowledged = false, newer_survives = true;
  for (std::size_t i = number + 1; i < attempts_.size(); ++i) {
    const Attempt& newer = attempts_[i];
    if (newer.job != attempt.job || newer.refused || newer.forgotten) continue;
    newer_acknowledged = newer_acknowledged || newer.level >= PERDURE_LEVEL_PROCESS;
    newer_survives = newer_survives && survives_at_node(newer, launch);
  }
  // A newer version may have reached level node unnoticed; then that one counts.
  // Pieces that have to move to other nodes need room there.
  const bool arrays = scenario_.jobs[static_cast<std::size_t>(attempt.job)].arrays != 0;
  const bool fits = has_room(launch) || (!arrays && attempt.layout.nodes == launch.nodes);
  if (attempt.level == PERDURE_LEVEL_NODE && newer_survives && fits && survives_at_node(attempt, launch)) return true;
  if (newer_acknowledged || launch.missing >= 0 || !attempt.damaged_on.empty()) return false;
  return is_where_it_was(attempt, launch);
}

std::optional<std::size_t> Model::required(const Launch& launch) const {
  for (std::size_t i = attempts_.size(); i-- > 0;)
    if (attempts_[i].job == launch.job && is_there(i, launch)) return i;
  return std::nullopt;
}

/// A part certainly exists, so that no launch may call this a first start.
bool Model::is_proof(const Attempt& attempt, const Launch& launch) const {
  if (attempt.refused || attempt.forgotten || attempt.left || attempt.level < PERDURE_LEVEL_PROCESS) return false;
  if (attempt.level >= PERDURE_LEVEL_STORE) return !attempt.store_gone && launch.store != "unreadable";
  if (attempt.may_be_stored) return false;
  return std::any_of(attempt.intact.begin(), attempt.intact.end(),
                     [&](int node) { return contains(launch.nodes, node); });
}

bool Model::is_foreign(const Launch& launch, bool certainly) const {
  const auto at = owners_.find(scenario_.jobs[static_cast<std::size_t>(launch.job)].name);
  if (at == owners_.end()) return false;
  const auto other = [&](int job) { return job >= 0 && job != launch.job; };
  return certainly ? std::all_of(at->second.begin(), at->second.end(), other)
                   : std::any_of(at->second.begin(), at->second.end(), other);
}

void Model::note_owner(const Launch& launch, bool writes) {
  const std::string& name = scenario_.jobs[static_cast<std::size_t>(launch.job)].name;
  auto& owners = owners_.try_emplace(name, std::set<int>{-1}).first->second;
  if (is_foreign(launch, true) || launch.store == "unreadable") return;
  if (writes && launch.store == "works") owners = {launch.job};
  owners.insert(launch.job);
}

std::vector<Violation> Model::judge(std::size_t number, const Told& told) {
  Judging now{scenario_.launches[number], number, told};
  if (now.launch.store == "works")
    for (Attempt& attempt : attempts_) attempt.may_be_stored = true;
  if (told.hung) now.violation("nobody waits for ever", "it did not end within its time limit");
  const bool wrong_use = told.why_not_opened.find("invalid-argument") != std::string::npos;
  if (!told.all_opened && (wrong_use || is_undisturbed(now.launch)))
    now.violation("every call succeeds where nothing fails", "open: " + told.why_not_opened);
  if (told.stopped) now.violation("ranks end as they are told", "some ended otherwise");
  for (std::size_t act = 0; act < now.launch.acts.size(); ++act) judge_act(now, act);
  judge_rival(now);
  note_owner(now.launch, now.writes);
  return now.found;
}

void Model::judge_act(Judging& now, std::size_t act) {
  const Answer* one = nullptr;
  bool good = false, bad = false, any_done = false;
  bool begun = false;
  for (const auto& rank : now.told.answers) {
    const Answer& answer = rank[act];
    begun = begun || answer.begun;
    if (!answer.done) continue;
    any_done = true;
    (answer.status == PERDURE_OK ? good : bad) = true;
    // Among failed ranks, prefers the one that knows the cause.
    if (one == nullptr || (one->status == PERDURE_PEER_FAILED && answer.status != PERDURE_OK)) one = &answer;
  }
  const Act kind = now.launch.acts[act];
  if (!begun) return;
  const std::string what = name_of(kind);
  // After all ranks have staged, a commit that gets no memory is the failure of one rank.
  const bool own = kind == Act::close || ((kind == Act::checkpoint || kind == Act::rewrite) && gets_less(now.launch));
  if (any_done && good && bad && !own)
    now.violation("if any rank fails, all ranks get an error", what + ": one of them was told " + quoted(*one));
  if (any_done && good && !bad)
    for (const auto& rank : now.told.answers)
      if (rank[act].done && (rank[act].step != one->step || rank[act].version != one->version))
        now.violation("all ranks have the same version",
                      what + ": states " + std::to_string(one->step) + " and " + std::to_string(rank[act].step));
  for (const auto& rank : now.told.answers)
    if (rank[act].done && rank[act].status == PERDURE_OK && !rank[act].right)
      now.violation("what is restored is what was captured",
                    what + ": state " + std::to_string(rank[act].step) + ": " + rank[act].text);
  for (const auto& rank : now.told.answers)
    if (rank[act].done && rank[act].touched &&
        (rank[act].status == PERDURE_MISMATCH || rank[act].status == PERDURE_NOT_FOUND))
      now.violation("what does not fit touches nothing", what + ": " + quoted(rank[act]));
  Answer none;
  const Answer& answer = any_done ? *one : none;
  if (kind == Act::checkpoint || kind == Act::rewrite) {
    // The ranks agree on the number, so each rank that has begun knows it.
    for (const auto& rank : now.told.answers)
      if (rank[act].begun) none.version = std::max(none.version, rank[act].version);
    return judge_checkpoint(now, act, any_done ? answer : none);
  }
  if (!any_done) return;
  if (kind == Act::restore || kind == Act::back) judge_restore(now, answer, kind == Act::restore);
  if (kind == Act::look) judge_look(now, answer);
  if (kind == Act::node) judge_wait(now, answer, PERDURE_LEVEL_NODE);
  if (kind == Act::store) judge_wait(now, answer, PERDURE_LEVEL_STORE);
  if (kind == Act::close) judge_close(now, answer);
}

void Model::leave_what_is_newer(int job, std::uint64_t step) {
  bool newer = step == 0;
  for (Attempt& attempt : attempts_) {
    if (attempt.job == job && newer) attempt.left = true;
    newer = newer || attempt.step == step;
  }
}

void Model::judge_restore(Judging& now, const Answer& answer, bool latest) {
  if (answer.status != PERDURE_OK) return judge_failed_restore(now, answer, latest);
  // The store records the current owner of the name.
  if (is_foreign(now.launch, true) && now.launch.store != "unreadable")
    now.violation("a job never goes on from another job's state", "it restored state " + std::to_string(answer.step));
  Attempt* const attempt = find(answer.step);
  if (attempt == nullptr)
    return now.violation("what is restored was captured", "state " + std::to_string(answer.step) + " of no checkpoint");
  if (attempt->job != now.launch.job)
    now.violation("a job never goes on from another job's state", "it restored " + text_of(*attempt));
  if (attempt->version != answer.version)
    now.violation("the version restored is the one that is told",
                  "version " + std::to_string(answer.version) + ", but the content is " + text_of(*attempt));
  if (attempt->refused) now.violation("a checkpoint that failed leaves nothing", "it restored " + text_of(*attempt));
  if (attempt->forgotten) now.violation("what was forgotten does not come back", "it restored " + text_of(*attempt));
  const auto number = static_cast<std::size_t>(attempt - attempts_.data());
  if (const auto wanted = required(now.launch); latest && wanted && *wanted > number)
    now.violation("the latest is never older than what was promised",
                  "it restored " + text_of(*attempt) + ", but there must be " + text_of(attempts_[*wanted]));
  now.base = answer.step;
  if (!latest) leave_what_is_newer(now.launch.job, answer.step);
}

void Model::judge_first_start(Judging& now, const Answer& answer) const {
  for (const Attempt& attempt : attempts_)
    if (attempt.job == now.launch.job && is_proof(attempt, now.launch))
      return now.violation("not-found is a first start only",
                           "the answer was " + quoted(answer) + ", but there is something of " + text_of(attempt));
}

void Model::judge_failed_restore(Judging& now, const Answer& answer, bool latest) {
  const int status = answer.status;
  if (is_foreign(now.launch, true)) {
    now.goes_on = false;
    if (status != PERDURE_MISMATCH && !is_killed(now.launch) && now.launch.store == "works")
      now.violation("another job's name is refused", "the answer was " + quoted(answer));
    return;
  }
  if (status == PERDURE_MISMATCH && is_foreign(now.launch, false)) {
    now.goes_on = false;
    return;
  }
  const auto passes =
      may_pass(status) && (is_killed(now.launch) || now.launch.store != "works" || now.launch.hung >= 0);
  const bool device = status == PERDURE_IO && now.launch.store != "works";
  const bool nothing = status == PERDURE_NOT_FOUND;
  const bool parts = status == PERDURE_INCOMPLETE || status == PERDURE_CORRUPT;
  // Missing memory for a read is not distinguished from damage yet.
  const bool for_want = gets_less(now.launch) && !nothing;
  // Pieces that have to be fetched or rebuilt need room on the node. A tier of a left engine that the ranks cannot open
  // needs a descriptor.
  const bool left = now.number > 0 && scenario_.launches[now.number - 1].engines == "left";
  const bool no_tier = now.launch.missing >= 0 && (now.launch.tiers == "memory" || left);
  const bool no_room = status == PERDURE_NO_SPACE && (!has_room(now.launch) || no_tier);
  const bool other_number = !latest && status == PERDURE_MISMATCH;
  if (!nothing && !parts && !passes && !device && !for_want && !no_room && !other_number)
    now.violation("a restore says what it may say", "the answer was " + quoted(answer));
  if (!latest) return nothing ? judge_first_start(now, answer) : void();  // the program keeps its state
  now.goes_on = nothing;
  if (for_want) return;
  const auto wanted = required(now.launch);
  if (wanted && (nothing || parts))
    now.violation("what was promised comes back",
                  "the answer was " + quoted(answer) + ", but there must be " + text_of(attempts_[*wanted]));
  else if (nothing)
    judge_first_start(now, answer);
  else if (parts && std::none_of(attempts_.begin(), attempts_.end(), [&](const Attempt& attempt) {
             return attempt.job == now.launch.job && !attempt.forgotten;
           })) {
    now.violation("a first start is told so", "the answer was " + quoted(answer) + ", but nothing was begun ever");
  }
}

void Model::judge_look(Judging& now, const Answer& answer) {
  if (answer.status != PERDURE_OK) return judge_failed_restore(now, answer, true);
  const auto wanted = required(now.launch);
  const bool known = std::any_of(attempts_.begin(), attempts_.end(), [&](const Attempt& attempt) {
    return attempt.job == now.launch.job && attempt.version == answer.version && !attempt.forgotten;
  });
  if (!known) now.violation("what is told was captured", "the latest is version " + std::to_string(answer.version));
  if (!wanted) return;
  const bool new_enough = std::any_of(
      attempts_.begin() + static_cast<std::ptrdiff_t>(*wanted), attempts_.end(),
      [&](const Attempt& attempt) { return attempt.job == now.launch.job && attempt.version == answer.version; });
  if (!new_enough)
    now.violation(
        "the latest is never older than what was promised",
        "it is version " + std::to_string(answer.version) + ", but there must be " + text_of(attempts_[*wanted]));
}

void Model::judge_checkpoint(Judging& now, std::size_t act, const Answer& answer) {
  const std::uint64_t step = step_of(now.number, act);
  // Versions newer than the restored one form a branch that the program left.
  if (now.base != step) leave_what_is_newer(now.launch.job, now.base);
  Attempt fresh;
  fresh.job = now.launch.job;
  fresh.step = step;
  fresh.version = answer.version;
  fresh.ranks = scenario_.ranks_of(now.launch);
  fresh.layout = now.launch;
  fresh.intact = {now.launch.nodes.begin(), now.launch.nodes.end()};
  fresh.may_be_stored = now.launch.store == "works";
  const bool taken = answer.done && answer.status == PERDURE_OK;
  if (taken) fresh.level = PERDURE_LEVEL_PROCESS;
  fresh.refused = answer.done && !taken && !may_pass(answer.status) && !gets_less(now.launch);
  attempts_.push_back(fresh);
  if (taken) now.base = step;
  now.writes = now.writes || taken;
  if (answer.done && !taken && is_undisturbed(now.launch))
    now.violation("every call succeeds where nothing fails", std::string("checkpoint: ") + quoted(answer));
}

void Model::judge_wait(Judging& now, const Answer& answer, int level) {
  Attempt* const attempt = find(now.base);
  if (attempt == nullptr) return;
  // A restore on other ranks completes nothing at the store, and brings nodes only the pieces that their ranks need.
  const bool others = attempt->ranks != scenario_.ranks_of(now.launch) && !is_where_it_was(*attempt, now.launch);
  const bool possible = level == PERDURE_LEVEL_STORE || !groups_of(now.launch).empty();
  if (answer.status == PERDURE_OK) {
    // An engine that started later knows less, and a rank without memory may not even be able to ask.
    const bool not_asked = answer.level == PERDURE_LEVEL_NONE && gets_less(now.launch);
    if (answer.level < level && !not_asked && !is_killed(now.launch))
      now.violation("the level told is the one that was waited for",
                    "level " + std::to_string(answer.level) + " after a wait for " + std::to_string(level));
    attempt->level = std::max(attempt->level, level);
    if (level == PERDURE_LEVEL_STORE) {
      attempt->store_gone = attempt->damaged_in_store = false;
    } else {
      attempt->layout = now.launch;
      attempt->intact = {now.launch.nodes.begin(), now.launch.nodes.end()};
    }
  } else if (others && is_explained(answer.status)) {
    return;
  } else if (possible && is_undisturbed(now.launch)) {
    now.violation("every call succeeds where nothing fails",
                  std::string("wait for ") + (level == PERDURE_LEVEL_NODE ? "node: " : "store: ") + quoted(answer));
  }
}

void Model::judge_close(Judging& now, const Answer& answer) {
  if (answer.status != PERDURE_OK) {
    // Redundancy of versions by other ranks may remain.
    const bool rest = answer.status == PERDURE_INCOMPLETE &&
                      std::any_of(attempts_.begin(), attempts_.end(), [&](const Attempt& attempt) {
                        return attempt.job == now.launch.job && attempt.ranks != scenario_.ranks_of(now.launch);
                      });
    if (is_undisturbed(now.launch) && !rest)
      now.violation("every call succeeds where nothing fails", "close: " + quoted(answer));
    return;
  }
  // With an embedded engine nothing remains to be done: the newest version is in the store.
  Attempt* const attempt = find(now.base);
  if (now.launch.mode == "embedded" && attempt != nullptr && launch_of(now.base) == now.number)
    attempt->level = PERDURE_LEVEL_STORE;
}

/// The store records a name's owner from its first write on, if the store accepted it. An owner that has stopped for a
/// while may be taken for dead.
void Model::judge_rival(Judging& now) {
  if (!now.told.rival || now.launch.store != "works" || now.launch.hung >= 0 || gets_less(now.launch)) return;
  const auto owners = owners_.find(scenario_.jobs[static_cast<std::size_t>(now.launch.job)].name);
  const bool owned = owners != owners_.end() && owners->second == std::set<int>{now.launch.job};
  const bool owns = owned && now.launch.acts.front() == Act::restore &&
                    std::all_of(now.told.answers.begin(), now.told.answers.end(), [](const auto& rank) {
                      const Answer& answer = rank.front();
                      return answer.done && answer.status == PERDURE_OK;
                    });
  if (owns && *now.told.rival != PERDURE_BUSY)
    now.violation(
        "one launch at a time has a name",
        std::string("a second one was told ") + perdure_status_name(static_cast<perdure_status>(*now.told.rival)));
}

void Model::destroyed(std::size_t number, const Destroyed& what) {
  const Launch& launch = scenario_.launches[number];
  const std::string& name = scenario_.jobs[static_cast<std::size_t>(launch.job)].name;
  for (Attempt& attempt : attempts_) {
    for (const int node : what.nodes) attempt.intact.erase(node);
    for (const auto& [node, step] : what.slots)
      if (attempt.step == step && attempt.intact.contains(node)) attempt.damaged_on.insert(node);
    const bool same_name = scenario_.jobs[static_cast<std::size_t>(attempt.job)].name == name;
    // The store records that a name was forgotten. Nodes may bring back their versions of it (known defect).
    if (what.store && attempt.forgotten) {
      attempt.forgotten = false;
      attempt.left = true;
    }
    if (same_name && what.forgotten) attempt.forgotten = true;
    for (const auto version : what.versions_in_store)
      if (same_name && attempt.version == version) attempt.damaged_in_store = true;
    if (what.store) attempt.store_gone = true;
  }
  if (what.store) owners_.clear();
  if (what.forgotten) owners_.erase(name);
}

}  // namespace perdure::campaign

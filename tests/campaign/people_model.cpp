#include "campaign/people_model.hpp"

#include <algorithm>

namespace perdure::campaign {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string status_text(int status) { return perdure_status_name(static_cast<perdure_status>(status)); }

bool is_limited(const Start& start) { return start.descriptors > 0 || start.room_kib > 0; }

/// Errors that a small limit may cause; none may claim that stored data is wrong.
bool is_of_a_limit(const Start& start, const Call& call) {
  if (!is_limited(start)) return false;
  const bool room = call.status == PERDURE_NO_SPACE || call.status == PERDURE_TIMEOUT;
  const bool failed = room || call.status == PERDURE_IO || call.status == PERDURE_UNAVAILABLE;
  const bool named = has(call.text, "ulimit -n") || has(call.text, "Too many open files");
  return (start.room_kib > 0 && room) || (start.descriptors > 0 && failed && named);
}

}  // namespace

std::optional<KeptBranch> kept_branch(const std::string& said) {
  const std::string begin = "is kept as branch ", newest = " (newest: ";
  const auto at = said.find(begin);
  if (at == std::string::npos) return std::nullopt;
  KeptBranch kept{said.substr(at + begin.size(), 6), -1};
  const auto spec = said.find(newest, at), colon = said.find(':', spec + newest.size());
  if (spec != std::string::npos && colon != std::string::npos) kept.newest = std::atoll(said.c_str() + colon + 1);
  return kept;
}

struct PeopleModel::Judging {
  std::size_t number;
  const Start& start;
  const Heard& heard;
  std::vector<Violation> violations{};
  int from = -1;            ///< the version that the program resumed from; -1: none
  bool wrote = false;       ///< in this start
  bool ends_here = false;   ///< the program stops at this result
  std::vector<int> mine{};  ///< versions that this start wrote
  void violated(const std::string& rule, const std::string& text) {
    violations.push_back({rule, "start " + std::to_string(number + 1) + ": " + text});
  }
};

std::optional<int> PeopleModel::newest_certain(const std::string& name) const {
  for (int i = static_cast<int>(written_.size()) - 1; i >= 0; --i) {
    const Written& one = written_[static_cast<std::size_t>(i)];
    if (one.name == name && one.certain && !one.gone) return i;
  }
  return std::nullopt;
}

// Returns the versions that may be the newest one.
std::set<int> PeopleModel::candidates(const std::string& name) const {
  std::set<int> found;
  for (int i = newest_certain(name).value_or(0); i < static_cast<int>(written_.size()); ++i) {
    const Written& one = written_[static_cast<std::size_t>(i)];
    if (one.name == name && !one.gone) found.insert(i);
  }
  return found;
}

std::vector<int> PeopleModel::line_of(int newest) const {
  std::vector<int> line;
  for (int at = newest; at >= 0; at = written_[static_cast<std::size_t>(at)].from) line.push_back(at);
  return line;
}

bool PeopleModel::is_newest_of_branch(int which) const {
  const Written& one = written_[static_cast<std::size_t>(which)];
  for (std::size_t i = static_cast<std::size_t>(which) + 1; i < written_.size(); ++i)
    if (written_[i].name == one.name && written_[i].branch == one.branch && !written_[i].gone) return false;
  return true;
}

// Adds the newest version of a branch, as far as known. If none is certain, adds the branch's origin, too, and returns
// false.
bool PeopleModel::add_branch_of(int which, std::set<int>& may) const {
  const Written& of = written_[static_cast<std::size_t>(which)];
  for (int i = static_cast<int>(written_.size()) - 1; i >= 0; --i) {
    const Written& one = written_[static_cast<std::size_t>(i)];
    if (one.name != of.name || one.branch != of.branch || one.gone) continue;
    may.insert(i);
    if (one.certain) return true;
  }
  for (const int one : line_of(which)) may.insert(one);
  return false;
}

// Returns the versions that the restore may take.
std::set<int> PeopleModel::wanted(const Judging& now, bool& may_be_absent) const {
  const std::string& name = now.start.name;
  const auto newest = candidates(name);
  may_be_absent = !newest_certain(name);
  std::set<int> may;
  if (now.start.from == "left" && !now.heard.branch.empty()) {
    const auto left = left_.find(name);
    if (left == left_.end()) return may_be_absent = true, newest;
    may_be_absent = false;
    for (const int one : left->second) may_be_absent = !add_branch_of(one, may) || may_be_absent;
    return may;
  }
  if (now.start.from == "latest" || now.start.from == "left") return newest;
  const std::int64_t number = std::atoll(now.start.from.c_str());
  for (const int one : newest) {
    const auto line = line_of(one);
    bool certain = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const Written& there = written_[static_cast<std::size_t>(line[i])];
      if (there.number != number || there.gone) continue;
      may.insert(line[i]);
      certain = there.certain && static_cast<int>(i) < people_.keep_last;
    }
    may_be_absent = may_be_absent || !certain;
  }
  return may;
}

void PeopleModel::judge_open(Judging& now) const {
  if (!now.heard.open) {
    if (now.start.stop.empty() && !is_limited(now.start)) now.violated("a program can open", "it said nothing");
    now.ends_here = true;
    return;
  }
  const Call& open = *now.heard.open;
  now.ends_here = open.status != PERDURE_OK;
  if (now.ends_here && !is_of_a_limit(now.start, open))
    now.violated("a program can open", status_text(open.status) + ": " + open.text);
  for (const auto& refused : now.heard.protects) now.violated("a program says what it has", refused);
}

void PeopleModel::judge_regions(Judging& now, const Written* from) const {
  const Fit fit = from == nullptr ? Fit{} : fit_of(now.start.code, from->regions);
  for (const SeenRegion& seen : now.heard.regions) {
    const auto filled = fit.filled.find(seen.id);
    const bool wanted = filled != fit.filled.end();
    const std::int64_t value = wanted ? value_of(from->stamp, filled->second) : -1;
    if (seen.value == value && seen.restored == wanted) continue;
    now.violated(from == nullptr ? "what is refused touches nothing" : "what is restored is what was captured",
                 "region " + std::to_string(seen.id) + " has " + std::to_string(seen.value) + ", not " +
                     std::to_string(value) + (seen.restored == wanted ? "" : "; it says another thing of it"));
  }
}

void PeopleModel::judge_restored(Judging& now, const std::set<int>& may) {
  const std::int64_t number = now.heard.restore->version;
  int found = -1;
  for (const int one : may) {
    const Written& there = written_[static_cast<std::size_t>(one)];
    if (there.number != number) continue;
    Judging trial{now.number, now.start, now.heard};
    const bool fits = fit_of(now.start.code, there.regions).differences.empty();
    if (fits) judge_regions(trial, &there);
    if (found < 0 || (fits && trial.violations.empty())) found = one;
  }
  if (found < 0)
    return now.violated("what was acknowledged comes back", "it restored version " + std::to_string(number));
  const Written& there = written_[static_cast<std::size_t>(found)];
  const Fit fit = fit_of(now.start.code, there.regions);
  if (!fit.differences.empty()) return now.violated("what does not fit is refused", fit.differences.front());
  judge_regions(now, &there);
  now.from = found;
  if (now.start.from != "latest") return;
  for (std::size_t i = static_cast<std::size_t>(found) + 1; i < written_.size(); ++i)
    if (written_[i].name == there.name) written_[i].gone = true;
}

void PeopleModel::judge_refused_restore(Judging& now, const std::set<int>& may) {
  const Call& call = *now.heard.restore;
  if (is_of_a_limit(now.start, call)) return;
  // The loss of a machine may leave a part of a version in the store.
  const bool parts_only = call.status == PERDURE_INCOMPLETE && !newest_certain(now.start.name) && !may.empty();
  if (parts_only) return;
  if (call.status != PERDURE_MISMATCH)
    return now.violated("what was acknowledged comes back", status_text(call.status) + ": " + call.text);
  judge_regions(now, nullptr);
  std::string why = "there is nothing that does not fit";
  for (const int one : may) {
    const Written& there = written_[static_cast<std::size_t>(one)];
    const auto differences = fit_of(now.start.code, there.regions).differences;
    if (differences.empty()) continue;
    const std::string begin =
        there.name + " version " + std::to_string(there.number) + ": it does not fit what is protected: ";
    const auto told = count(call.text, " is protected and not stored") +
                      count(call.text, " is stored and not protected") + count(call.text, " was stored as ");
    why = call.text.rfind(begin, 0) == 0 ? "" : "it does not begin with '" + begin + "'";
    if (told != differences.size()) why = std::to_string(differences.size()) + " things differ";
    for (const auto& difference : differences)
      if (!has(call.text, difference)) why = "it does not say '" + difference + "'";
    if (why.empty()) return;
  }
  now.violated("what does not fit is told, all of it", why + ": " + call.text);
}

void PeopleModel::judge_restore(Judging& now) {
  const auto& call = now.heard.restore;
  if (now.start.from == "none" || now.ends_here) return;
  if (!call || !call->done) {
    if (now.start.stop.empty()) now.violated("a call returns", "the restore did not");
    now.ends_here = true;
    return;
  }
  auto& cases = cases_[now.start.name];
  const bool others = std::any_of(cases.begin(), cases.end(), [&](const auto& one) { return one != now.start.study; });
  const bool certainly = owned_[now.start.name] && others;
  now.ends_here = call->status != PERDURE_OK && call->status != PERDURE_NOT_FOUND && !now.start.stubborn;
  if (others && call->status == PERDURE_MISMATCH && has(call->text, ", this is case '" + now.start.study + "'")) {
    judge_regions(now, nullptr);
    return;
  }
  if (certainly && !is_of_a_limit(now.start, *call))
    return now.violated("another case is refused", status_text(call->status) + ": " + call->text);
  if (!owned_[now.start.name]) cases.insert(now.start.study);
  bool may_be_absent = false;
  const auto may = wanted(now, may_be_absent);
  if (call->status == PERDURE_OK) return judge_restored(now, may);
  const bool other_versions =
      call->status == PERDURE_MISMATCH && now.start.from != "latest" &&
      (has(call->text, ": there is no such version") || has(call->text, ": there is nothing of"));
  if (call->status != PERDURE_NOT_FOUND && !other_versions) return judge_refused_restore(now, may);
  judge_regions(now, nullptr);
  if (!may_be_absent)
    return now.violated("nobody begins anew where there is something",
                        text_of(written_[static_cast<std::size_t>(*may.rbegin())]));
  if (!other_versions && now.start.from != "latest" && now.start.from != "left" && newest_certain(now.start.name))
    now.violated("not-found is a first start only", call->text);
}

int PeopleModel::write(Judging& now, const Call& call, std::size_t turn) {
  Written one;
  one.name = now.start.name;
  one.number = call.version;
  one.stamp = stamp_of(now.number) + static_cast<std::int64_t>(turn);
  one.from = now.from;
  one.certain = call.done;
  one.regions = stored_by(now.start.code, counts_at(now.start, turn));
  const bool goes_on = now.from >= 0 && is_newest_of_branch(now.from);
  one.branch = goes_on ? written_[static_cast<std::size_t>(now.from)].branch : ++branches_;
  written_.push_back(one);
  now.mine.push_back(static_cast<int>(written_.size()) - 1);
  return now.mine.back();
}

// The first version of a new branch must report the newer versions that stay behind.
void PeopleModel::judge_message(Judging& now) const {
  const auto kept = kept_branch(now.heard.said);
  std::set<std::int64_t> may;
  bool must = false;
  for (const int one : candidates(now.start.name)) {
    if (one <= now.from) continue;
    may.insert(written_[static_cast<std::size_t>(one)].number);
    must = must || written_[static_cast<std::size_t>(one)].certain;
  }
  if (kept && may.empty()) now.violated("what stays behind is said", "nothing does, and it says: " + now.heard.said);
  if (kept && !may.empty() && !may.contains(kept->newest))
    now.violated("what stays behind is said", "another version does than it says: " + now.heard.said);
  const bool unseen =
      is_limited(now.start) && has(now.heard.said, "whether an earlier run has versions cannot be told");
  if (!kept && must && !unseen) now.violated("what stays behind is said", "it says nothing of " + text());
}

void PeopleModel::judge_checkpoint(Judging& now, const Call& call, std::size_t turn) {
  const Start& start = now.start;
  const auto counts = counts_at(start, turn);
  const auto empty = std::find(counts.begin(), counts.end(), 0);
  const bool others = owned_[start.name] && !cases_[start.name].contains(start.study);
  const bool starts_anew = now.from < 0 && !now.wrote;
  const bool refused = start.refuse && starts_anew && newest_certain(start.name).has_value();
  const auto expect = [&](int status, const std::string& words, const char* rule) {
    const bool told = call.status == status && has(call.text, words);
    if (call.done && !told && !is_of_a_limit(start, call))
      now.violated(rule, "instead of " + status_text(status) + ", '" + words + "': " + status_text(call.status) + ": " +
                             call.text);
    now.ends_here = true;
  };
  if (others) return expect(PERDURE_MISMATCH, ", this is case '" + start.study + "'", "another case is refused");
  if (empty != counts.end()) {
    const CodeRegion& region = start.code.regions[static_cast<std::size_t>(empty - counts.begin())];
    return expect(PERDURE_INVALID_ARGUMENT,
                  "region " + std::to_string(region.id) + (region.name.empty() ? "" : " '" + region.name + "'") +
                      ": its owner has 0 elements",
                  "an owner without elements is refused by name");
  }
  // The owner is uncertain if the run before was killed: another case may then learn of it first.
  const bool of_another = call.status == PERDURE_MISMATCH && !owned_[start.name];
  if (refused && !of_another)
    return expect(PERDURE_EXISTS, "new_start is refuse", "a new start is refused where that is wanted");
  const bool may_refuse = start.refuse && starts_anew && !candidates(start.name).empty();
  now.ends_here = !call.done || call.status != PERDURE_OK;
  if (call.done && call.status != PERDURE_OK) {
    if (!is_of_a_limit(start, call) && !(may_refuse && call.status == PERDURE_EXISTS) && !of_another)
      now.violated("what fits is captured", status_text(call.status) + ": " + call.text);
    return;
  }
  if (!call.done && start.stop.empty() && !is_limited(start)) now.violated("a call returns", "the checkpoint did not");
  if (!now.wrote && call.done) {
    judge_message(now);
    const auto kept = kept_branch(now.heard.said);
    std::set<int> left;
    for (const int one : candidates(start.name))
      if (kept && one > now.from && written_[static_cast<std::size_t>(one)].number == kept->newest) left.insert(one);
    if (kept) left_[start.name] = left;
  }
  now.from = write(now, call, turn);
  now.wrote = true;
  cases_[start.name].insert(start.study);
  if (!call.done) return;
  cases_[start.name] = {start.study};
  // The store records a name's owner, unless a small limit prevents that.
  owned_[start.name] = owned_[start.name] || !is_limited(start);
}

void PeopleModel::judge_checkpoints(Judging& now) {
  if (now.heard.checkpoints.empty()) {
    const bool expects = !now.ends_here && now.start.writes > 0 && now.start.stop.empty();
    if (expects) now.violated("a program goes on", "it wrote nothing");
    return;
  }
  if (now.ends_here) return now.violated("a program that is refused stops", "it wrote all the same");
  for (std::size_t turn = 0; turn < now.heard.checkpoints.size(); ++turn)
    judge_checkpoint(now, now.heard.checkpoints[turn], turn);
}

// Judges whether the program's end stores all acknowledged versions.
void PeopleModel::judge_end(Judging& now) {
  const Start& start = now.start;
  const Heard& heard = now.heard;
  const bool orderly = start.stop.empty() || (start.asks && heard.ended == 0);
  if (heard.close && heard.close->done && heard.close->status != PERDURE_OK && !is_of_a_limit(start, *heard.close))
    now.violated("a close stores what was captured", status_text(heard.close->status) + ": " + heard.close->text);
  const bool closed = start.end == "close" ? heard.close && heard.close->done && heard.close->status == PERDURE_OK
                                           : start.end == "return" || start.end == "exit";
  const bool lacks = has(heard.said, "not stored:") || has(heard.said, "not at the store");
  const bool watched = start.supervised && start.stop != "kill";
  // A second request to end also ends the wait for the store. The user is then told, and the status is not 0.
  if (watched && lacks && start.stop.empty() && !is_limited(start))
    now.violated("perdure run stores what its program left", heard.said);
  if (watched && lacks && heard.ended == 0)
    now.violated("perdure run ends with 75 where something is not stored", heard.said);
  const bool by_itself = !start.supervised && orderly && closed && heard.ended == 0 && !is_limited(start);
  const bool stores =
      start.mode == "embedded" && !lacks && (by_itself || watched || (is_limited(start) && heard.close && closed));
  for (const int one : now.mine)
    if (stores && written_[static_cast<std::size_t>(one)].certain)
      written_[static_cast<std::size_t>(one)].stored = true;
}

void PeopleModel::lose_machine() {
  for (Written& one : written_) one.certain = one.certain && one.stored;
}

std::vector<Violation> PeopleModel::judge(std::size_t number, const Heard& heard) {
  Judging now{number, people_.starts[number], heard};
  if (heard.hung) {
    now.violated("nobody waits for ever", "it was ended at its time limit");
    return now.violations;
  }
  judge_open(now);
  judge_restore(now);
  if (now.violations.empty()) judge_checkpoints(now);
  if (now.violations.empty()) judge_end(now);
  if (now.start.machine_lost) lose_machine();
  return now.violations;
}

std::string PeopleModel::text_of(const Written& one) const {
  return one.name + " version " + std::to_string(one.number) + " of branch " + std::to_string(one.branch) + " (" +
         std::to_string(one.stamp) + ")" + (one.certain ? ", acknowledged" : "") + (one.stored ? ", stored" : "") +
         (one.gone ? ", gone" : "");
}

std::string PeopleModel::text() const {
  std::string all;
  for (const Written& one : written_) all += "  " + text_of(one) + "\n";
  return all;
}

}  // namespace perdure::campaign

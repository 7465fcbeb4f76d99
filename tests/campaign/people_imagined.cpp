// Implements drivers without a store: one that keeps every promise to users, and ones that break some. They ask the
// product's own matching which regions fit. So each seed compares the model's matching with the product's.
#include <algorithm>

#include "campaign/people_model.hpp"
#include "capture/matching.hpp"

namespace perdure::campaign {
namespace {

/// Makes a region table from the code; the regions have no memory.
capture::RegionTable table_of(const Code& code, const std::vector<int>& counts, bool names) {
  capture::RegionTable table;
  std::uintptr_t at = 1 << 20;
  for (std::size_t i = 0; i < code.regions.size(); ++i) {
    const CodeRegion& region = code.regions[i];
    const auto elements = static_cast<std::uint64_t>(counts[i]);
    (void)table.protect({region.id, reinterpret_cast<std::byte*>(at), 8, elements});
    at += 8 * elements;
    if (names && !region.name.empty()) (void)table.set_label(region.id, {region.name, "", ""});
    if (!region.type.empty())
      (void)table.set_elements(
          region.id, {array::ElementType::parse(region.type, "code").value(), std::vector<std::uint64_t>{elements}});
    (void)table.set_optional(region.id, region.optional);
  }
  for (const auto& [before, now] : code.renamed)
    if (names) (void)table.changes().rename(before, now);
  for (const auto& one : code.passed_over) (void)table.changes().pass_over(one);
  return table;
}

class ImaginedPeople : public PeopleDriver {
 public:
  explicit ImaginedPeople(Wrong wrong) : wrong_(wrong) {}
  Heard start(const People& people, std::size_t number) override;
  void after(const People& people, std::size_t number) override;

 private:
  struct Version {
    std::string name;
    std::int64_t number = 0, stamp = 0;
    int branch = 0, from = -1;
    bool stored = false, gone = false;
    std::vector<segment::RegionEntry> regions{};
  };
  int newest(const std::string& name) const;
  int chosen(const Start& start, const std::string& branch) const;
  bool of_another_case(const Start& start, Call& call) const;
  void restore(const Start& start, Heard& heard, int& from) const;
  void fill(const Start& start, const Version& version, Heard& heard) const;
  void untouched(const Start& start, Heard& heard) const;
  bool checkpoint(const Start& start, std::size_t number, std::size_t turn, Heard& heard, int& from);
  void leave_behind(const Start& start, Heard& heard, int from);
  void end(const Start& start, Heard& heard, std::size_t first);

  Wrong wrong_;
  std::vector<Version> versions_;
  std::map<std::string, std::string> cases_, left_;
  int branches_ = 0;
};

std::string branch_text(int branch) {
  std::string text = std::to_string(branch);
  return std::string(6 - text.size(), '0') + text;
}

Call failed(int status, const std::string& text) { return {true, status, -1, text}; }

int ImaginedPeople::newest(const std::string& name) const {
  for (int i = static_cast<int>(versions_.size()) - 1; i >= 0; --i)
    if (versions_[static_cast<std::size_t>(i)].name == name && !versions_[static_cast<std::size_t>(i)].gone) return i;
  return -1;
}

int ImaginedPeople::chosen(const Start& start, const std::string& branch) const {
  int found = newest(start.name);
  if (wrong_ == Wrong::older && found > 0 && start.from == "latest")
    for (int i = found - 1; i >= 0; --i)
      if (versions_[static_cast<std::size_t>(i)].name == start.name) return i;
  if (!branch.empty()) {
    for (int i = static_cast<int>(versions_.size()) - 1; i >= 0; --i) {
      const Version& one = versions_[static_cast<std::size_t>(i)];
      if (one.name == start.name && branch_text(one.branch) == branch && !one.gone) return i;
    }
    return -1;
  }
  if (start.from == "latest" || start.from == "left") return found;
  for (; found >= 0; found = versions_[static_cast<std::size_t>(found)].from)
    if (versions_[static_cast<std::size_t>(found)].number == std::atoll(start.from.c_str()) &&
        !versions_[static_cast<std::size_t>(found)].gone)
      return found;
  return -1;
}

bool ImaginedPeople::of_another_case(const Start& start, Call& call) const {
  const auto owner = cases_.find(start.name);
  if (owner == cases_.end() || owner->second == start.study || wrong_ == Wrong::any_case) return false;
  call = failed(PERDURE_MISMATCH, "checkpoint " + start.name + ": in this store it belongs to case '" + owner->second +
                                      "', this is case '" + start.study + "'");
  return true;
}

void ImaginedPeople::untouched(const Start& start, Heard& heard) const {
  for (const CodeRegion& region : start.code.regions) heard.regions.push_back({region.id, false, -1});
  if (wrong_ == Wrong::touches) heard.regions.front().value = -2;
}

void ImaginedPeople::fill(const Start& start, const Version& version, Heard& heard) const {
  Start before = start;
  before.memory.clear();
  const auto table = table_of(start.code, counts_at(before, 0), wrong_ != Wrong::by_number);
  capture::Wanted all{{}, true};
  for (const auto& [id, region] : table.regions()) all.ids.push_back(id);
  const auto matching = capture::match_regions(table, version.regions, all).value();
  auto differences = matching.differences;
  if (wrong_ == Wrong::one_word && differences.size() > 1) differences.resize(1);
  if (!differences.empty() && wrong_ != Wrong::in_silence) {
    const auto told = capture::mismatch(differences, version.name + " version " + std::to_string(version.number));
    heard.restore = failed(wrong_ == Wrong::first_start ? PERDURE_NOT_FOUND : PERDURE_MISMATCH, told.text());
    return untouched(start, heard);
  }
  heard.restore = Call{true, PERDURE_OK, version.number, ""};
  for (const CodeRegion& region : start.code.regions) heard.regions.push_back({region.id, false, -1});
  for (SeenRegion& seen : heard.regions)
    for (std::size_t i = 0; i < matching.to.size(); ++i)
      if (matching.to[i] == seen.id) seen = {seen.id, true, value_of(version.stamp, version.regions[i].id)};
  if (wrong_ == Wrong::other_content) heard.regions.back().value += 7;
}

void ImaginedPeople::restore(const Start& start, Heard& heard, int& from) const {
  if (const auto left = left_.find(start.name); start.from == "left" && left != left_.end())
    heard.branch = left->second;
  Call refused;
  if (of_another_case(start, refused)) {
    heard.restore = refused;
    return untouched(start, heard);
  }
  from = chosen(start, heard.branch);
  if (from < 0) {
    const bool others = start.from != "latest" && newest(start.name) >= 0 && wrong_ != Wrong::wrong_number;
    heard.restore = others
                        ? failed(PERDURE_MISMATCH, start.name + ": there is no such version; its versions are others")
                        : failed(PERDURE_NOT_FOUND, "there is nothing");
    return untouched(start, heard);
  }
  fill(start, versions_[static_cast<std::size_t>(from)], heard);
  if (heard.restore->status != PERDURE_OK) from = -1;
}

void ImaginedPeople::leave_behind(const Start& start, Heard& heard, int from) {
  const int left = newest(start.name);
  if (left <= from) return;
  const Version& one = versions_[static_cast<std::size_t>(left)];
  left_[start.name] = branch_text(one.branch);
  if (wrong_ != Wrong::says_nothing)
    heard.said += "perdure: checkpoint " + one.name + ": what is newer is kept as branch " + left_[start.name] +
                  " (newest: " + one.name + "@" + left_[start.name] + ":" + std::to_string(one.number) + ")\n";
  if (wrong_ == Wrong::gives_up && from < 0)
    for (Version& there : versions_) there.gone = there.gone || there.name == start.name;
}

bool ImaginedPeople::checkpoint(const Start& start, std::size_t number, std::size_t turn, Heard& heard, int& from) {
  const auto counts = counts_at(start, turn);
  Version made{start.name, from < 0 ? 1 : versions_[static_cast<std::size_t>(from)].number + 1};
  Call call{true, PERDURE_OK, made.number, ""};
  const auto empty = std::find(counts.begin(), counts.end(), 0);
  if (of_another_case(start, call)) {
  } else if (empty != counts.end() && wrong_ != Wrong::empty_owner) {
    const CodeRegion& region = start.code.regions[static_cast<std::size_t>(empty - counts.begin())];
    call = failed(PERDURE_INVALID_ARGUMENT, "region " + std::to_string(region.id) +
                                                (region.name.empty() ? "" : " '" + region.name + "'") +
                                                ": its owner has 0 elements, and had " + std::to_string(region.count));
  } else if (start.refuse && from < 0 && newest(start.name) >= 0 && wrong_ != Wrong::any_start) {
    call = failed(PERDURE_EXISTS, "this start has restored nothing of it; new_start is refuse");
  }
  if (call.status == PERDURE_OK) {
    if (turn == 0) leave_behind(start, heard, from);
    cases_.emplace(start.name, start.study);
    made.stamp = stamp_of(number) + static_cast<std::int64_t>(turn);
    made.from = from;
    made.regions = table_of(start.code, counts, true).entries();
    bool goes_on = from >= 0;
    for (std::size_t i = static_cast<std::size_t>(from) + 1; goes_on && i < versions_.size(); ++i)
      goes_on = versions_[i].gone || versions_[i].branch != versions_[static_cast<std::size_t>(from)].branch;
    made.branch = goes_on ? versions_[static_cast<std::size_t>(from)].branch : ++branches_;
    versions_.push_back(made);
    from = static_cast<int>(versions_.size()) - 1;
  }
  heard.checkpoints.push_back(call);
  return call.status == PERDURE_OK;
}

void ImaginedPeople::end(const Start& start, Heard& heard, std::size_t first) {
  const bool asked = start.asks && start.computes;
  const bool dies = !start.stop.empty() && !asked;
  heard.ended = start.stop == "kill" ? 137 : dies ? 143 : start.end == "abort" ? 134 : 0;
  if (!dies && start.end == "close") heard.close = Call{true, PERDURE_OK, 0, ""};
  const bool closes = !dies && (start.end == "close" || start.end == "return" || start.end == "exit");
  bool stores = closes || (start.supervised && start.stop != "kill");
  if (wrong_ == Wrong::loses_unclosed && !heard.close) stores = false;
  for (std::size_t i = first; i < versions_.size(); ++i) versions_[i].stored = stores;
  if (dies && wrong_ == Wrong::loses_killed && versions_.size() > first) versions_.back().gone = true;
}

// A start that is ended from outside ends at a checkpoint that follows from the moment; that checkpoint exists or not.
Heard ImaginedPeople::start(const People& people, std::size_t number) {
  const Start& start = people.starts[number];
  Heard heard;
  heard.open = Call{true, PERDURE_OK, 0, ""};
  int from = -1;
  if (start.from != "none") restore(start, heard, from);
  const bool refused = heard.restore && heard.restore->status != PERDURE_OK &&
                       heard.restore->status != PERDURE_NOT_FOUND && !start.stubborn;
  const bool asked = start.asks && start.computes;
  const std::size_t first = versions_.size(),
                    dies_at = !start.stop.empty() && !asked
                                  ? static_cast<std::size_t>(start.after_ms % (start.writes + 1))
                                  : static_cast<std::size_t>(start.writes);
  bool goes_on = !refused;
  for (std::size_t turn = 0; goes_on && turn < static_cast<std::size_t>(start.writes) && turn <= dies_at; ++turn) {
    goes_on = checkpoint(start, number, turn, heard, from);
    if (turn < dies_at || !goes_on) continue;
    heard.checkpoints.back().done = false;
    if (start.after_ms % 2 == 0) versions_.back().gone = true;
    goes_on = false;
  }
  if (goes_on && asked) (void)checkpoint(start, number, static_cast<std::size_t>(start.writes), heard, from);
  end(start, heard, first);
  return heard;
}

void ImaginedPeople::after(const People& people, std::size_t number) {
  if (!people.starts[number].machine_lost) return;
  for (Version& one : versions_) one.gone = one.gone || !one.stored;
}

}  // namespace

std::unique_ptr<PeopleDriver> imagined_people(Wrong wrong) { return std::make_unique<ImaginedPeople>(wrong); }

}  // namespace perdure::campaign

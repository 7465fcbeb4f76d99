#include "inspect/check_protection_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "launch/process.hpp"

namespace perdure::inspect {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string course(const plan::ProgramEnd& end) {
  return (end.kind == plan::ProgramEnd::Kind::killed ? "was " : "") + launch::end_text(end);
}

/// Gives the differences in `facts` other than in the content of regions.
std::vector<std::string> other_differences(const CheckFacts& facts) {
  std::vector<std::string> all;
  if (!same_end(facts.undisturbed, facts.resumed))
    all.push_back(fmt::format("the undisturbed run {}, but the one that went on {}", course(facts.undisturbed),
                              course(facts.resumed)));
  if (!facts.comparison.only_here.empty())
    all.push_back("the run that went on did not write " + checkpoints_text(facts.comparison.only_here));
  if (!facts.comparison.only_there.empty())
    all.push_back("only the run that went on wrote " + checkpoints_text(facts.comparison.only_there));
  return all;
}

/// Tells whether undisturbed runs agree about everything but the content of regions.
bool repeats_its_course(const CheckFacts& facts) {
  return facts.repetition && facts.repetition->only_here.empty() && facts.repetition->only_there.empty() &&
         same_end(facts.undisturbed, *facts.repeated);
}

/// Selects the suspected regions that differ in the first version with any difference: later differences may only
/// follow from them.
std::set<RegionKey> first_of(const ProtectionVerdict& verdict, const Comparison& comparison, std::string& version) {
  for (const Checkpoint& one : comparison.compared) {
    std::set<RegionKey> first;
    for (const RegionKey& key : verdict.suspected)
      if (key.name == one.name && comparison.differing.at(key).version == one.version) first.insert(key);
    if (first.empty()) continue;
    version = one.text();
    return first;
  }
  return verdict.suspected;
}

std::string flow_text(const CheckFacts& facts, const ProtectionVerdict& verdict) {
  std::string version;
  const auto first = first_of(verdict, facts.comparison, version);
  std::set<RegionKey> later = verdict.suspected;
  for (const RegionKey& key : first) later.erase(key);
  return fmt::format(
      "state outside of the protected regions flowed into {} between the restore of {} and {}: something "
      "that this is computed from is not protected, or was moved, or is set anew after the restore{}",
      regions_text(first), joined(facts.restored), version,
      later.empty() ? "" : fmt::format("; later {}, too", regions_text(later)));
}

ProtectionVerdict differs(const CheckFacts& facts, ProtectionVerdict verdict, const std::vector<std::string>& others) {
  verdict.finding = ProtectionFinding::differs;
  if (!verdict.suspected.empty()) verdict.text = flow_text(facts, verdict);
  for (const std::string& other : others) verdict.text += (verdict.text.empty() ? "" : "; ") + other;
  if (verdict.suspected.empty())
    verdict.text +=
        fmt::format(": what decides that is not protected, or was moved, or is set anew after the restore of {}",
                    joined(facts.restored));
  if (!verdict.unsteady.empty())
    verdict.text += fmt::format("; nothing is known of {}, which two undisturbed runs do not write alike either",
                                regions_text(verdict.unsteady));
  return verdict;
}

}  // namespace

void Comparison::add(const RegionKey& key, std::uint64_t version, std::uint32_t rank, const RegionDefect& defect) {
  auto& difference = differing.try_emplace(key, RegionDifference{version, rank, defect, {}, {}}).first->second;
  difference.versions.insert(version);
  difference.ranks.insert(rank);
}

std::vector<RegionKey> Comparison::equal() const {
  std::vector<RegionKey> all;
  for (const RegionKey& key : seen)
    if (!differing.contains(key)) all.push_back(key);
  return all;
}

Comparison match(const std::vector<Checkpoint>& here, const std::vector<Checkpoint>& there, bool both_ended_well) {
  auto has = [](const std::vector<Checkpoint>& all, const Checkpoint& wanted) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Checkpoint& one) { return one.name == wanted.name && one.version == wanted.version; });
  };
  Comparison comparison;
  for (const Checkpoint& one : here)
    if (has(there, one)) {
      comparison.compared.push_back(one);
    } else if (both_ended_well) {
      comparison.only_here.push_back(one);
    }
  for (const Checkpoint& one : there)
    if (both_ended_well && !has(here, one)) comparison.only_there.push_back(one);
  std::sort(comparison.compared.begin(), comparison.compared.end(),
            [](const Checkpoint& a, const Checkpoint& b) { return a.created_ns < b.created_ns; });
  return comparison;
}

bool same_end(const plan::ProgramEnd& one, const plan::ProgramEnd& other) {
  return one.kind == other.kind && one.value == other.value;
}

bool needs_repetition(const CheckFacts& facts) {
  return !facts.restored.empty() && (!facts.comparison.all_equal() || !same_end(facts.undisturbed, facts.resumed));
}

ProtectionVerdict judge(const CheckFacts& facts) {
  ProtectionVerdict verdict;
  if (facts.restored.empty()) {
    verdict.text = fmt::format(
        "the second run restored nothing, though {} was there; it {}; the program must try to "
        "restore when it starts",
        joined(facts.offered), course(facts.resumed));
    return verdict;
  }
  auto others = other_differences(facts);
  if (facts.comparison.compared.empty() && others.empty()) {
    verdict.text = "both runs ended before they had written a later version that could be compared";
    return verdict;
  }
  if (facts.comparison.all_equal() && others.empty()) {
    verdict.finding = ProtectionFinding::same;
    verdict.text =
        fmt::format("what the program wrote after it went on from {} is the same, bit by bit", joined(facts.restored));
    return verdict;
  }
  for (const auto& [key, difference] : facts.comparison.differing)
    (facts.repetition && facts.repetition->differing.contains(key) ? verdict.unsteady : verdict.suspected).insert(key);
  if (!repeats_its_course(facts)) others.clear();
  if (!verdict.suspected.empty() || !others.empty()) return differs(facts, std::move(verdict), others);
  verdict.text = verdict.unsteady.empty()
                     ? "two undisturbed runs do not write the same versions or do not end alike, so it cannot be told "
                       "what a restore changes"
                     : fmt::format(
                           "two undisturbed runs differ in the same regions ({}): the program does not repeat "
                           "itself, so it cannot be told what a restore changes",
                           regions_text(verdict.unsteady));
  return verdict;
}

const char* finding_name(ProtectionFinding finding) {
  switch (finding) {
    case ProtectionFinding::same:
      return "same";
    case ProtectionFinding::differs:
      return "differs";
    case ProtectionFinding::unknown:
      break;
  }
  return "unknown";
}

std::string regions_text(const std::set<RegionKey>& regions) {
  constexpr std::size_t kMost = 8;
  std::string text;
  std::size_t said = 0;
  for (const RegionKey& key : regions)
    if (said++ < kMost) text += fmt::format("{}region {} of {}", text.empty() ? "" : ", ", key.region, key.name);
  return regions.size() > kMost ? text + fmt::format(" and {} more", regions.size() - kMost) : text;
}

}  // namespace perdure::inspect

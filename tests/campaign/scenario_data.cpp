#include "campaign/scenario_data.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

namespace perdure::campaign {
namespace {

constexpr std::array<const char*, 8> kActNames = {"restore", "back",  "checkpoint", "rewrite",
                                                  "node",    "store", "look",       "close"};

base::Status no_value(const std::string& text) {
  return base::fail(PERDURE_INVALID_ARGUMENT, "scenario", "it has a field that cannot be '" + text + "'");
}

std::string to_text(const std::string& value) { return value; }
std::string to_text(int value) { return std::to_string(value); }
std::string to_text(bool value) { return value ? "yes" : "no"; }
std::string to_text(Act value) { return name_of(value); }
template <class T>
std::string to_text(const std::vector<T>& values) {
  std::string all;
  for (const auto& value : values) all += (all.empty() ? "" : ",") + to_text(value);
  return all;
}

base::Status take(const std::string& text, std::string& value) {
  value = text;
  return {};
}
base::Status take(const std::string& text, int& value) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? base::Status() : no_value(text);
}
base::Status take(const std::string& text, bool& value) {
  value = text == "yes";
  return value || text == "no" ? base::Status() : no_value(text);
}
base::Status take(const std::string& text, Act& value) {
  const auto* const at = std::find(kActNames.begin(), kActNames.end(), text);
  if (at == kActNames.end()) return no_value(text);
  value = static_cast<Act>(at - kActNames.begin());
  return {};
}
template <class T>
base::Status take(const std::string& text, std::vector<T>& values) {
  values.clear();
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) PERDURE_CHECK(take(item, values.emplace_back()));
  return {};
}

template <class J, class Visit>
void visit_job(J& job, Visit visit) {
  visit("name", job.name);
  visit("owner", job.owner);
  visit("ranks", job.ranks);
  visit("arrays", job.arrays);
  visit("small", job.small);
}

template <class L, class Visit>
void visit_launch(L& launch, Visit visit) {
  visit("job", launch.job);
  visit("nodes", launch.nodes);
  visit("per_node", launch.per_node);
  visit("ranks", launch.ranks);
  visit("division", launch.division);
  visit("moves", launch.moves);
  visit("mode", launch.mode);
  visit("scheme", launch.scheme);
  visit("parities", launch.parities);
  visit("group_size", launch.group_size);
  visit("tiers", launch.tiers);
  visit("memory_kib", launch.memory_kib);
  visit("file_kib", launch.file_kib);
  visit("keep_last", launch.keep_last);
  visit("flush_threads", launch.flush_threads);
  visit("chunk_kib", launch.chunk_kib);
  visit("replace", launch.replace);
  visit("during_capture", launch.during_capture);
  visit("capture", launch.capture);
  visit("store", launch.store);
  visit("missing", launch.missing);
  visit("crash", launch.crash);
  visit("victim", launch.victim);
  visit("killed", launch.killed);
  visit("after_ms", launch.after_ms);
  visit("at_start", launch.at_start);
  visit("hung", launch.hung);
  visit("hung_ms", launch.hung_ms);
  visit("rival", launch.rival);
  visit("refused", launch.refused);
  visit("do", launch.acts);
  visit("engines", launch.engines);
  visit("lost", launch.lost);
  visit("flipped_slot", launch.flipped_slot);
  visit("flipped_segment", launch.flipped_segment);
  visit("store_lost", launch.store_lost);
  visit("forget", launch.forget);
}

struct Listing {
  Fields& fields;
  template <class T>
  void operator()(const char* name, const T& value) const {
    fields.emplace_back(name, to_text(value));
  }
};

struct Setting {
  const std::string &name, &text;
  base::Status& status;
  template <class T>
  void operator()(const char* field, T& value) const {
    if (name == field) status = take(text, value);
  }
};

base::Status unknown(const std::string& name) {
  return base::fail(PERDURE_INVALID_ARGUMENT, "scenario", "it has a field '" + name + "', which there is not");
}

template <class T>
std::string line_of(const char* kind, const T& thing) {
  const Fields mine = fields_of(thing), plain = fields_of(T{});
  std::string line = kind;
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (mine[i] != plain[i]) line += " " + mine[i].first + "=" + mine[i].second;
  return line + "\n";
}

template <class T>
base::Result<T> thing_from(std::istringstream& words) {
  T thing;
  for (std::string word; words >> word;) {
    const auto at = word.find('=');
    if (at == std::string::npos) return base::fail(unknown(word).error());
    PERDURE_CHECK(set_field(thing, word.substr(0, at), word.substr(at + 1)));
  }
  return thing;
}

bool can_be_carried_out(const Scenario& scenario, const Launch& launch) {
  if (launch.job < 0 || launch.job >= static_cast<int>(scenario.jobs.size())) return false;
  const Job& job = scenario.jobs[static_cast<std::size_t>(launch.job)];
  const int ranks = scenario.ranks_of(launch);
  const auto nodes = static_cast<int>(launch.nodes.size());
  if (ranks > 16 || (ranks != job.ranks && job.arrays == 0) || launch.division < 0 || launch.chunk_kib < 64)
    return false;
  if (launch.per_node < 1 || nodes != (ranks + launch.per_node - 1) / launch.per_node) return false;
  const auto close = std::find(launch.acts.begin(), launch.acts.end(), Act::close);
  if (close != launch.acts.end() && close + 1 != launch.acts.end()) return false;
  return !launch.acts.empty() && launch.acts.size() <= 16 && launch.victim >= 0 && launch.victim < ranks &&
         launch.flipped_slot < ranks;
}

}  // namespace

bool has_room(const Launch& launch) {
  const auto of = [&](const char* tier, int kib) { return launch.tiers.find(tier) == std::string::npos ? 0 : kib; };
  return of("memory", launch.memory_kib) + of("file", launch.file_kib) >= 65536;
}

bool is_undisturbed(const Launch& launch) {
  return launch.crash.empty() && launch.killed.empty() && launch.missing < 0 && launch.hung < 0 &&
         launch.refused.empty() && launch.store == "works" && has_room(launch);
}

const char* name_of(Act act) { return kActNames[static_cast<std::size_t>(act)]; }

Fields fields_of(const Job& job) {
  Fields fields;
  visit_job(job, Listing{fields});
  return fields;
}

Fields fields_of(const Launch& launch) {
  Fields fields;
  visit_launch(launch, Listing{fields});
  return fields;
}

base::Status set_field(Job& job, const std::string& name, const std::string& text) {
  base::Status status = unknown(name);
  visit_job(job, Setting{name, text, status});
  return status;
}

base::Status set_field(Launch& launch, const std::string& name, const std::string& text) {
  base::Status status = unknown(name);
  visit_launch(launch, Setting{name, text, status});
  return status;
}

std::string text_of(const Scenario& scenario) {
  std::string text;
  for (const Job& job : scenario.jobs) text += line_of("job", job);
  for (const Launch& launch : scenario.launches) text += line_of("launch", launch);
  return text;
}

base::Result<Scenario> scenario_from(const std::string& text) {
  Scenario scenario;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    if (!(words >> kind)) continue;
    if (kind == "job") {
      PERDURE_TRY(scenario.jobs.emplace_back(), thing_from<Job>(words));
    } else if (kind == "launch") {
      PERDURE_TRY(scenario.launches.emplace_back(), thing_from<Launch>(words));
    } else {
      return base::fail(unknown(kind).error());
    }
  }
  if (!can_be_carried_out(scenario))
    return base::fail(PERDURE_INVALID_ARGUMENT, "scenario", "it cannot be carried out");
  return scenario;
}

bool can_be_carried_out(const Scenario& scenario) {
  if (scenario.jobs.empty() || scenario.launches.empty()) return false;
  if (std::any_of(scenario.jobs.begin(), scenario.jobs.end(),
                  [](const Job& job) { return job.ranks < 1 || job.ranks > 16 || job.arrays < 0 || job.name.empty(); }))
    return false;
  return std::all_of(scenario.launches.begin(), scenario.launches.end(),
                     [&](const Launch& launch) { return can_be_carried_out(scenario, launch); });
}

}  // namespace perdure::campaign

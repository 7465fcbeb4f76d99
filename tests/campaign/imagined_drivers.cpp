// Implements drivers without Perdure: one that keeps every promise, and one that breaks some.
#include <algorithm>
#include <map>
#include <set>

#include "campaign/driver.hpp"

namespace perdure::campaign {
namespace {

class IdealDriver : public Driver {
 public:
  Told launch(const Scenario& scenario, std::size_t number) override;
  Destroyed destroy(const Scenario& scenario, std::size_t number) override;

 private:
  struct Version {
    std::uint64_t step = 0;
    std::int64_t number = 0;
  };
  Answer restore(const Job& job, Version& now) const;
  Answer go_back(const Job& job, Version& now) const;
  Answer answer(const Job& job, Act act, std::uint64_t step, Version& now);
  std::map<std::string, std::vector<Version>> versions_;  // for each name and owner, in order
  std::map<std::string, std::string> owners_;
  bool refused_ = false;
};

std::string key_of(const Job& job) { return job.name + " of " + job.owner; }

Answer failed(perdure_status status) {
  Answer answer;
  answer.begun = answer.done = true;
  answer.status = status;
  return answer;
}

Answer succeeded(std::uint64_t step, std::int64_t version) {
  Answer answer = failed(PERDURE_OK);
  answer.step = step;
  answer.version = version;
  return answer;
}

Answer IdealDriver::restore(const Job& job, Version& now) const {
  const auto at = versions_.find(key_of(job));
  if (at == versions_.end() || at->second.empty()) return failed(PERDURE_NOT_FOUND);
  now = at->second.back();
  return succeeded(now.step, now.number);
}

Answer IdealDriver::go_back(const Job& job, Version& now) const {
  const auto& all = versions_.at(key_of(job));
  const auto older = std::find_if(all.rbegin(), all.rend(), [&](const Version& version) {
    return version.number == std::max<std::int64_t>(1, now.number - 2);
  });
  if (older == all.rend()) return failed(PERDURE_MISMATCH);
  now = *older;
  return succeeded(now.step, now.number);
}

Answer IdealDriver::answer(const Job& job, Act act, std::uint64_t step, Version& now) {
  const bool about_a_version = act == Act::back || act == Act::rewrite || act == Act::node || act == Act::store;
  if (about_a_version && now.number <= (act == Act::back ? 1 : 0)) return {};
  if (owners_.try_emplace(job.name, job.owner).first->second != job.owner)
    return act == Act::close ? succeeded(now.step, -1) : failed(PERDURE_MISMATCH);
  if (act == Act::back) return go_back(job, now);
  if (act == Act::restore) return restore(job, now);
  if (act == Act::look) {
    Version latest;
    Answer answer = restore(job, latest);
    answer.step = now.step;
    return answer;
  }
  if (act == Act::checkpoint || act == Act::rewrite) {
    now = {step, now.number + (act == Act::checkpoint ? 1 : 0)};
    versions_[key_of(job)].push_back(now);
  }
  Answer answer = succeeded(now.step, now.number);
  answer.level = act == Act::node ? PERDURE_LEVEL_NODE : PERDURE_LEVEL_STORE;
  return answer;
}

Told IdealDriver::launch(const Scenario& scenario, std::size_t number) {
  const Launch& launch = scenario.launches[number];
  const Job& job = scenario.job_of(number);
  Told told;
  Version now;
  std::vector<Answer> answers(launch.acts.size());
  refused_ = false;
  for (std::size_t act = 0; act < answers.size() && !refused_; ++act) {
    answers[act] = answer(job, launch.acts[act], step_of(number, act), now);
    refused_ = launch.acts[act] == Act::restore && answers[act].status == PERDURE_MISMATCH;
  }
  told.answers.assign(static_cast<std::size_t>(scenario.ranks_of(number)), answers);
  return told;
}

Destroyed IdealDriver::destroy(const Scenario& scenario, std::size_t number) {
  Destroyed what;
  what.nodes = scenario.launches[number].lost;
  what.store = scenario.launches[number].store_lost;
  if (what.store) owners_.clear();
  return what;
}

class LyingDriver : public Driver {
 public:
  LyingDriver(std::unique_ptr<Driver> honest, Lie lie) : honest_(std::move(honest)), lie_(lie) {}
  Told launch(const Scenario& scenario, std::size_t number) override {
    Told told = honest_->launch(scenario, number);
    const auto& acts = scenario.launches[number].acts;
    for (std::size_t act = 0; act < acts.size(); ++act)
      if (acts[act] == Act::restore && number > 0) lie(scenario, number, told, act);
    for (std::size_t act = 0; act < acts.size(); ++act) note(scenario.launches[number].job, acts[act], told, act);
    return told;
  }
  Destroyed destroy(const Scenario& scenario, std::size_t number) override {
    return honest_->destroy(scenario, number);
  }

 private:
  void note(int job, Act what, const Told& told, std::size_t act) {
    const Answer& first = told.answers.front()[act];
    if ((what == Act::checkpoint || what == Act::rewrite) && first.done && first.status == PERDURE_OK)
      captured_[job].push_back(first);
  }
  void lie(const Scenario& scenario, std::size_t number, Told& told, std::size_t act) {
    const auto& before = captured_[scenario.launches[number].job];
    const bool arrays = scenario.job_of(number).arrays != 0;
    for (std::size_t rank = 0; rank < told.answers.size(); ++rank) {
      Answer& answer = told.answers[rank][act];
      if (!answer.done || answer.status != PERDURE_OK) continue;
      if (rank == 0 && (lie_ == Lie::flipped || (lie_ == Lie::element && arrays))) answer.right = false;
      if (lie_ == Lie::not_found) answer.status = PERDURE_NOT_FOUND;
      if (lie_ == Lie::older && before.size() > 1) {
        answer.step = before[before.size() - 2].step;
        answer.version = before[before.size() - 2].version;
      }
    }
  }
  std::unique_ptr<Driver> honest_;
  Lie lie_;
  std::map<int, std::vector<Answer>> captured_;
};

}  // namespace

Lie lie_from(const std::string& name) {
  return name == "older"       ? Lie::older
         : name == "flipped"   ? Lie::flipped
         : name == "not-found" ? Lie::not_found
         : name == "element"   ? Lie::element
                               : Lie::none;
}
std::unique_ptr<Driver> ideal_driver() { return std::make_unique<IdealDriver>(); }
std::unique_ptr<Driver> lying_driver(std::unique_ptr<Driver> honest, Lie lie) {
  return std::make_unique<LyingDriver>(std::move(honest), lie);
}

}  // namespace perdure::campaign

#include "campaign/shrinker.hpp"

#include <algorithm>
#include <set>

namespace perdure::campaign {
namespace {

class Smaller {
 public:
  explicit Smaller(const Scenario& from) : from_(from) {}
  std::vector<Scenario> all() {
    without_launches();
    without_a_job();
    without_an_act();
    plainer_fields();
    fewer_nodes();
    fewer_ranks();
    fewer_ranks_of_jobs();
    plainer_jobs();
    plainer_nodes();
    return std::move(found_);
  }

 private:
  void add(const Scenario& scenario) {
    if (can_be_carried_out(scenario) && scenario != from_) found_.push_back(scenario);
  }
  // Removes the first half, then the second half, then each launch alone; the last launches often cause the failure.
  void without_launches() {
    const auto count = static_cast<std::ptrdiff_t>(from_.launches.size());
    for (std::ptrdiff_t many = count / 2; many >= 1; many = many == 1 ? 0 : 1)
      for (std::ptrdiff_t first = 0; first + many <= count; first += many) {
        Scenario next = from_;
        next.launches.erase(next.launches.begin() + first, next.launches.begin() + first + many);
        add(next);
      }
  }
  void without_a_job() {
    for (int job = 0; job < static_cast<int>(from_.jobs.size()); ++job) {
      Scenario next = from_;
      next.jobs.erase(next.jobs.begin() + job);
      std::erase_if(next.launches, [&](const Launch& launch) { return launch.job == job; });
      for (Launch& launch : next.launches) launch.job -= launch.job > job ? 1 : 0;
      add(next);
    }
  }
  void without_an_act() {
    for (std::size_t launch = 0; launch < from_.launches.size(); ++launch)
      for (std::size_t act = from_.launches[launch].acts.size(); act-- > 0;) {
        Scenario next = from_;
        auto& acts = next.launches[launch].acts;
        acts.erase(acts.begin() + static_cast<std::ptrdiff_t>(act));
        add(next);
      }
  }
  // Resets fields in all launches at once, then in each.
  void plainer_fields() {
    const Fields plain = fields_of(Launch{});
    for (const auto& [name, value] : plain) {
      if (name == "do" || name == "nodes" || name == "job") continue;
      Scenario everywhere = from_;
      for (Launch& launch : everywhere.launches) (void)set_field(launch, name, value);
      add(everywhere);
      for (std::size_t i = 0; i < from_.launches.size() && from_.launches.size() > 1; ++i) {
        Scenario next = from_;
        (void)set_field(next.launches[i], name, value);
        if (next != everywhere) add(next);
      }
    }
  }
  // Renumbers nodes as 0, 1 and so on, all in their places: in all launches, then in each.
  void plainer_nodes() {
    const auto number = [](Launch& launch) {
      for (std::size_t i = 0; i < launch.nodes.size(); ++i) launch.nodes[i] = static_cast<int>(i);
    };
    Scenario everywhere = from_;
    for (Launch& launch : everywhere.launches) number(launch);
    add(everywhere);
    for (std::size_t i = 0; i < from_.launches.size(); ++i) {
      Scenario next = from_;
      number(next.launches[i]);
      if (next != everywhere) add(next);
    }
  }
  // Reduces a job to one rank, or removes its last node and that node's ranks.
  void fewer_nodes() {
    for (int job = 0; job < static_cast<int>(from_.jobs.size()); ++job) {
      Scenario alone = from_, next = from_;
      alone.jobs[static_cast<std::size_t>(job)].ranks = 1;
      for (Launch& launch : alone.launches) {
        if (launch.job != job) continue;
        fit(launch, 1, 1);
        launch.ranks = 0;
      }
      add(alone);
      int& ranks = next.jobs[static_cast<std::size_t>(job)].ranks;
      std::set<int> each;
      for (Launch& launch : next.launches)
        if (launch.job == job && launch.ranks == 0) each.insert(launch.per_node);
      if (each.size() != 1 || ranks <= *each.begin()) continue;
      ranks -= *each.begin();
      for (Launch& launch : next.launches)
        if (launch.job == job && launch.ranks == 0) fit(launch, ranks, launch.per_node);
      add(next);
    }
  }
  /// Uses as many nodes as these ranks need: the present ones, and others.
  static void fit(Launch& launch, int ranks, int per_node) {
    launch.per_node = per_node;
    const auto wanted = static_cast<std::size_t>((ranks + per_node - 1) / per_node);
    for (int node = 0; launch.nodes.size() < wanted; ++node)
      if (std::find(launch.nodes.begin(), launch.nodes.end(), node) == launch.nodes.end()) launch.nodes.push_back(node);
    launch.nodes.resize(wanted);
    launch.victim = std::min(launch.victim, ranks - 1);
    launch.flipped_slot = std::min(launch.flipped_slot, ranks - 1);
  }
  // For launches with their own number of ranks: uses the job's number, or fewer; and all ranks on one node.
  void fewer_ranks() {
    for (std::size_t i = 0; i < from_.launches.size(); ++i) {
      const int ranks = from_.ranks_of(i), per_node = from_.launches[i].per_node;
      const auto with = [&](int more, int on_each) {
        Scenario next = from_;
        fit(next.launches[i], more, on_each);
        next.launches[i].ranks = more == from_.job_of(i).ranks ? 0 : more;
        add(next);
      };
      if (from_.job_of(i).arrays != 0) with(ranks, ranks);
      if (from_.launches[i].ranks == 0) continue;
      with(from_.job_of(i).ranks, per_node);
      for (const int fewer : {1, ranks / 2, ranks - 1})
        if (fewer > 0 && fewer < ranks) with(fewer, std::min(fewer, per_node));
    }
  }
  // Changes all launches that have as many ranks as the job.
  void fewer_ranks_of_jobs() {
    for (std::size_t job = 0; job < from_.jobs.size(); ++job)
      for (const int fewer : {from_.jobs[job].ranks / 2, from_.jobs[job].ranks - 1}) {
        Scenario next = from_;
        next.jobs[job].ranks = fewer;
        for (Launch& launch : next.launches)
          if (launch.job == static_cast<int>(job) && launch.ranks == 0 && fewer > 0)
            fit(launch, fewer, std::min(fewer, launch.per_node));
        add(next);
      }
  }
  void plainer_jobs() {
    for (std::size_t job = 0; job < from_.jobs.size(); ++job) {
      Scenario without_arrays = from_, large = from_;
      without_arrays.jobs[job].arrays = 0;
      add(without_arrays);
      large.jobs[job].small = false;
      add(large);
    }
  }

  const Scenario& from_;
  std::vector<Scenario> found_;
};

}  // namespace

std::vector<Scenario> smaller_ones(const Scenario& scenario) { return Smaller(scenario).all(); }

Scenario shrink(Scenario scenario, const std::function<bool(const Scenario&)>& fails, int tries) {
  return shrink_by(std::move(scenario), smaller_ones, fails, tries);
}

}  // namespace perdure::campaign

#include "process/held_tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "os/affinity.hpp"
#include "os/system.hpp"
#include "process/map_holders.hpp"
#include "process/pages.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_lists.hpp"
#include "process/proc_text.hpp"
#include "process/stops.hpp"
#include "process/tree_links.hpp"
#include "process/tree_order.hpp"

namespace perdure::process {
namespace {

std::string proc_of(pid_t process, const std::string& file) {
  return proc_text("/proc/" + std::to_string(process) + "/" + file);
}

Kin kin_of(pid_t process) {
  const StatNumbers stat(proc_of(process, "stat"));
  const auto number = [&](std::size_t field) { return static_cast<std::int32_t>(stat.value(field)); };
  return {process, number(4), number(5), number(6), number(38)};
}

/// A process that is exiting cannot be looked at any more.
bool is_ending(pid_t process) {
  constexpr int kTries = 100;
  for (int tries = 0; tries < kTries; ++tries, os::sleep_ns(1'000'000))
    if (has_process_ended(process)) return true;
  return is_process_ending(process);  // with much memory, the exit takes long
}

/// Also true if the process is gone. A process that began meanwhile counts too.
bool descends_from(pid_t process, pid_t root) {
  while (process > 0 && process != root) {
    if (has_process_ended(process)) return true;
    process = kin_of(process).parent;
  }
  return process == root;
}

EndedProcess ended_of(pid_t process) {
  EndedProcess ended;
  ended.kin = kin_of(process);
  ended.name = proc_of(process, "comm");
  if (!ended.name.empty()) ended.name.pop_back();  // the newline
  constexpr std::int32_t kDumped = 0x80;           // whether there was a core dump; there is no second one
  const auto status = static_cast<std::int32_t>(StatNumbers(proc_of(process, "stat")).value(52));
  ended.status = (status & 0x7f) != 0 ? status & ~kDumped : status;
  return ended;
}

/// Looks at all processes of a tree, running or not.
class TreeLook {
 public:
  explicit TreeLook(const std::vector<pid_t>& processes) : root_(processes.front()) {
    for (const pid_t process : processes) {
      inside_.insert(process);
      if (has_process_ended(process) && process != root_)
        ended_.push_back(process);
      else
        living_.push_back(process);
    }
  }

  base::Status look(const SeenTree* before) {
    for (std::size_t i = 0; i < living_.size();) {
      const auto looked = look_at(living_[i], before);
      if (looked) {
        ++i;
        continue;
      }
      if (before != nullptr || living_[i] == root_ || !is_ending(living_[i])) return looked;
      ended_.push_back(living_[i]);  // it ended meanwhile, and may have been waited for
      living_.erase(living_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (auto& one : files) raw[one.process] = one;
    return {};
  }

  /// Returns the obstacles of all processes.
  std::vector<Obstacle> find_obstacles(const std::set<int>& left_out) {
    std::vector<SeenFiles*> all_files;
    SeenFiles together;  // another process may have the file of a mapping open
    for (auto& one : files) all_files.push_back(&one);
    join_other_ends(all_files);
    for (auto& one : files) {
      settle(one, left_out);
      together.files.insert(together.files.end(), one.files.begin(), one.files.end());
      together.nameless.insert(one.nameless.begin(), one.nameless.end());
    }
    std::vector<Obstacle> all;
    for (std::size_t i = 0; i < living_.size(); ++i) {
      const auto add = [&](std::vector<Obstacle> some) {
        for (auto& one : some) {
          if (living_[i] != root_) one.what = process_text(living_[i]) + ": " + one.what;
          all.push_back(std::move(one));
        }
      };
      add(obstacles_of_facts(facts_[i], inside_));
      add(obstacles_of_maps(maps[i], together));
      add(obstacles_of_files(files[i]));
      add(of_packets(files[i]));
    }
    add_kinship(all);
    return all;
  }

  const std::vector<pid_t>& living() const { return living_; }
  std::vector<SeenFiles> files;  // of each living process
  std::vector<std::vector<MemoryMap>> maps;
  SeenTree raw;  // files before settle()

 private:
  base::Status look_at(pid_t process, const SeenTree* before) {
    LookChoices choices;
    choices.inside = inside_;
    const auto known = before != nullptr ? before->find(process) : SeenTree::const_iterator();
    const bool is_known = before != nullptr && known != before->end();
    if (is_known) choices.before = &known->second;
    PERDURE_TRY(auto facts, is_known ? read_facts_again(process) : read_facts(process));
    facts.children.clear();  // they are captured too, also those that it makes meanwhile
    for (auto& thread : facts.threads)
      if (thread.status.tracer == os::thread_number()) thread.status.tracer = 0;  // this thread holds it
    PERDURE_TRY(auto its_maps, read_maps(process));
    PERDURE_TRY(auto its_files, look_at_files(process, choices));
    for (auto& file : its_files.files)
      std::erase_if(file.holders,
                    [&](pid_t holder) { return inside_.contains(holder) || descends_from(holder, root_); });
    its_files.nameless = nameless_files_of(its_files, its_maps, inside_);
    facts_.push_back(std::move(facts));
    maps.push_back(std::move(its_maps));
    files.push_back(std::move(its_files));
    return {};
  }

  /// A reader recognizes a packet pipe only by an end of its own.
  std::vector<Obstacle> of_packets(const SeenFiles& its) const {
    std::vector<Obstacle> all;
    for (const auto& file : its.files) {
      if (!std::holds_alternative<PipeEnd>(file.file.what) || (file.file.flags & O_DIRECT) == 0) continue;
      const auto has = [&](const SeenFiles& other) {
        return &other != &its && std::any_of(other.files.begin(), other.files.end(), [&](const SeenFile& one) {
          return one.device == file.device && one.inode == file.inode;
        });
      };
      if (std::any_of(files.begin(), files.end(), has))
        all.push_back({"descriptor " + std::to_string(file.numbers.front()) + ", a pipe of packets (O_DIRECT)",
                       "several processes have it", "", ""});
    }
    return all;
  }

  void add_kinship(std::vector<Obstacle>& all) const {
    std::vector<Kin> kin;
    for (const pid_t one : living_) kin.push_back(kin_of(one));
    for (const pid_t one : ended_)
      if (has_process_ended(one)) kin.push_back(kin_of(one));
    std::erase_if(kin, [&](const Kin& one) { return one.parent == 0 && one.number != root_; });  // it is gone
    const auto order = order_of_tree(kin);
    if (!order)
      all.push_back({order.error().object + ": " + order.error().cause, "it could not get there again",
                     order.error().remedy, ""});
    if (kin.size() > TreeImage::kMostProcesses)
      all.push_back({"it has more than " + std::to_string(TreeImage::kMostProcesses) + " descendants",
                     "an image keeps no more", "", ""});
  }

  pid_t root_;
  std::set<pid_t> inside_;
  std::vector<pid_t> living_, ended_;
  std::vector<ProcessFacts> facts_;  // of each living process
};

base::Status check_not_ours(const std::vector<pid_t>& processes) {
  if (std::find(processes.begin(), processes.end(), ::getpid()) == processes.end()) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, process_text(processes.front()),
                    "this program is one of its descendants, and cannot capture itself",
                    "start perdure from elsewhere");
}

}  // namespace

// An obstacle in every look is real. If the looks differ, processes come and go; then the look at the stopped tree
// decides.
base::Result<SeenTree> look_at_tree(pid_t root, const std::set<int>& left_out) {
  std::set<std::string> seen_in_the_way;
  for (int tries = 1;; ++tries) {
    const auto processes = list_tree(root);
    PERDURE_CHECK(check_not_ours(processes));
    TreeLook look(processes);
    base::Status free = look.look(nullptr);
    const SeenTree seen = look.raw;
    if (free) free = refused(root, look.find_obstacles(left_out));
    if (free) return seen;
    const bool may_pass = free.error().code == PERDURE_UNSUPPORTED || free.error().code == PERDURE_NOT_FOUND;
    if (!may_pass) return base::fail(free.error());
    if (has_process_ended(root))
      return base::fail(PERDURE_NOT_FOUND, process_text(root), "there is no such process, or it has ended");
    seen_in_the_way.insert(free.error().text());
    if (tries == kLooks)
      return seen_in_the_way.size() > 1 ? base::Result<SeenTree>(SeenTree()) : base::fail(free.error());
    os::sleep_ns(static_cast<std::uint64_t>(tries) * 1'000'000);
  }
}

// Looks again for children once their parent stands still, because it may have made some before.
base::Result<HeldTree> HeldTree::seize(pid_t root) {
  PERDURE_CHECK(check_not_ours(list_tree(root)));
  HeldTree held;
  PERDURE_TRY(auto first, Tracee::seize(root));
  held.processes_.push_back(std::move(first));
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = 0; i < held.processes_.size(); ++i) PERDURE_CHECK(held.seize_children_of(i, any));
  }
  const auto living = held.all();
  for (const pid_t process : living)
    for (const pid_t child : children_of(process))
      if (std::find(living.begin(), living.end(), child) == living.end()) held.ended_.push_back(child);
  return held;
}

base::Status HeldTree::seize_children_of(std::size_t process, bool& any) {
  const auto known = all();
  for (const pid_t child : children_of(processes_[process].process())) {
    if (std::find(known.begin(), known.end(), child) != known.end()) continue;
    auto seized = Tracee::seize(child);
    if (!seized && seized.error().code == PERDURE_NOT_FOUND) continue;  // it has ended
    if (!seized) return base::fail(seized.error());
    processes_.push_back(std::move(*seized));
    any = true;
  }
  return {};
}

std::vector<pid_t> HeldTree::all() const {
  std::vector<pid_t> processes;
  for (const auto& one : processes_) processes.push_back(one.process());
  return processes;
}

namespace {

// A process that was about to end may still show its descriptors, which are gone a moment later.
base::Result<TreeLook> look_when_all_stand_still(const std::vector<pid_t>& processes, const std::set<int>& left_out,
                                                 const SeenTree& before) {
  constexpr int kTries = 6;
  for (int tries = 1;; ++tries) {
    TreeLook look(processes);
    base::Status free = look.look(&before);
    if (free) free = refused(processes.front(), look.find_obstacles(left_out));
    if (free) return look;
    if (tries == kTries) return base::fail(free.error());
    os::sleep_ns(static_cast<std::uint64_t>(tries) * 1'000'000);
  }
}

}  // namespace

base::Result<ReadTree> HeldTree::read(const DescriptorChoices& choices, const SeenTree& before, bool places) {
  auto processes = all();
  processes.insert(processes.end(), ended_.begin(), ended_.end());
  PERDURE_TRY(const TreeLook look, look_when_all_stand_still(processes, choices.left_out, before));
  ReadTree read;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    DescriptorChoices its = choices;
    its.seen = &look.files[i];
    KnownOfMemory known;
    known.most_runs = kMostPageRuns / processes_.size();
    known.places = places;
    PERDURE_TRY(auto one, read_image(processes_[i], its, known));
    for (const auto& note : one.notes) read.notes.push_back(process_text(one.image.number) + ": " + note);
    read.tree.processes.push_back(std::move(one.image));
    read.tree.kin.push_back(kin_of(processes_[i].process()));
  }
  for (const pid_t process : ended_) read.tree.ended.push_back(ended_of(process));
  PERDURE_CHECK(link_processes(read.tree, look.files, look.maps));
  if (const std::string wrong = read.tree.wrong(); !wrong.empty())
    return base::fail(PERDURE_UNSUPPORTED, process_text(processes.front()), "its image would be wrong: " + wrong);
  return read;
}

base::Status HeldTree::release() {
  base::Status all;
  for (auto& process : processes_) {
    auto released = process.release();
    if (!released && all) all = std::move(released);
  }
  processes_.clear();
  return all;
}

}  // namespace perdure::process

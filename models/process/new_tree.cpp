#include "process/new_tree.hpp"

#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "process/remote_memory.hpp"

namespace perdure::process {
namespace {

/// While this object lives, orphans become children of this process.
class Subreaper {
 public:
  Subreaper() {
    (void)::prctl(PR_GET_CHILD_SUBREAPER, &before_);
    (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Subreaper() { (void)::prctl(PR_SET_CHILD_SUBREAPER, before_); }
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;

 private:
  int before_ = 0;
};

/// Trees do not support a name space of their own, so the error must not suggest it.
base::Error without_name_space(base::Error why) {
  if (why.code == PERDURE_EXISTS) why.remedy = "end that one, or wait: programs know the numbers of their processes";
  if (why.code == PERDURE_PERMISSION && !why.remedy.empty())
    why.remedy = "have CAP_CHECKPOINT_RESTORE (setcap cap_checkpoint_restore+ep, or root)";
  return why;
}

}  // namespace

/// The arguments to make each process, and to end some. They exist before the first copy of this process is made, so
/// all copies have them.
struct NewTree::Memory {
  Memory(const TreeImage& tree, const std::vector<Kin>& kin) {
    for (const Kin& one : kin) {
      clone_args arguments{};
      arguments.exit_signal = static_cast<std::uint64_t>(one.end_signal);
      arguments.set_tid = kept.keep(bytes_of(one.number));
      arguments.set_tid_size = 1;
      calls.push_back(SystemCall{SYS_clone3, kept.keep(bytes_of(arguments)), sizeof arguments});
    }
    for (const EndedProcess& one : tree.ended) {
      std::array<char, NewProcess::kNameOfEnded + 32> bytes{};
      std::copy_n(one.name.data(), std::min<std::size_t>(one.name.size(), NewProcess::kNameOfEnded - 1), bytes.data());
      names.push_back(kept.keep(bytes_of(bytes)));
    }
    ignored = kept.keep(bytes_of(std::array<std::uint64_t, 4>{1}));
    by_default = kept.keep(bytes_of(std::array<std::uint64_t, 4>{}));
  }
  Operations kept;
  std::vector<SystemCall> calls;
  std::vector<std::uint64_t> names;
  std::uint64_t ignored = 0, by_default = 0;  // actions for a signal
};

NewTree::NewTree(const TreeImage& tree)
    : tree_(&tree), ended_(tree.ended.size()), processes_(tree.processes.size() + tree.ended.size()) {
  for (std::size_t i = 0; i < ended_.size(); ++i) ended_[i].number = tree.ended[i].kin.number;
}

NewTree::NewTree(NewTree&& other) noexcept
    : tree_(other.tree_), ended_(std::move(other.ended_)), processes_(std::exchange(other.processes_, {})) {}

// Kills parents first: their children become ours, and are waited for.
NewTree::~NewTree() {
  if (processes_.empty()) return;
  const Subreaper subreaper;
  std::vector<pid_t> made;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i]) continue;
    made.push_back(image_of(i).number);
    if (processes_[i]->process() > 0) ::kill(processes_[i]->process(), SIGKILL);
  }
  for (auto& process : processes_) process.reset();
  for (const pid_t process : made)
    while (::waitpid(process, nullptr, __WALL) < 0 && errno == EINTR) {
    }
}

const ProcessImage& NewTree::image_of(std::size_t process) const {
  const std::size_t living = tree_->processes.size();
  return process < living ? tree_->processes[process] : ended_[process - living];
}

base::Result<NewTree> NewTree::begin(const TreeImage& tree, const std::vector<Kin>& kin,
                                     const std::vector<Operations>& operations) {
  NewTree made(tree);
  if (const auto all = made.make_all(kin); !all) return base::fail(without_name_space(all.error()));
  for (std::size_t i = 0; i < tree.processes.size(); ++i) PERDURE_CHECK(made.process(i).perform(operations[i]));
  return made;
}

base::Status NewTree::make_all(const std::vector<Kin>& kin) {
  PERDURE_TRY(const auto order, order_of_tree(kin));
  const Memory memory(*tree_, kin);
  std::map<std::int32_t, std::size_t> at;
  for (std::size_t i = 0; i < kin.size(); ++i) at[kin[i].number] = i;
  PERDURE_TRY(auto root, NewProcess::begin(image_of(0), Operations()));
  processes_[0] = std::make_unique<NewProcess>(std::move(root));
  const auto parent_of = [&](std::size_t process) { return process == 0 ? 0 : at[kin[process].parent]; };
  for (const TreeStep& step : order) PERDURE_CHECK(take_step(kin[step.process], step, parent_of(step.process), memory));
  for (std::size_t i = 0; i < ended_.size(); ++i)
    PERDURE_CHECK(end_one(i, parent_of(tree_->processes.size() + i), memory));
  return {};
}

base::Status NewTree::take_step(const Kin& kin, const TreeStep& step, std::size_t parent, const Memory& memory) {
  Operations its;
  switch (step.what) {
    case TreeStep::What::make: {
      const ProcessImage& image = image_of(step.process);
      PERDURE_TRY(auto child, NewProcess::begin_child(process(parent), image, memory.calls[step.process]));
      processes_[step.process] = std::make_unique<NewProcess>(std::move(child));
      return {};
    }
    case TreeStep::What::lead_session:
      its.add({SYS_setsid}, "begin a session");
      break;
    case TreeStep::What::lead_group:
      its.add({SYS_setpgid, 0, 0}, "begin a group");
      break;
    case TreeStep::What::join_group:
      its.add({SYS_setpgid, 0, static_cast<std::uint64_t>(kin.group)}, "go to group " + std::to_string(kin.group));
      break;
  }
  return process(step.process).perform(its);
}

// The parent gets only signals that the image has, so it ignores the end signal meanwhile: ignored signals do not
// become pending. But if it ignored SIGCHLD, the kernel would forget the child. The default action has the same effect.
base::Status NewTree::end_one(std::size_t ended, std::size_t parent, const Memory& memory) {
  const EndedProcess& one = tree_->ended[ended];
  const auto signal = static_cast<std::uint64_t>(one.kin.end_signal);
  const bool can_ignore = signal != 0 && signal != SIGKILL && signal != SIGSTOP;
  Operations before, after;
  if (can_ignore) before.add({SYS_rt_sigaction, signal, memory.by_default, 0, 8}, "wait for children");
  if (can_ignore)
    after.add({SYS_rt_sigaction, signal, signal == SIGCHLD ? memory.by_default : memory.ignored, 0, 8},
              "forget the end of a child");
  PERDURE_CHECK(process(parent).perform(before));
  PERDURE_CHECK(process(tree_->processes.size() + ended).end_with(one.status, memory.names[ended]));
  return process(parent).perform(after);
}

// The root goes first, because no other process can end it once it runs.
base::Status NewTree::release() {
  for (std::size_t i = 0; i < tree_->processes.size(); ++i) {
    const auto released = process(i).release();
    if (released) continue;
    for (const ProcessImage& one : tree_->processes) ::kill(one.number, SIGKILL);
    return released;
  }
  processes_.clear();
  return {};
}

}  // namespace perdure::process

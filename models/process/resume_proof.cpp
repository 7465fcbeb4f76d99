#include "process/resume_proof.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "os/hooks.hpp"
#include "process/image_source.hpp"
#include "process/new_process.hpp"
#include "process/read_state.hpp"
#include "process/remote_memory.hpp"
#include "process/state_calls.hpp"
#include "process/stops.hpp"
#include "process/tree_source.hpp"

namespace perdure::process {
namespace {

constexpr std::uint64_t kLeastRoom = 0x10000, kRoomBytes = 16 * kPageBytes;

base::Status cannot_come_back(const ProcessImage& image, const std::string& why) {
  return base::fail(PERDURE_UNSUPPORTED, process_text(image.number), "it could not be brought back: " + why,
                    "it goes on, and there is no image of it");
}

/// A child that stands still, and carries out calls.
class StandIn {
 public:
  static base::Result<StandIn> begin();
  StandIn(StandIn&& other) noexcept
      : child_(std::exchange(other.child_, 0)), registers_(other.registers_), instruction_(other.instruction_) {}
  StandIn& operator=(StandIn&&) = delete;
  ~StandIn() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    reap(child_);
  }
  base::Status take_state(const ProcessImage& image);
  base::Status take_registers(const ThreadImage& thread);

 private:
  explicit StandIn(pid_t child) : child_(child) {}
  AskedThread asked() const;
  base::Status carry_out_calls(const std::vector<StateCall>& calls) const;

  pid_t child_;
  Registers registers_{};
  std::uint64_t instruction_ = 0;
};

/// Calls of the child may write here: the child has it at the same address.
std::uint64_t value_of_stand_in = 0;  // NOLINT: its address counts

base::Result<StandIn> StandIn::begin() {
  let_children_be_traced();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  if (child < 0) return base::fail(base::errno_error(errno, "fork", "a child to try it"));
  StandIn stand_in(child);
  if (trace(PTRACE_SEIZE, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0 ||
      trace(PTRACE_INTERRUPT, child, 0, 0) < 0 || !wait_for_stop(child))
    return base::fail(trace_failed(child, "a child to try it cannot be traced").error());
  PERDURE_CHECK(set_blocked_signals(child, ~std::uint64_t{0}));
  PERDURE_TRY(stand_in.registers_, get_registers(child));
  PERDURE_TRY(stand_in.instruction_, find_call_instruction_of(child));
  return stand_in;
}

AskedThread StandIn::asked() const {
  AskedThread one;
  one.process = one.thread = child_;
  one.ask = [this](const SystemCall& call) { return carry_out(child_, registers_, instruction_, call); };
  one.address = reinterpret_cast<std::uint64_t>(&value_of_stand_in);
  one.value = [this] { return read_value<std::uint64_t>(child_, reinterpret_cast<std::uint64_t>(&value_of_stand_in)); };
  return one;
}

base::Status StandIn::carry_out_calls(const std::vector<StateCall>& calls) const {
  for (const StateCall& one : calls) {
    if (one.may_fail) continue;
    PERDURE_TRY(const auto answer, asked().ask(one.call));
    if (answer < 0) return base::fail(base::errno_error(static_cast<int>(-answer), one.what, process_text(child_)));
  }
  return {};
}

// Seals are of addresses that the child has not: of nothing they change nothing.
base::Status StandIn::take_state(const ProcessImage& image) {
  PERDURE_TRY(const ProcessState now, read_process_state(asked()));
  PERDURE_CHECK(carry_out_calls(calls_for(image.state, now)));
  for (const ThreadImage& thread : image.threads) {
    PERDURE_TRY(const ThreadState its, read_thread_state(asked()));
    PERDURE_CHECK(carry_out_calls(calls_for(thread.state, its)));
  }
  auto last = last_calls_for(image, now);
  for (StateCall& one : last)
    if (one.call[0] == kSealCall) one.call[2] = 0;
  return carry_out_calls(last);
}

base::Status StandIn::take_registers(const ThreadImage& thread) {
  if (const int refused = os::ask_hooks({"set_registers", "stand-in", {}, 0, {}, {}, 0, 0}); refused != 0)
    return base::fail(base::errno_error(refused, "set its registers", process_text(child_)));
  PERDURE_CHECK(set_extended_registers(child_, thread.extended_registers));
  return set_registers(child_, registers_of(thread));
}

}  // namespace

base::Status prove_record(base::ConstByteSpan record, const std::vector<segment::RegionEntry>& entries) {
  if (record.size() > kMostRecordBytes)
    return base::fail(PERDURE_UNSUPPORTED, "image", "its record is too long to be read again",
                      "let it have less in unlinked files and pipes");
  if (is_tree(entries)) {
    PERDURE_TRY(const auto tree, decode_tree(record, "image"));
    if (entries_of_tree(record.size(), tree) == entries) return {};
  } else {
    PERDURE_TRY(const auto image, decode_image(record, "image"));
    if (entries_of(record.size(), image) == entries) return {};
  }
  return base::fail(PERDURE_INTERNAL, "image", "its record says of its pages something else than what is stored");
}

bool leaves_room(const ProcessImage& image) {
  const auto& system = image.system;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken = {{system.vdso_begin, system.vdso_end}};
  for (const MapImage& map : image.maps) taken.emplace_back(map.begin, map.end);
  const std::uint64_t room = find_gap(taken, kLeastRoom, kRoomBytes);
  if (room == 0) return false;
  taken.emplace_back(room, room + kRoomBytes);
  return find_gap(taken, kLeastRoom, system.vdso_end - system.vdso_begin) != 0;
}

base::Status prove_resumable(const ProcessImage& image, const MachineFacts& facts) {
  if (!leaves_room(image)) return cannot_come_back(image, "its addresses leave no gap of 64 KiB");
  for (const Obstacle& one : obstacles_of_machine(image, facts))
    return cannot_come_back(image, one.what + " (" + one.why + ")");
  if (!facts.missing_files.empty())
    return cannot_come_back(image, "'" + facts.missing_files.front() + "' is not here any more");
  PERDURE_TRY(StandIn stand_in, StandIn::begin());
  if (auto taken = stand_in.take_state(image); !taken) return cannot_come_back(image, taken.error().cause);
  for (const ThreadImage& thread : image.threads)
    if (auto taken = stand_in.take_registers(thread); !taken)
      return cannot_come_back(image, "thread " + std::to_string(thread.number) + ": " + taken.error().cause);
  return {};
}

}  // namespace perdure::process

#include "process/new_process.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "process/clocks.hpp"
#include "process/kernel_functions.hpp"
#include "process/memory_maps.hpp"
#include "process/proc_text.hpp"
#include "process/remote_memory.hpp"

namespace perdure::process {
namespace {

/// A page of code, and room for data that calls point to.
constexpr std::uint64_t kFootholdBytes = 16 * kPageBytes;
constexpr std::uint64_t kLeastAddress = 0x10000;  // vm.mmap_min_addr of all distributions

/// The vdso of a process, with its data pages before the code.
struct KernelsPages {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pages, taken;  ///< the vdso's; everything mapped
  std::vector<std::byte> code;
  std::array<std::uint64_t, 2> hash() const {
    const auto hash = base::hash128(code);
    return {hash.low, hash.high};
  }
};

base::Result<KernelsPages> kernels_pages_of(pid_t process) {
  PERDURE_TRY(const auto maps, read_maps(process));
  KernelsPages here;
  for (const MemoryMap& map : maps) {
    here.taken.emplace_back(map.begin, map.end);
    if (map.name != "[vdso]" && !map.name.starts_with("[vvar")) continue;
    here.pages.emplace_back(map.begin, map.end);
    if (map.name != "[vdso]") continue;
    here.code.resize(map.bytes());
    PERDURE_CHECK(read_memory(process, map.begin, here.code));
  }
  if (here.code.empty())
    return base::fail(PERDURE_UNSUPPORTED, process_text(process),
                      "this kernel has no code of its own in a process (vdso)");
  return here;
}

/// Memory that the child and its maker share.
struct Meeting {
  std::atomic<std::int32_t> go{0};
  OperationsOutcome outcome;
};

/// Makes a raw system call. The child is a copy of one thread of a process that may have many, so it may use no library
/// functions.
long raw(const SystemCall& call) {
  return ::syscall(static_cast<long>(call[0]), call[1], call[2], call[3], call[4], call[5], call[6]);
}

[[noreturn]] void be_the_child(Meeting& meeting, const std::vector<Operation>& operations, pid_t parent) {
  (void)raw({SYS_prctl, PR_SET_PDEATHSIG, SIGKILL});
  if (raw({SYS_getppid}) != parent) (void)raw({SYS_exit_group, 1});  // its maker ended before the death signal was set
  while (meeting.go.load() == 0) (void)raw({SYS_futex, reinterpret_cast<std::uint64_t>(&meeting.go), FUTEX_WAIT, 0, 0});
  run_operations(operations, &meeting.outcome);
  if (meeting.outcome.failed) (void)raw({SYS_exit_group, 1});
  for (;;) (void)raw({SYS_kill, static_cast<std::uint64_t>(raw({SYS_getpid})), SIGSTOP});
}

}  // namespace

base::Error cannot_begin(const ProcessImage& image, int error) {
  const std::string object = process_text(image.number);
  if (error == EEXIST)
    return {
        PERDURE_EXISTS, object, taken_text(image.number),
        "end that one, or wait: a program knows the numbers of its threads; or resume it in a name space of its own "
        "(--name-space)",
        true};
  if (error == EPERM)
    return {PERDURE_PERMISSION, object, "the system does not let this user choose numbers of processes",
            "have CAP_CHECKPOINT_RESTORE (setcap cap_checkpoint_restore+ep, or root), or resume it in a name space of "
            "its own",
            false};
  return base::errno_error(error, "make it", object);
}

namespace {

struct ChildTask {
  Meeting* meeting;
  const std::vector<Operation>* operations;
  pid_t parent;  ///< in the child's name space
};

[[noreturn]] void run_child(void* given) {
  const auto& task = *static_cast<const ChildTask*>(given);
  be_the_child(*task.meeting, *task.operations, task.parent);
}

struct MadeChild {
  pid_t process = 0;
  std::optional<NameSpace> space;
  ClockImage shift;
};

std::string ahead_text(const ClockImage& shift) {
  const auto seconds = std::max(shift.monotonic_ns, shift.boottime_ns) / 1'000'000'000;
  return std::to_string(seconds) + " s";
}

base::Error clocks_go_back(const ProcessImage& image, const ClockImage& shift, const base::Error& why) {
  return {PERDURE_PERMISSION, process_text(image.number),
          "its clocks (CLOCK_MONOTONIC, CLOCK_BOOTTIME) would go back by " + ahead_text(shift) +
              ", because this machine has run for a shorter time: " + why.cause,
          "resume it as root, or in a name space of its own (--name-space), whose clocks go on", false};
}

base::Result<MadeChild> make_child(const ProcessImage& image, ChildTask& task, Numbering numbering) {
  pid_t number = image.number;
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uint64_t>(&number);
  arguments.set_tid_size = 1;
  const ClockImage shift = shift_to(image.system.clocks, clocks_of(::getpid()));
  if (numbering != Numbering::itself) {
    std::optional<ShiftedChildren> shifted;
    int error = 0;
    if (shift != ClockImage()) {
      auto begun = ShiftedChildren::begin(shift);
      if (begun) shifted.emplace(std::move(*begun));
      if (!begun && numbering == Numbering::everybody) return base::fail(clocks_go_back(image, shift, begun.error()));
      if (!begun) error = EPERM;
    }
    const long made = error != 0 ? -1 : ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (made == 0) run_child(&task);
    if (made > 0) return MadeChild{static_cast<pid_t>(made), {}, shift};
    if (error == 0) error = errno;
    if (error != EPERM || numbering == Numbering::everybody) return base::fail(cannot_begin(image, error));
  }
  task.parent = 1;  // the first process there
  PERDURE_TRY(auto space, NameSpace::make(number, run_child, &task, shift));
  const pid_t process = space.process();
  return MadeChild{process, std::move(space), shift};
}

}  // namespace

std::uint64_t find_gap(std::vector<std::pair<std::uint64_t, std::uint64_t>> taken, std::uint64_t least,
                       std::uint64_t bytes) {
  std::sort(taken.begin(), taken.end());
  std::uint64_t at = least;
  for (const auto& [begin, end] : taken) {
    if (begin >= at && begin - at >= bytes) return at;
    at = std::max(at, end);
  }
  return at <= kAddressEnd && kAddressEnd - at >= bytes ? at : 0;
}

base::Result<NewProcess> NewProcess::begin(const ProcessImage& image, const Operations& operations,
                                           Numbering numbering) {
  let_children_be_traced();
  void* shared = ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return base::fail(base::errno_error(errno, "map memory for", process_text(image.number)));
  auto* meeting = new (shared) Meeting;
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  ChildTask task{meeting, &operations.list(), ::getpid()};
  auto made = make_child(image, task, numbering);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  base::Result<NewProcess> begun = [&]() -> base::Result<NewProcess> {
    if (!made) return base::fail(made.error());
    NewProcess process(image, made->process);
    if (made->space) process.space_.emplace(std::move(*made->space));
    if (process.space_) process.numbers_.emplace(image.number, made->process);
    if (made->shift != ClockImage())
      process.notes_.push_back("its clocks go on: it has a name space of time, " + ahead_text(made->shift) +
                               " ahead of this machine");
    PERDURE_CHECK(process.stop_behind(operations, meeting));
    return process;
  }();
  ::munmap(shared, sizeof(Meeting));
  return begun;
}

base::Status NewProcess::stop_behind(const Operations& operations, const void* shared) {
  auto& meeting = *static_cast<Meeting*>(const_cast<void*>(shared));  // NOLINT: it is the maker's own
  constexpr std::uintptr_t kOptions =
      PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK;
  if (trace(PTRACE_SEIZE, process_, 0, kOptions) < 0) return trace_failed(process_, "it cannot be traced");
  meeting.go = 1;
  (void)::syscall(SYS_futex, &meeting.go, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  const auto stop = wait_for_stop(process_);
  if (!stop) {
    const std::string why = text_of(meeting.outcome, operations.list());
    if (why.empty()) return base::fail(PERDURE_INTERNAL, process_text(process_), "somebody ended it");
    const auto code = base::errno_error(meeting.outcome.error, why, process_text(process_)).code;
    return base::fail(code, process_text(process_), why);
  }
  PERDURE_CHECK(set_blocked_signals(process_, ~std::uint64_t{0}));  // including those reserved by the C library
  PERDURE_TRY(registers_, get_registers(process_));
  PERDURE_TRY(instruction_, find_call_instruction_of(process_));
  return {};
}

NewProcess::NewProcess(NewProcess&& other) noexcept
    : image_(other.image_),
      process_(std::exchange(other.process_, 0)),
      registers_(other.registers_),
      instruction_(other.instruction_),
      foothold_(other.foothold_),
      made_threads_(std::move(other.made_threads_)),
      space_(std::move(other.space_)),
      numbers_(std::move(other.numbers_)),
      notes_(std::move(other.notes_)) {}

// The tracer must reap each thread first: the process counts as ended only afterwards.
NewProcess::~NewProcess() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  for (const pid_t thread : made_threads_) reap(thread);
  reap(process_);
}

pid_t NewProcess::here(std::int32_t number) const {
  const auto found = numbers_.find(number);
  return found == numbers_.end() ? number : found->second;
}

base::Status NewProcess::allow_huge_pages(bool allowed) {
  PERDURE_CHECK(ask({SYS_prctl, PR_SET_THP_DISABLE, allowed ? 0U : 1U, 0, 0, 0}, "choose huge pages of"));
  return {};
}

base::Result<std::int64_t> NewProcess::ask(pid_t thread, const SystemCall& call, const std::string& what) {
  PERDURE_TRY(const auto answer, carry_out(thread, registers_, instruction_, call));
  if (answer < 0) return base::fail(base::errno_error(static_cast<int>(-answer), what, process_text(process_)));
  return answer;
}

/// Puts bytes where a call can read them. They stay until the next put().
base::Result<std::uint64_t> NewProcess::put(base::ConstByteSpan bytes, std::uint64_t offset) {
  const std::uint64_t address = foothold_ + kPageBytes + offset;
  if (offset + bytes.size() > kFootholdBytes - kPageBytes)
    return base::fail(PERDURE_INTERNAL, process_text(process_), "something is too long for its foothold");
  PERDURE_CHECK(write_memory(process_, address, bytes));
  return address;
}

base::Status NewProcess::make_memory(const GivenObjects& given) {
  PERDURE_CHECK(take_foothold());
  PERDURE_CHECK(forget_thread_areas());
  PERDURE_CHECK(take_memory_away());
  PERDURE_CHECK(move_kernels_pages());
  std::vector<std::int64_t> files(image_->files.size(), -1), objects;
  for (const auto& [object, descriptor] : given) {
    objects.resize(std::max<std::size_t>(objects.size(), object + 1), -1);
    objects[object] = descriptor;
  }
  for (std::size_t i = 0; i < image_->maps.size(); ++i) PERDURE_CHECK(map(i, files, objects));
  for (std::size_t i = 1; i < objects.size(); ++i)
    if (image_->objects[i - 1].descriptor < 0) files.push_back(objects[i]);
  for (const auto file : files)
    if (file >= 0) PERDURE_CHECK(ask({SYS_close, static_cast<std::uint64_t>(file)}, "close a mapped file of"));
  return {};
}

// It lies where neither the image nor the copy of us has memory.
base::Status NewProcess::take_foothold() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken = {{image_->system.vdso_begin, image_->system.vdso_end}};
  for (const MapImage& map : image_->maps) taken.emplace_back(map.begin, map.end);
  PERDURE_TRY(const auto own, read_maps(process_));
  for (const MemoryMap& map : own) taken.emplace_back(map.begin, map.end);
  const std::uint64_t gap = find_gap(std::move(taken), kLeastAddress, kFootholdBytes);
  if (gap == 0) return base::fail(PERDURE_NO_SPACE, process_text(process_), "its addresses leave no gap of 64 KiB");
  PERDURE_TRY(const auto mapped, ask({SYS_mmap, gap, kFootholdBytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ULL, 0},
                                     "map a foothold in"));
  foothold_ = static_cast<std::uint64_t>(mapped);
  PERDURE_CHECK(write_memory(process_, foothold_, call_instruction()));
  PERDURE_CHECK(ask({SYS_mprotect, foothold_, kPageBytes, PROT_READ | PROT_EXEC}, "make executable a page of"));
  instruction_ = foothold_;
  registers_ = with_stack(registers_, foothold_ + kFootholdBytes);
  return {};
}

// Otherwise the kernel would access these areas after they are gone.
base::Status NewProcess::forget_thread_areas() {
  __ptrace_rseq_configuration rseq{};
  if (trace(static_cast<__ptrace_request>(PTRACE_GET_RSEQ_CONFIGURATION), process_, sizeof rseq, &rseq) < 0)
    return trace_failed(process_, "its restartable sequences cannot be read");
  constexpr std::uint64_t kUnregister = 1;
  if (rseq.rseq_abi_pointer != 0)
    PERDURE_CHECK(ask({SYS_rseq, rseq.rseq_abi_pointer, rseq.rseq_abi_size, kUnregister, rseq.signature},
                      "take back the restartable sequences of"));
  constexpr std::uint64_t kRobustHeadBytes = 24;
  PERDURE_CHECK(ask({SYS_set_robust_list, 0, kRobustHeadBytes}, "take back the robust list of"));
  PERDURE_CHECK(ask({SYS_set_tid_address, 0}, "take back the number's address of"));
  return {};
}

base::Status NewProcess::take_memory_away() {
  PERDURE_TRY(const auto own, read_maps(process_));
  std::uint64_t at = 0;
  const auto unmap_until = [&](std::uint64_t end) -> base::Status {
    if (end <= at) return {};
    PERDURE_CHECK(ask({SYS_munmap, at, end - at}, "take away memory of"));
    return {};
  };
  for (const MemoryMap& map : own) {
    const bool kept = map.name == "[vdso]" || map.name.starts_with("[vvar") || map.begin == foothold_ ||
                      map.begin == foothold_ + kPageBytes;
    if (!kept || map.name == "[vsyscall]") continue;
    PERDURE_CHECK(unmap_until(map.begin));
    at = map.end;
  }
  return unmap_until(kAddressEnd);
}

// The vdso's address differs between processes, but the program has the old one.
base::Status NewProcess::move_kernels_pages() {
  PERDURE_TRY(const KernelsPages here, kernels_pages_of(process_));
  const auto& system = image_->system;
  const std::uint64_t bytes = here.pages.back().second - here.pages.front().first;
  const bool same = system.vdso == here.hash() && bytes == system.vdso_end - system.vdso_begin;
  auto taken = here.taken;
  taken.emplace_back(system.vdso_begin, system.vdso_end);
  if (!same)
    for (const MapImage& map : image_->maps) taken.emplace_back(map.begin, map.end);
  const std::uint64_t between = find_gap(std::move(taken), kLeastAddress, bytes);  // old and new place may overlap
  if (between == 0)
    return base::fail(PERDURE_NO_SPACE, process_text(process_),
                      "its addresses leave no gap for the kernel's own pages");
  auto pages = here.pages;
  const auto move = [&](std::uint64_t to, std::uint64_t origin) -> base::Status {
    for (auto& [begin, end] : pages) {
      const std::uint64_t target = to + (begin - origin), length = end - begin;
      if (target != begin)
        PERDURE_CHECK(ask({SYS_mremap, begin, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, target},
                          "move the kernel's pages in"));
      begin = target;
      end = target + length;
    }
    return {};
  };
  PERDURE_CHECK(move(between, pages.front().first));
  return same ? move(system.vdso_begin, between)
              : lead_from_old_code(here.code, pages.back().second - here.code.size());
}

// The program calls functions of its old kernel's vdso. They stay at their addresses, and jump to those of this kernel.
base::Status NewProcess::lead_from_old_code(base::ConstByteSpan code, std::uint64_t code_begin) {
  const auto& system = image_->system;
  PERDURE_TRY(const auto led, lead_to(system.vdso_code, code, code_begin));
  const std::uint64_t at = system.vdso_code_begin(), bytes = led.size();
  PERDURE_CHECK(
      ask({SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ULL, 0},
          "map what was the kernel's in"));
  PERDURE_CHECK(write_memory(process_, at, led));
  PERDURE_CHECK(ask({SYS_mprotect, at, bytes, PROT_READ | PROT_EXEC}, "make executable what was the kernel's in"));
  notes_.push_back("it had the kernel " + system.release + ": where it reads clocks, its code leads to this kernel's");
  return {};
}

bool NewProcess::has_pages(const MapImage& map) const {
  const auto in_map = [&](const auto& runs) {  // ascending
    const auto found = std::lower_bound(runs.begin(), runs.end(), map.begin,
                                        [](const auto& run, std::uint64_t begin) { return run.begin < begin; });
    return found != runs.end() && found->begin < map.end;
  };
  const auto& borrowed = image_->increment.borrowed;
  return std::any_of(image_->pages.begin(), image_->pages.end(), [&](const auto& one) { return in_map(one.runs); }) ||
         std::any_of(borrowed.begin(), borrowed.end(), [&](const auto& one) { return in_map(one.runs); });
}

base::Result<std::int64_t> NewProcess::open(const FileImage& file, bool for_writing) {
  PERDURE_TRY(const auto path, put(base::as_bytes(std::string_view(file.path.c_str(), file.path.size() + 1))));
  return ask({SYS_openat, static_cast<std::uint64_t>(AT_FDCWD), path,
              static_cast<std::uint64_t>((for_writing ? O_RDWR : O_RDONLY) | O_CLOEXEC), 0},
             "open its mapped file '" + file.path + "' for");
}

base::Status NewProcess::make_object(std::uint32_t object, std::vector<std::int64_t>& objects) {
  const std::uint64_t bytes = image_->object_bytes(object);
  objects.resize(std::max<std::size_t>(objects.size(), object + 1), -1);
  if (image_->objects[object - 1].descriptor >= 0) {
    objects[object] = image_->objects[object - 1].descriptor;
    return {};
  }
  PERDURE_TRY(const auto name, put(base::as_bytes(std::string_view(kSharedMemory, std::strlen(kSharedMemory) + 1))));
  PERDURE_TRY(objects[object], ask({SYS_memfd_create, name, MFD_CLOEXEC}, "make shared memory of"));
  PERDURE_CHECK(ask({SYS_ftruncate, static_cast<std::uint64_t>(objects[object]), bytes}, "size shared memory of"));
  return {};
}

// The mapping is writable if pages will come. Its final rights are set at the end.
base::Status NewProcess::map(std::size_t index, std::vector<std::int64_t>& files, std::vector<std::int64_t>& objects) {
  const MapImage& map = image_->maps[index];
  std::int64_t file = -1;
  if (map.file != 0) {
    std::int64_t& opened = files[map.file - 1];
    const bool for_writing = std::any_of(image_->maps.begin(), image_->maps.end(), [&](const MapImage& other) {
      return other.file == map.file && other.shared && other.has("mw");
    });
    if (opened < 0) {
      PERDURE_TRY(opened, open(image_->files[map.file - 1], for_writing));
    }
    file = opened;
  } else if (map.object != 0) {
    if (map.object >= objects.size() || objects[map.object] < 0) PERDURE_CHECK(make_object(map.object, objects));
    file = objects[map.object];
  }
  constexpr std::uint64_t kDroppable = 8;  // MAP_DROPPABLE (Linux 6.11)
  std::uint64_t flags = MAP_FIXED_NOREPLACE;
  flags |= map.has("dp") ? kDroppable : static_cast<std::uint64_t>(map.shared ? MAP_SHARED : MAP_PRIVATE);
  if (file < 0) flags |= MAP_ANONYMOUS;
  if (map.has("gd")) flags |= MAP_GROWSDOWN;
  if (map.has("nr")) flags |= MAP_NORESERVE;
  const std::uint64_t rights = map.protection | (has_pages(map) ? PROT_READ | PROT_WRITE : 0U);
  const std::string what = "map memory of " + (map.file != 0 ? "'" + image_->files[map.file - 1].path + "' in" : "");
  PERDURE_TRY(
      const auto mapped,
      ask({SYS_mmap, map.begin, map.bytes(), rights, flags, static_cast<std::uint64_t>(file), map.offset}, what));
  if (static_cast<std::uint64_t>(mapped) != map.begin)
    return base::fail(PERDURE_UNSUPPORTED, process_text(process_), "the kernel maps memory elsewhere than it is told");
  return advise(map);
}

}  // namespace perdure::process

#pragma once
// Makes a process from an image, step by step. It runs none of its own instructions before the last step. If the maker
// ends before, for any reason, the kernel kills the process. (docs/adr/0059)
#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "os/file.hpp"
#include "process/image.hpp"
#include "process/name_space.hpp"
#include "process/operations.hpp"
#include "process/read_state.hpp"
#include "process/state_calls.hpp"
#include "process/stops.hpp"

namespace perdure::process {

/// Finds an address, at least `least`, where `bytes` are free beside all `taken` ranges (in any order). It is
/// page-aligned; 0 means that there is none. Pure.
std::uint64_t find_gap(std::vector<std::pair<std::uint64_t, std::uint64_t>> taken, std::uint64_t least,
                       std::uint64_t bytes);

/// Explains why a process with the number of `image` cannot be made.
base::Error cannot_begin(const ProcessImage& image, int error);

/// Decides in which name space a new process and its threads have their old numbers.
enum class Numbering {
  everybody,
  itself_if_needed,  ///< in a name space of its own, if nobody may choose numbers here
  itself             ///< always in a name space of its own
};

/// One thread makes all calls; the kernel knows it as the tracer. The order is: begin(), make_memory(), pages
/// (PageWriter), finish(), release().
class NewProcess {
 public:
  /// Makes a process with its old number that has carried out `operations` and stands still. PERDURE_EXISTS: the number
  /// is taken. PERDURE_PERMISSION: the system does not let us choose numbers.
  static base::Result<NewProcess> begin(const ProcessImage& image, const Operations& operations,
                                        Numbering numbering = Numbering::everybody);
  /// Makes a child of `parent`, which has not carried out anything yet. `call` makes it with its old number. The child
  /// stands still, and is a copy of its parent.
  static base::Result<NewProcess> begin_child(NewProcess& parent, const ProcessImage& image, const SystemCall& call);
  NewProcess(NewProcess&& other) noexcept;
  NewProcess& operator=(NewProcess&&) = delete;
  /// Kills the process, unless it was released.
  ~NewProcess();

  /// Its number in our name space.
  pid_t process() const { return process_; }
  /// The child of ours that ends when the process does, with its status.
  pid_t child() const { return space_ ? space_->first() : process_; }
  /// Carries out operations while the process is still a copy of this one.
  base::Status perform(const Operations& operations);
  /// Ends the process with the status that its parent gets from wait(). `memory` has the same address here and in the
  /// copy: its name in kNameOfEnded bytes, then 32 zeros.
  base::Status end_with(std::int32_t status, std::uint64_t memory);
  static constexpr std::uint64_t kNameOfEnded = 16;
  /// Maps the index of a shared object to a descriptor that the process has. make_memory() closes it.
  using GivenObjects = std::map<std::uint32_t, std::int64_t>;
  /// Makes its mappings. The process has no other memory then, except what these steps need.
  base::Status make_memory(const GivenObjects& given = {});
  /// Says whether its memory may be huge pages from now on. At the end, the setting of its image applies.
  base::Status allow_huge_pages(bool allowed);
  /// Call it after make_memory(), for follow_missing() (page_faults.hpp). PERDURE_UNSUPPORTED: the kernel cannot or may
  /// not do it for us. PERDURE_PERMISSION: the kernel permits it only to a process that may trace everything.
  base::Result<os::Fd> take_faults();
  /// Sets memory policies and rights, threads, signals, timers, limits and registers.
  base::Status finish();
  /// Lets it continue where it was captured.
  base::Status release();
  /// For people: memory policies that this kernel does not take, and other differences.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  NewProcess(const ProcessImage& image, pid_t process) : image_(&image), process_(process) {}
  base::Status stop_behind(const Operations& operations, const void* shared);
  /// Translates a number of the image to our name space.
  pid_t here(std::int32_t number) const;
  base::Result<pid_t> newest_thread() const;
  base::Result<std::int64_t> ask(pid_t thread, const SystemCall& call, const std::string& what);
  base::Result<std::int64_t> ask(const SystemCall& call, const std::string& what) { return ask(process_, call, what); }
  base::Result<std::uint64_t> put(base::ConstByteSpan bytes, std::uint64_t offset = 0);
  base::Status take_foothold();
  base::Status forget_thread_areas();
  base::Status take_memory_away();
  base::Status move_kernels_pages();
  base::Status lead_from_old_code(base::ConstByteSpan code, std::uint64_t code_begin);
  base::Status map(std::size_t index, std::vector<std::int64_t>& files, std::vector<std::int64_t>& objects);
  base::Result<std::int64_t> open(const FileImage& file, bool for_writing);
  base::Status make_object(std::uint32_t object, std::vector<std::int64_t>& objects);
  bool has_pages(const MapImage& map) const;
  base::Status advise(const MapImage& map);
  base::Status set_policies();
  base::Status set_rights();
  base::Status set_layout();
  base::Status make_threads();
  base::Status set_thread(const ThreadImage& thread);
  base::Status set_schedule(const ThreadImage& thread);
  AskedThread asked(pid_t thread);
  base::Status carry_out_calls(pid_t thread, const std::vector<StateCall>& calls);
  base::Status set_state();
  base::Status set_state(const ThreadImage& thread);
  base::Status set_last_state();
  base::Status set_memory_policy(const ThreadImage& thread);
  base::Status queue_signals(pid_t thread, const std::vector<std::vector<std::byte>>& signals, bool of_thread);
  base::Status set_process();
  base::Status make_timer(const PosixTimer& timer);
  base::Status make_timers();
  base::Status give_up_bounding(const Privileges& has);
  base::Status give_up_capabilities(pid_t thread, const Privileges& has);
  base::Status leave_foothold();
  base::Status settle(const ThreadImage& thread);

  const ProcessImage* image_;
  pid_t process_;
  Registers registers_{};          // of the child when it first stood still
  std::uint64_t instruction_ = 0;  // address of a system call instruction
  std::uint64_t foothold_ = 0;     // the only memory in it that is ours
  std::vector<pid_t> made_threads_;
  std::optional<NameSpace> space_;
  std::map<std::int32_t, pid_t> numbers_;  // numbers in the image to ours, if they differ
  std::vector<std::string> notes_;
};

}  // namespace perdure::process

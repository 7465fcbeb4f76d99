#pragma once
// A process in the making: what an image says, step by step. It runs none of its own instructions before the last one,
// and when the maker ends before, however it does, the kernel kills it. (docs/adr/0059)
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

/// Where `bytes` are free beside all `taken` ranges, which are in any order: whole pages, from `least` on; 0: nowhere.
/// Pure.
std::uint64_t find_gap(std::vector<std::pair<std::uint64_t, std::uint64_t>> taken, std::uint64_t least,
                       std::uint64_t bytes);

/// Why a process with the number of `image` cannot be made.
base::Error cannot_begin(const ProcessImage& image, int error);

/// Who knows a new process and its threads by the numbers that they had.
enum class Numbering {
  everybody,
  itself_if_needed,  ///< those of a name space of its own, if nobody may choose others
  itself             ///< in any case
};

/// All calls by one thread, which the kernel knows as the tracer. In this order: begin(), make_memory(), pages
/// (PageWriter), finish(), release().
class NewProcess {
 public:
  /// With the number that it had; it has carried out `operations`, and stands still. PERDURE_EXISTS: the number is
  /// taken; PERDURE_PERMISSION: the system does not let us choose numbers.
  static base::Result<NewProcess> begin(const ProcessImage& image, const Operations& operations,
                                        Numbering numbering = Numbering::everybody);
  /// A child of `parent`, which has carried out nothing yet; `call` makes it, with the number that it had. It stands
  /// still, and is a copy of its parent.
  static base::Result<NewProcess> begin_child(NewProcess& parent, const ProcessImage& image, const SystemCall& call);
  NewProcess(NewProcess&& other) noexcept;
  NewProcess& operator=(NewProcess&&) = delete;
  /// Kills it, unless it was released.
  ~NewProcess();

  /// Its number for us.
  pid_t process() const { return process_; }
  /// The child of ours that ends when it does, and with its status.
  pid_t child() const { return space_ ? space_->first() : process_; }
  /// While it is a copy of this process.
  base::Status perform(const Operations& operations);
  /// It ends, with the status that its parent is to be told (wait). `memory`, in this process and in the copy, has its
  /// name in kNameOfEnded bytes, and 32 zeros.
  base::Status end_with(std::int32_t status, std::uint64_t memory);
  static constexpr std::uint64_t kNameOfEnded = 16;
  /// By number of an object: a descriptor that it has, which is taken from it when its memory is made.
  using GivenObjects = std::map<std::uint32_t, std::int64_t>;
  /// Its mappings, and nothing else but memory that these steps need.
  base::Status make_memory(const GivenObjects& given = {});
  /// Whether its memory may be huge pages from now on; its image says it at the end.
  base::Status allow_huge_pages(bool allowed);
  /// After make_memory(), for follow_missing() (page_faults.hpp). PERDURE_UNSUPPORTED: the kernel cannot, or does not
  /// let us; PERDURE_PERMISSION: it lets only who may trace everything.
  base::Result<os::Fd> take_faults();
  /// Policies and rights of its mappings, threads, signals, timers, limits, registers.
  base::Status finish();
  /// It goes on where it was captured.
  base::Status release();
  /// For people, policies of memory that this kernel does not take, and what is otherwise here.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  NewProcess(const ProcessImage& image, pid_t process) : image_(&image), process_(process) {}
  base::Status stop_behind(const Operations& operations, const void* shared);
  /// For us, of one that the image knows.
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
  Registers registers_{};          // of the child when it stood still
  std::uint64_t instruction_ = 0;  // carries out system calls
  std::uint64_t foothold_ = 0;     // the only memory that is ours
  std::vector<pid_t> made_threads_;
  std::optional<NameSpace> space_;
  std::map<std::int32_t, pid_t> numbers_;  // where they are others for us
  std::vector<std::string> notes_;
};

}  // namespace perdure::process

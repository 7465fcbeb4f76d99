#pragma once
// The record at the beginning of an image has everything about a captured process except its pages. Data only. A record
// may come from anybody, so the decoder rejects every invalid value.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/fields.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "process/architecture.hpp"
#include "process/clocks.hpp"
#include "process/descriptors.hpp"
#include "process/kernel_state.hpp"
#include "process/machine.hpp"
#include "process/posix_timers.hpp"
#include "process/privileges.hpp"
#include "process/registers.hpp"

namespace perdure::process {

inline constexpr std::uint64_t kPageBytes = 4096;
/// Changes and zeros are detected in aligned blocks of this size.
inline constexpr std::uint64_t kBlockBytes = 64 * base::KiB;
inline constexpr std::uint32_t kImageFormat = 6;  ///< incremented with every change of the structures below

/// The machine and system of the capture.
struct SystemImage {
  std::string architecture;               ///< as uname says
  std::string release;                    ///< of the kernel
  std::vector<std::string> instructions;  ///< instruction sets of the processor, by their names in /proc/cpuinfo
  std::uint64_t processor_state = 0;      ///< parts of the extended registers that the system saves for a thread (XCR0)
  std::array<std::uint64_t, 2> vdso{};    ///< hash of the vdso pages
  std::uint64_t vdso_begin = 0, vdso_end = 0;  ///< including its data pages (vvar)
  std::vector<std::byte> vdso_code;            ///< the code at their end
  std::uint64_t vdso_code_begin() const { return vdso_end - vdso_code.size(); }
  ClockImage clocks;  ///< clocks that count from boot, as the process saw them
  PERDURE_FIELDS(architecture, release, instructions, processor_state, vdso, vdso_begin, vdso_end, vdso_code, clocks)
  std::string wrong() const;
};

/// Addresses of the parts of a process, as the kernel takes them (prctl, PR_SET_MM_MAP).
struct MemoryLayout {
  std::uint64_t start_code = 0, end_code = 0, start_data = 0, end_data = 0, start_brk = 0, brk = 0, start_stack = 0,
                arg_start = 0, arg_end = 0, env_start = 0, env_end = 0;
  std::vector<std::byte> auxiliary;  ///< the auxiliary vector from its start
  PERDURE_FIELDS(start_code, end_code, start_data, end_data, start_brk, brk, start_stack, arg_start, arg_end, env_start,
                 env_end, auxiliary)
  std::string wrong() const;
};

/// Identifies a file, to detect that it was replaced or changed.
struct FileImage {
  std::string path;
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified_ns = 0;
  friend bool operator==(const FileImage&, const FileImage&) = default;
  PERDURE_FIELDS(path, device, inode, bytes, modified_ns)
  std::string wrong() const;
};

/// Returns whether the kernel marks this program or directory as deleted.
inline bool was_deleted(std::string_view path) { return path.ends_with(" (deleted)"); }

struct MapImage {
  std::uint64_t begin = 0, end = 0;  ///< addresses, whole pages
  std::uint32_t protection = 0;      ///< PROT_*
  bool shared = false;
  std::uint64_t offset = 0;  ///< in the file
  std::uint32_t file = 0;    ///< index in ProcessImage::files, from 1; 0: anonymous memory
  std::uint32_t object = 0;  ///< index in ProcessImage::objects, from 1: mappings with the same index share memory
  std::string name;          ///< the process's name for it (prctl, PR_SET_VMA), or the kernel's: [heap], [stack]
  std::vector<std::string> flags;        ///< two letters each, as in smaps
  std::string policy;                    ///< memory policy, as in numa_maps: "default", "bind:0", "interleave:0-1"
  std::optional<base::Hash128> content;  ///< hash of the mapped part of a writable shared file (shared_contents.hpp)
  std::uint64_t bytes() const { return end - begin; }
  bool has(std::string_view flag) const { return std::find(flags.begin(), flags.end(), flag) != flags.end(); }
  PERDURE_FIELDS(begin, end, protection, shared, offset, file, object, name, flags, policy, content)
  std::string wrong() const;
};

/// Consecutive pages.
struct PageRun {
  std::uint64_t begin = 0;  ///< address
  std::uint64_t pages = 0;
  std::uint64_t end() const { return begin + pages * kPageBytes; }
  friend bool operator==(const PageRun&, const PageRun&) = default;
  PERDURE_FIELDS(begin, pages)
};

/// Splits the run at block boundaries, and adds the parts.
void add_blocks(const PageRun& run, std::vector<PageRun>& blocks);

/// Pages on one NUMA node, ascending. Their bytes are one entry of the capture.
struct NodePages {
  std::uint32_t node = 0;
  std::vector<PageRun> runs;
  std::uint64_t pages() const;
  friend bool operator==(const NodePages&, const NodePages&) = default;
  PERDURE_FIELDS(node, runs)
};

/// Consecutive pages that are also consecutive in another image.
struct BorrowedRun {
  std::uint64_t begin = 0;  ///< address
  std::uint64_t pages = 0;
  std::uint64_t offset = 0;  ///< in the capture of the other image
  PageRun run() const { return {begin, pages}; }
  friend bool operator==(const BorrowedRun&, const BorrowedRun&) = default;
  PERDURE_FIELDS(begin, pages, offset)
};

/// Pages on one node that another image stores. Nothing else of that image is needed.
struct BorrowedPages {
  std::uint32_t lender = 0;  ///< index in Increment::lenders, from 0
  std::uint32_t node = 0;    ///< the node that they were on at this capture
  std::vector<BorrowedRun> runs;
  std::uint64_t pages() const;
  PERDURE_FIELDS(lender, node, runs)
};

/// An attempt at an earlier version of the same name.
struct Lender {
  std::uint64_t version = 0, created_ns = 0, nonce = 0;
  friend bool operator==(const Lender&, const Lender&) = default;
  PERDURE_FIELDS(version, created_ns, nonce)
};
inline constexpr std::size_t kMostLenders = 16;

/// Says which pages earlier images store, and lets a later image find unchanged pages. (docs/adr/0041)
struct Increment {
  std::vector<Lender> lenders;
  std::vector<BorrowedPages> borrowed;
  std::vector<std::byte> key;    ///< of the marks; empty if there are none
  std::vector<std::byte> marks;  ///< kMarkBytes for each block of all pages (blocks_of_pages)
  PERDURE_FIELDS(lenders, borrowed, key, marks)
  std::string wrong() const;
};
inline constexpr std::size_t kMarkBytes = 16, kMarkKeyBytes = 32;

/// A restartable sequence area: the kernel writes the thread's current processor there.
struct RseqImage {
  std::uint64_t address = 0;  ///< 0: not registered
  std::uint32_t bytes = 0, signature = 0;
  PERDURE_FIELDS(address, bytes, signature)
};

struct ThreadImage {
  std::int32_t number = 0;
  std::string name;
  std::vector<std::byte> registers;                     ///< as PTRACE_GETREGSET returns them (NT_PRSTATUS)
  std::vector<std::byte> extended_registers;            ///< all other register sets (NT_X86_XSTATE)
  std::uint64_t blocked_signals = 0;                    ///< bit n - 1 for signal n
  std::vector<std::vector<std::byte>> pending_signals;  ///< a siginfo each, in order
  std::array<std::uint64_t, 3> alternate_stack{};       ///< address, flags, bytes
  std::uint64_t robust_list = 0, robust_list_bytes = 0;
  std::uint64_t clear_number = 0;  ///< address where the kernel writes 0 when the thread ends
  RseqImage rseq;
  std::int32_t policy = 0, priority = 0, nice = 0;  ///< of the scheduler
  std::uint64_t timer_slack_ns = 0;
  std::vector<std::uint32_t> cpus;  ///< processors that it may run on, ascending
  std::int32_t memory_policy = 0;   ///< of set_mempolicy, with its flags
  std::vector<std::uint32_t> memory_nodes;
  std::int32_t death_signal = 0;  ///< the signal that it gets when its parent ends
  ThreadState state;
  PERDURE_FIELDS(number, name, registers, extended_registers, blocked_signals, pending_signals, alternate_stack,
                 robust_list, robust_list_bytes, clear_number, rseq, policy, priority, nice, timer_slack_ns, cpus,
                 memory_policy, memory_nodes, death_signal, state)
  std::string wrong() const;
};

/// Returns zeros if the image has no registers yet.
Registers registers_of(const ThreadImage& thread);

/// The action for a signal, as rt_sigaction takes it.
struct SignalAction {
  std::uint32_t signal = 0;
  std::array<std::uint64_t, 4> action{};  ///< handler, flags, restorer, mask
  PERDURE_FIELDS(signal, action)
};

struct Limit {
  std::uint32_t resource = 0;
  std::uint64_t now = 0, most = 0;
  PERDURE_FIELDS(resource, now, most)
};

/// A timer of setitimer.
struct IntervalTimer {
  std::uint32_t which = 0;
  std::array<std::int64_t, 4> value{};  ///< interval in s and us, time left in s and us
  PERDURE_FIELDS(which, value)
};

/// Anonymous shared memory.
struct SharedMemory {
  std::int32_t descriptor = -1;  ///< a descriptor of the process for this memory, which then has its content; below 0:
                                 ///< none
  PERDURE_FIELDS(descriptor)
};

struct ProcessImage {
  std::uint32_t format = kImageFormat;
  SystemImage system;
  MachineImage machine;     ///< the part of the machine that the process could use
  std::int32_t number = 0;  ///< of the process
  std::uint32_t user = 0, group = 0;
  bool leads_session = false;
  std::vector<std::string> arguments;  ///< for people
  std::string directory;               ///< working directory
  std::uint32_t file_mask = 0;         ///< umask
  std::uint32_t personality = 0;
  bool dumpable = true, reaps_orphans = false, no_huge_pages = false, no_new_privileges = false;
  FileImage program;
  MemoryLayout layout;
  std::vector<FileImage> files;  ///< mapped files
  std::vector<SharedMemory> objects;
  std::vector<MapImage> maps;    ///< ascending
  std::vector<NodePages> pages;  ///< each node once, in the order of storage
  std::vector<SignalAction> actions;
  std::vector<std::vector<std::byte>> pending_signals;  ///< of the process, a siginfo each
  std::vector<Limit> limits;
  std::vector<IntervalTimer> timers;
  std::vector<PosixTimer> posix_timers;
  OpenFiles open_files;
  std::vector<ThreadImage> threads;  ///< the main thread first
  Privileges privileges;
  std::vector<PageRun> guards;  ///< guard regions (MADV_GUARD_INSTALL), ascending
  Increment increment;          ///< borrowed pages, and marks to find changes
  ProcessState state;
  std::uint64_t page_bytes() const;      ///< of `pages`, which this image stores itself
  std::uint64_t borrowed_bytes() const;  ///< of borrowed pages
  /// Returns its own pages, then the borrowed ones.
  std::vector<NodePages> all_pages() const;
  /// Returns the mapping that contains this address, or nothing.
  const MapImage* map_of(std::uint64_t address) const;
  /// Returns how much of shared memory `object`, counted from 1, is mapped.
  std::uint64_t object_bytes(std::uint32_t object) const;
  PERDURE_FIELDS(format, system, machine, number, user, group, leads_session, arguments, directory, file_mask,
                 personality, dumpable, reaps_orphans, no_huge_pages, no_new_privileges, program, layout, files,
                 objects, maps, pages, actions, pending_signals, limits, timers, posix_timers, open_files, threads,
                 privileges, guards, increment, state)
  std::string wrong() const;
};

/// PERDURE_UNSUPPORTED: the record begins with another format number.
base::Status check_format(base::ConstByteSpan bytes, const std::string& object);
std::vector<std::byte> encode_image(const ProcessImage& image);
/// PERDURE_UNSUPPORTED: it has another format. PERDURE_CORRUPT: it is no record, or an invalid one.
base::Result<ProcessImage> decode_image(base::ConstByteSpan bytes, const std::string& object);

}  // namespace perdure::process

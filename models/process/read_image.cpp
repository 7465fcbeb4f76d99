#include "process/read_image.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include "base/hash.hpp"
#include "os/system.hpp"
#include "process/fields_of_text.hpp"
#include "process/map_holders.hpp"
#include "process/pages.hpp"
#include "process/placement.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"
#include "process/read_kernel_state.hpp"
#include "process/read_thread.hpp"
#include "process/shared_contents.hpp"
#include "process/stops.hpp"

namespace perdure::process {
namespace {

std::map<std::uint64_t, std::vector<std::string>> smaps_flags(pid_t process) {
  auto all = parse_smaps_flags(proc_text("/proc/" + std::to_string(process) + "/smaps"));
  for (auto& [begin, flags] : all) std::erase(flags, "uw");  // our own tracking, for a while
  return all;
}

/// Reads one process.
class Reading {
 public:
  Reading(Tracee& tracee, ReadImage& read)
      : tracee_(tracee), image_(read.image), notes_(read.notes), thread_(tracee.threads().front()) {}
  base::Status read(const DescriptorChoices& choices, const KnownOfMemory& known) {
    PERDURE_CHECK(read_maps(known.flags));
    PERDURE_CHECK(read_files(choices));
    PERDURE_CHECK(read_pages(known));
    for (auto& note : add_shared_contents(image_, choices.hash_files ? ~std::uint64_t{0} : kMostSharedBytes))
      notes_.push_back(std::move(note));
    for (const pid_t thread : tracee_.threads()) {
      PERDURE_TRY(auto one, read_thread(tracee_, thread, maps_));
      image_.threads.push_back(std::move(one));
    }
    if (known.places) read_machine();
    PERDURE_TRY(auto scratch, Scratch::of(tracee_, thread_, maps_));
    PERDURE_CHECK(read_policies(scratch));
    PERDURE_CHECK(read_layout(scratch));
    PERDURE_CHECK(read_signals(scratch));
    PERDURE_CHECK(read_what_is_due(scratch));
    PERDURE_CHECK(read_switches(scratch));
    PERDURE_CHECK(read_states());
    PERDURE_CHECK(read_limits(scratch));
    return read_system();
  }

 private:
  std::string text(const char* file) const { return proc_text("/proc/" + std::to_string(thread_) + "/" + file); }
  std::string object() const { return "process " + std::to_string(tracee_.process()); }
  base::Status refused(const char* what, std::int64_t answer) const {
    return base::fail(base::errno_error(static_cast<int>(-answer), what, object()));
  }
  std::string link(const std::string& file) const;
  FileImage describe(const std::string& file, const std::string& name) const;
  base::Status read_maps(const SeenFlags* seen);
  base::Status take(const MemoryMap& map, MapImage& taken);
  base::Status read_files(const DescriptorChoices& choices);
  base::Status read_pages(const KnownOfMemory& known);
  void read_machine();
  base::Status read_policies(Scratch& scratch);
  base::Status read_layout(Scratch& scratch);
  base::Status read_signals(Scratch& scratch);
  base::Status read_pending();
  base::Status read_what_is_due(Scratch& scratch);
  base::Status read_clocks(Scratch& scratch);
  base::Status read_switches(Scratch& scratch);
  base::Status read_states();
  base::Status read_limits(Scratch& scratch);
  base::Status read_system();

  Tracee& tracee_;
  ProcessImage& image_;
  std::vector<std::string>& notes_;
  pid_t thread_;  // a living one
  std::vector<MemoryMap> maps_;
  SoleNodes nodes_;                                                                   // of mappings
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> files_, objects_;  // by device and inode
};

std::string Reading::link(const std::string& file) const {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(thread_) + "/" + file, error).string();
}

FileImage Reading::describe(const std::string& file, const std::string& name) const {
  FileImage image;
  image.path = name;
  struct stat status {};
  if (::stat(("/proc/" + std::to_string(thread_) + "/" + file).c_str(), &status) != 0 &&
      ::stat(name.c_str(), &status) != 0)
    return image;
  image.device = status.st_dev;
  image.inode = status.st_ino;
  image.bytes = static_cast<std::uint64_t>(status.st_size);
  image.modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  return image;
}

bool kernels_own(const MemoryMap& map) {
  return map.name == "[vdso]" || map.name == "[vvar]" || map.name == "[vvar_vclock]" || map.name == "[vsyscall]";
}

/// It has an inode because it is shared or was a file, but no name by which it could be opened again.
bool is_nameless(const MemoryMap& map) {
  return map.name.ends_with(" (deleted)") || map.name.starts_with("/dev/zero") || map.name.starts_with("/memfd:") ||
         map.name.starts_with("/SYSV") || map.name.starts_with("/anon_hugepage") ||
         map.name.starts_with(kNamedSharedMemory);
}

base::Status Reading::take(const MemoryMap& map, MapImage& taken) {
  taken.begin = map.begin;
  taken.end = map.end;
  taken.protection = static_cast<std::uint32_t>((map.readable ? PROT_READ : 0) | (map.writable ? PROT_WRITE : 0) |
                                                (map.executable ? PROT_EXEC : 0));
  taken.shared = map.shared;
  if (!map.is_file() || (is_nameless(map) && !map.shared)) {  // then its content is private
    taken.name = map.is_file() ? "" : map.name;
    return {};
  }
  taken.offset = map.offset;
  const std::pair key{std::uint64_t{map.device_major} << 32 | map.device_minor, map.inode};
  if (is_nameless(map)) {
    taken.name = map.name;
    taken.object = objects_.try_emplace(key, objects_.size() + 1).first->second;
    image_.objects.resize(objects_.size());
    return {};
  }
  const auto [known, is_new] = files_.try_emplace(key, image_.files.size() + 1);
  taken.file = known->second;
  if (is_new) {
    char range[64];
    std::snprintf(range, sizeof range, "map_files/%llx-%llx", static_cast<unsigned long long>(map.begin),
                  static_cast<unsigned long long>(map.end));
    image_.files.push_back(describe(range, map.name));
  }
  return {};
}

base::Status Reading::read_maps(const SeenFlags* seen) {
  const std::string listed = text("maps");
  PERDURE_TRY(maps_, parse_maps(listed, object()));
  const auto flags = seen != nullptr && seen->maps == listed ? seen->flags : smaps_flags(thread_);
  const std::string numa = count_nodes() > 1 ? text("numa_maps") : "";
  const auto policies = parse_policies(numa);
  nodes_ = parse_sole_nodes(numa);
  for (const MemoryMap& map : maps_) {
    if (map.name == "[vsyscall]") continue;
    if (kernels_own(map)) {
      auto& system = image_.system;
      system.vdso_begin = system.vdso_begin == 0 ? map.begin : system.vdso_begin;
      system.vdso_end = map.end;
      continue;
    }
    MapImage& taken = image_.maps.emplace_back();
    PERDURE_CHECK(take(map, taken));
    if (const auto found = flags.find(map.begin); found != flags.end()) taken.flags = found->second;
    if (taken.has("um"))
      return base::fail(PERDURE_BUSY, object(), "pages of its memory are still to come: it was brought back lazily",
                        "capture it when all of them are there", true);
    if (const auto found = policies.find(map.begin); found != policies.end() && found->second != "default")
      taken.policy = found->second;
  }
  return {};
}

// Memory that also has a descriptor is restored with that.
base::Status Reading::read_files(const DescriptorChoices& choices) {
  PERDURE_TRY(auto read, read_descriptors(tracee_.process(), choices));
  image_.open_files = std::move(read.files);
  notes_.insert(notes_.end(), read.notes.begin(), read.notes.end());
  for (const Descriptor& descriptor : image_.open_files.descriptors) {
    const auto& what = image_.open_files.files[descriptor.file].what;
    if (!std::holds_alternative<MemoryFile>(what) && !std::holds_alternative<UnlinkedFile>(what)) continue;
    struct stat status {};
    const std::string path = "/proc/" + std::to_string(thread_) + "/fd/" + std::to_string(descriptor.number);
    if (::stat(path.c_str(), &status) != 0) continue;
    const std::pair key{std::uint64_t{major(status.st_dev)} << 32 | minor(status.st_dev), status.st_ino};
    const bool writes = (image_.open_files.files[descriptor.file].flags & O_ACCMODE) == O_RDWR;
    if (const auto found = objects_.find(key); found != objects_.end() && writes)
      image_.objects[found->second - 1].descriptor = descriptor.number;
  }
  return {};
}

base::Status Reading::read_pages(const KnownOfMemory& known) {
  const FollowedPages* followed = known.pages;
  std::vector<PageRun> runs;
  for (std::size_t at = 0, image = 0; at < maps_.size(); ++at) {
    const MemoryMap& map = maps_[at];
    if (kernels_own(map)) continue;
    const MapImage& taken = image_.maps[image++];
    if (map.shared && taken.object == 0) continue;  // its pages are in the file
    // The kernel may drop such memory at any time. The C library keeps states of random numbers there, which must not
    // be used twice.
    if (taken.has("dp")) continue;
    if (map.shared && image_.objects[taken.object - 1].descriptor >= 0) continue;
    if (!map.shared && is_nameless(map)) {  // it may show the file, which a resume cannot map again
      runs.push_back({map.begin, map.bytes() / kPageBytes});
      continue;
    }
    if (!map.shared && followed != nullptr && followed->looked_at(map.begin, map.end)) {
      const auto present = followed->present_in(map.begin, map.end);
      runs.insert(runs.end(), present.begin(), present.end());
      for (const PageRun& guard : followed->guards_in(map.begin, map.end)) image_.guards.push_back(guard);
      continue;
    }
    auto pages = map.shared ? shared_pages(thread_, map) : written_pages(thread_, map, image_.guards);
    if (!pages) return base::fail(pages.error());
    runs.insert(runs.end(), pages->begin(), pages->end());
  }
  runs = join_near_runs(std::move(runs), maps_, known.most_runs);
  PERDURE_TRY(image_.pages, pages_by_node(tracee_.process(), runs, known.places ? count_nodes() : 1, nodes_));
  return {};
}

// Records all processors and nodes in use, whether or not we may use them.
void Reading::read_machine() {
  std::vector<unsigned long> cpus, nodes;
  const auto add = [](std::vector<unsigned long>& words, std::uint32_t number) {
    words.resize(std::max<std::size_t>(words.size(), number / 64 + 1));
    words[number / 64] |= 1UL << (number % 64);
  };
  for (const auto& thread : image_.threads)
    for (const auto cpu : thread.cpus) add(cpus, cpu);
  for (const auto& node : image_.pages) add(nodes, node.node);
  image_.machine = machine_here_with(os::CpuSet::from_words(cpus), os::CpuSet::from_words(nodes));
  put_orphans_last(image_);
}

// For a mapping without a policy, numa_maps shows the thread's.
base::Status Reading::read_policies(Scratch& scratch) {
  if (image_.threads.front().memory_policy == 0) return {};
  constexpr std::uint64_t kOfAddress = 2;  // MPOL_F_ADDR
  for (MapImage& map : image_.maps) {
    if (map.policy.empty()) continue;
    PERDURE_TRY(const auto asked, scratch.ask({SYS_get_mempolicy, scratch.address(), 0, 0, map.begin, kOfAddress}));
    if (asked < 0) return refused("ask for policies of its memory", asked);
    PERDURE_TRY(const auto mode, scratch.value<std::int32_t>());
    if (mode == 0) map.policy.clear();
  }
  return {};
}

base::Status Reading::read_layout(Scratch& scratch) {
  auto& layout = image_.layout;
  layout = layout_of(StatNumbers(text("stat")));
  PERDURE_TRY(const auto brk, scratch.ask({SYS_brk, 0}));
  layout.brk = static_cast<std::uint64_t>(brk);
  const std::string auxiliary = text("auxv");
  const auto bytes = base::as_bytes(auxiliary);
  layout.auxiliary.assign(bytes.begin(), bytes.end());
  image_.program = describe("exe", link("exe"));
  image_.directory = link("cwd");
  image_.arguments = split_at_zeros(text("cmdline"));
  return {};
}

// Asks only about signals with a changed action.
base::Status Reading::read_signals(Scratch& scratch) {
  const std::string status = text("status");
  const std::uint64_t changed = first_number(status, "SigCgt", 16) | first_number(status, "SigIgn", 16);
  for (std::uint32_t signal = 1; signal <= 64; ++signal) {
    if ((changed >> (signal - 1) & 1) == 0) continue;
    PERDURE_TRY(const auto asked, scratch.ask({SYS_rt_sigaction, signal, 0, scratch.address(), 8}));
    if (asked < 0) return refused("ask for its signal handlers", asked);
    SignalAction& action = image_.actions.emplace_back();
    action.signal = signal;
    PERDURE_TRY(action.action, scratch.value<decltype(action.action)>());
  }
  return {};
}

base::Status Reading::read_pending() {
  PERDURE_TRY(image_.pending_signals, read_shared_signals(thread_));
  for (ThreadImage& thread : image_.threads) {
    PERDURE_TRY(thread.pending_signals, read_own_signals(thread.number));
  }
  return {};
}

base::Status Reading::read_what_is_due(Scratch& scratch) {
  const auto pending = [this]() -> base::Result<std::vector<std::vector<std::byte>>> {
    PERDURE_CHECK(read_pending());
    std::vector<std::vector<std::byte>> all = image_.pending_signals;
    for (const ThreadImage& thread : image_.threads)
      all.insert(all.end(), thread.pending_signals.begin(), thread.pending_signals.end());
    return all;
  };
  return read_between_signals(pending, [&]() -> base::Status {
    image_.timers.clear();
    return read_clocks(scratch);
  });
}

base::Status Reading::read_clocks(Scratch& scratch) {
  for (std::uint32_t which = 0; which < 3; ++which) {
    PERDURE_TRY(const auto asked, scratch.ask({SYS_getitimer, which, scratch.address()}));
    if (asked < 0) return refused("ask for its timers", asked);
    IntervalTimer timer{which};
    PERDURE_TRY(timer.value, scratch.value<decltype(timer.value)>());
    // It has expired and its signal is pending. The kernel rearms it when the signal is taken.
    if (timer.value[2] == 0 && timer.value[3] == 0) timer.value[2] = timer.value[0], timer.value[3] = timer.value[1];
    if (timer.value[2] != 0 || timer.value[3] != 0) image_.timers.push_back(timer);
  }
  PERDURE_TRY(image_.posix_timers, read_timers(text("timers"), scratch, object()));
  return {};
}

base::Status Reading::read_switches(Scratch& scratch) {
  const std::string status = text("status");
  image_.user = static_cast<std::uint32_t>(first_number(status, "Uid"));
  image_.group = static_cast<std::uint32_t>(first_number(status, "Gid"));
  image_.privileges = parse_privileges(status);
  image_.file_mask = static_cast<std::uint32_t>(first_number(status, "Umask", 8));
  image_.no_new_privileges = first_number(status, "NoNewPrivs") != 0;
  image_.personality = static_cast<std::uint32_t>(std::strtoul(text("personality").c_str(), nullptr, 16));
  const auto asked = [&](std::uint64_t what) -> base::Result<bool> {
    PERDURE_TRY(const auto answer, scratch.ask({SYS_prctl, what, 0, 0, 0, 0}));
    return answer > 0;
  };
  PERDURE_TRY(const auto dumpable, scratch.ask({SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0}));
  image_.dumpable = dumpable == 1;  // 2 can be set only by the kernel, and like 0 keeps other users out
  PERDURE_TRY(image_.no_huge_pages, asked(PR_GET_THP_DISABLE));
  PERDURE_TRY(const auto answer, scratch.ask({SYS_prctl, PR_GET_CHILD_SUBREAPER, scratch.address(), 0, 0, 0}));
  if (answer < 0) return refused("ask whether it reaps orphans", answer);
  PERDURE_TRY(const auto reaps, scratch.value<std::int32_t>());
  image_.reaps_orphans = reaps != 0;
  return {};
}

base::Status Reading::read_states() {
  PERDURE_TRY(const auto unkept, read_kernel_state(tracee_, maps_, image_));
  if (!unkept.told) notes_.emplace_back("whether Landlock confines it cannot be told: it would come back without");
  return process::refused(tracee_.process(), obstacles_of_state(unkept));
}

// Reading limits of another user's process needs CAP_SYS_RESOURCE. Without it, the process asks itself.
base::Status Reading::read_limits(Scratch& scratch) {
  for (std::uint32_t resource = 0; resource < RLIM_NLIMITS; ++resource) {
    rlimit limit{};
    if (::prlimit(tracee_.process(), static_cast<__rlimit_resource>(resource), nullptr, &limit) != 0) {
      PERDURE_TRY(const auto asked, scratch.ask({SYS_prlimit64, 0, resource, 0, scratch.address()}));
      if (asked < 0) return refused("ask for its limits", asked);
      PERDURE_TRY(limit, scratch.value<rlimit>());
    }
    image_.limits.push_back({resource, limit.rlim_cur, limit.rlim_max});
  }
  return {};
}

base::Status Reading::read_system() {
  utsname system{};
  if (::uname(&system) != 0) return refused("ask for the system", -errno);
  image_.number = tracee_.process();
  image_.state.stopped = tracee_.is_stopped();
  image_.system.architecture = system.machine;
  image_.system.release = system.release;
  image_.system.clocks = clocks_of(tracee_.process());
  image_.system.instructions = instruction_sets(proc_text("/proc/cpuinfo"));
  image_.leads_session = StatNumbers(text("stat")).value(6) == static_cast<std::uint64_t>(image_.number);
  image_.system.processor_state = kept_parts(image_.threads.front().extended_registers);
  for (const MemoryMap& map : maps_) {
    if (map.name != "[vdso]") continue;
    std::vector<std::byte> code(map.bytes());
    PERDURE_CHECK(read_memory(thread_, map.begin, code));
    const auto hash = base::hash128(code);
    image_.system.vdso = {hash.low, hash.high};
    image_.system.vdso_code = std::move(code);
  }
  return {};
}

base::Result<SeenFiles> look_once(pid_t process, const std::set<int>& left_out, const std::set<pid_t>& inside) {
  PERDURE_TRY(const auto facts, read_facts(process));
  PERDURE_TRY(const auto maps, read_maps(process));
  PERDURE_TRY(auto files, look_at_files(process));
  files.nameless = nameless_files_of(files, maps, inside);
  SeenFiles seen = files;
  settle(files, left_out);
  PERDURE_CHECK(refused(process, obstacles(facts, maps, files, inside)));
  return seen;
}

}  // namespace

base::Result<SeenFiles> look_for_obstacles(pid_t process, const std::set<int>& left_out,
                                           const std::set<pid_t>& inside) {
  (void)machine_here();  // read now, so that no process stands still for it
  for (int tries = 1;; ++tries) {
    auto seen = look_once(process, left_out, inside);
    if (seen || seen.error().code != PERDURE_UNSUPPORTED || tries == kLooks) return seen;
    os::sleep_ns(static_cast<std::uint64_t>(tries) * 1'000'000);
  }
}

SeenFlags look_at_flags(pid_t process) {
  return {proc_text("/proc/" + std::to_string(process) + "/maps"), smaps_flags(process)};
}

bool SeenFlags::contradicts(const SeenFlags& later) const {
  std::set<std::string_view> lines;
  each_line(maps, [&](std::string_view line) { return lines.insert(line), true; });
  bool differ = false;
  each_line(later.maps, [&](std::string_view line) {
    const auto map = lines.contains(line) ? parse_map(line) : std::nullopt;
    if (!map) return true;
    const auto before = flags.find(map->begin), now = later.flags.find(map->begin);
    differ = differ || (before != flags.end() && now != later.flags.end() && before->second != now->second);
    return true;
  });
  return differ;
}

base::Result<ReadImage> read_image(Tracee& tracee, const DescriptorChoices& choices, const KnownOfMemory& known) {
  // A process that is about to end may look like this too. Then none of its threads can be asked any more.
  if (tracee.threads().front() != tracee.process() && !get_registers(tracee.threads().front()))
    return base::fail(PERDURE_NOT_FOUND, process_text(tracee.process()), "it has ended");
  if (tracee.threads().front() != tracee.process())
    return base::fail(PERDURE_UNSUPPORTED, "process " + std::to_string(tracee.process()),
                      "its first thread has ended while others go on", "such a process cannot be made again yet");
  ReadImage read;
  PERDURE_CHECK(Reading(tracee, read).read(choices, known));
  const std::string wrong = read.image.wrong();
  if (!wrong.empty())
    return base::fail(PERDURE_UNSUPPORTED, "process " + std::to_string(tracee.process()),
                      "its image would be wrong: " + wrong);
  return read;
}

}  // namespace perdure::process

#include "process/machine_facts.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/hash.hpp"
#include "process/kernel_functions.hpp"
#include "process/memory_maps.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"
#include "process/remote_memory.hpp"
#include "process/stops.hpp"

namespace perdure::process {
namespace {

// A child shows which registers the system saves, through the same call as in a capture.
base::Result<std::uint64_t> kept_parts_here() {
  let_children_be_traced();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  if (child < 0) return base::fail(base::errno_error(errno, "fork", "this program"));
  const auto parts = [&]() -> base::Result<std::uint64_t> {
    if (trace(PTRACE_SEIZE, child, 0, PTRACE_O_EXITKILL) < 0 || trace(PTRACE_INTERRUPT, child, 0, 0) < 0 ||
        !wait_for_stop(child))
      return base::fail(trace_failed(child, "a child of this program cannot be traced").error());
    PERDURE_TRY(const auto extended, get_extended_registers(child));
    return kept_parts(extended);
  }();
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  return parts;
}

base::Status read_vdso(MachineFacts& facts) {
  PERDURE_TRY(const auto maps, parse_maps(proc_text("/proc/self/maps"), "this program"));
  for (const MemoryMap& map : maps) {
    if (map.name != "[vdso]" && !map.name.starts_with("[vvar")) continue;
    facts.vdso_bytes += map.bytes();
    if (map.name != "[vdso]") continue;
    std::vector<std::byte> code(map.bytes());
    PERDURE_CHECK(read_memory(::getpid(), map.begin, code));
    const auto hash = base::hash128(code);
    facts.vdso = {hash.low, hash.high};
    facts.vdso_code = std::move(code);
  }
  return {};
}

std::vector<std::string> missing_of(const ProcessImage& image) {
  std::set<std::string> named, missing;
  for (const auto& path : {image.program.path, image.directory})
    if (!was_deleted(path)) named.insert(path);  // such a process does without it
  for (const FileImage& file : image.files) named.insert(file.path);
  for (const OpenFile& file : image.open_files.files) {
    if (const auto* one = std::get_if<NamedFile>(&file.what)) named.insert(one->path);
    if (const auto* one = std::get_if<FifoEnd>(&file.what)) named.insert(one->file.path);
  }
  for (const auto& path : named)
    if (::access(path.c_str(), F_OK) != 0) missing.insert(path);
  return {missing.begin(), missing.end()};
}

bool changed(const FileImage& file) {
  struct stat status {};
  if (::stat(file.path.c_str(), &status) != 0) return false;  // it counts as missing
  const std::int64_t modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  return static_cast<std::uint64_t>(status.st_size) != file.bytes || modified_ns != file.modified_ns;
}

// Shared mappings are left out: they show whatever the file has now.
std::vector<std::string> changed_of(const ProcessImage& image) {
  std::set<std::string> all;
  if (changed(image.program)) all.insert(image.program.path);
  for (const MapImage& map : image.maps) {
    if (map.file == 0 || map.shared) continue;
    const FileImage& file = image.files[map.file - 1];
    if (changed(file)) all.insert(file.path);
  }
  return {all.begin(), all.end()};
}

/// Explains why a program with addresses of another kernel's vdso cannot run under this kernel; empty if it can.
std::string why_no_other_kernel(const ProcessImage& image, const MachineFacts& facts) {
  const SystemImage& system = image.system;
  if (facts.vdso == system.vdso && facts.vdso_bytes == system.vdso_end - system.vdso_begin) return "";
  for (const ThreadImage& thread : image.threads) {
    const auto at = next_instruction(registers_of(thread));
    if (at >= system.vdso_begin && at < system.vdso_end)
      return "its thread " + std::to_string(thread.number) + " was amid a function of those of kernel " +
             system.release;
  }
  if (const auto led = lead_to(system.vdso_code, facts.vdso_code, 0); !led)
    return "the program has addresses of those of kernel " + system.release + ": " + led.error().cause;
  return "";
}

bool chooses_numbers() {
  constexpr unsigned kSysAdmin = 21, kCheckpointRestore = 40;
  const std::uint64_t effective = first_number(proc_text("/proc/self/status"), "CapEff", 16);
  return (effective >> kSysAdmin & 1) != 0 || (effective >> kCheckpointRestore & 1) != 0;
}

}  // namespace

base::Result<MachineFacts> facts_for(const ProcessImage& image) {
  PERDURE_TRY(MachineFacts facts, facts_where_captured(image));
  facts.instructions = instruction_sets(proc_text("/proc/cpuinfo"));
  PERDURE_TRY(facts.processor_state, kept_parts_here());
  return facts;
}

base::Result<MachineFacts> facts_where_captured(const ProcessImage& image) {
  MachineFacts facts;
  utsname system{};
  if (::uname(&system) != 0) return base::fail(base::errno_error(errno, "ask for the system", "this machine"));
  facts.architecture = system.machine;
  facts.instructions = image.system.instructions;
  facts.processor_state = image.system.processor_state;
  PERDURE_CHECK(read_vdso(facts));
  facts.user = ::geteuid();
  facts.group = ::getegid();
  facts.chooses_numbers = chooses_numbers();
  facts.number_taken_by = proc_text("/proc/" + std::to_string(image.number) + "/comm");
  if (!facts.number_taken_by.empty()) facts.number_taken_by.pop_back();
  facts.missing_files = missing_of(image);
  facts.changed_files = changed_of(image);
  return facts;
}

std::vector<Obstacle> obstacles_of_machine(const ProcessImage& image, const MachineFacts& facts) {
  const SystemImage& system = image.system;
  if (facts.architecture != system.architecture)
    return {{"it is of a processor of another architecture, " + system.architecture,
             "this one is " + facts.architecture, "resume it on a machine like the one it was captured on", ""}};
  std::vector<Obstacle> all;
  if (const auto missing = system.processor_state & ~facts.processor_state; missing != 0)
    all.push_back({"this processor, or kernel, lacks " + part_names(missing),
                   "its threads had that in their registers when they were captured",
                   "resume it on a machine that has it", ""});
  std::string lacks;
  for (const auto& set : system.instructions)
    if (std::find(facts.instructions.begin(), facts.instructions.end(), set) == facts.instructions.end())
      lacks += (lacks.empty() ? "" : ", ") + set;
  if (!lacks.empty())
    all.push_back({"this processor lacks instructions: " + lacks, "the program may have chosen its code by them",
                   "resume it on a processor that has them", ""});
  if (auto why = why_no_other_kernel(image, facts); !why.empty())
    all.push_back({"this kernel's own pages in a process (vdso) are others", std::move(why),
                   "resume it on a machine with kernel " + system.release, ""});
  for (const auto& path : facts.changed_files)
    all.push_back({"'" + path + "' has changed since", "only what the process had changed of it is in the image",
                   "bring back the file that it had, with its time of modification", ""});
  return all;
}

std::vector<Obstacle> obstacles_of_resume(const ProcessImage& image, const MachineFacts& facts) {
  auto all = obstacles_of_machine(image, facts);
  if (facts.user != image.user)
    all.push_back({"it is of user " + std::to_string(image.user), "this one is " + std::to_string(facts.user),
                   "only that user can resume it", ""});
  if (facts.group != image.group)
    all.push_back({"it is of group " + std::to_string(image.group), "this one is " + std::to_string(facts.group),
                   "resume it as that group: newgrp, or setpriv --regid", ""});
  if (!facts.number_taken_by.empty())
    all.push_back({"its number " + std::to_string(image.number) + " is taken, by '" + facts.number_taken_by + "'",
                   "a program knows the numbers of its threads", "end that one, or wait", ""});
  if (!facts.chooses_numbers)
    all.push_back({"the system does not let this user choose numbers of processes",
                   "a program knows the numbers of its threads",
                   "have CAP_CHECKPOINT_RESTORE (setcap cap_checkpoint_restore+ep, or root)", ""});
  for (const auto& path : facts.missing_files)
    all.push_back({"'" + path + "' is not here", "it was open, mapped, or its directory", "bring it back", ""});
  return all;
}

base::Status may_resume(const ProcessImage& image, const MachineFacts& facts) {
  const std::string object = process_text(image.number);
  if (image.user != facts.user)
    return base::fail(PERDURE_PERMISSION, object, "it is of user " + std::to_string(image.user),
                      "only that user can resume it");
  if (image.group != facts.group)
    return base::fail(PERDURE_PERMISSION, object,
                      "it is of group " + std::to_string(image.group) + ", and this is " + std::to_string(facts.group),
                      "resume it as that group: newgrp, or setpriv --regid");
  return refused(image.number, obstacles_of_machine(image, facts), "resumed here");
}

}  // namespace perdure::process

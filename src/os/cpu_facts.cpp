// Reads text that other processes influence: owners choose names, and processes end while we look. Unreadable or
// malformed text counts as absent.
#include "os/cpu_facts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "os/affinity.hpp"

namespace perdure::os {
namespace {

constexpr int kMostAncestors = 64;  // a longer chain is ignored
constexpr unsigned kMostChildren = 65536;
constexpr std::size_t kLongestLine = 1 << 20;  // every second of 65,536 processors takes 400 KB

// Lists launchers by the beginning of their names: distributions append their own ends ("mpirun.openmpi").
constexpr auto kLaunchers = std::to_array<const char*>({
    "mpirun", "mpiexec", "orterun", "orted", "prterun", "prted",          // Open MPI, PRRTE
    "hydra_", "pmi_proxy", "mpispawn",                                    // MPICH, Intel MPI, MVAPICH
    "slurmstepd", "flux-shell", "palsd", "apinit", "apshepherd", "jsmd",  // batch systems
});

// Launchers hand their own choice of processors to the ranks in these variables.
constexpr auto kTold =
    std::to_array<const char*>({"OMPI_MCA_hwloc_base_cpu_set", "OMPI_MCA_hwloc_base_cpu_list",
                                "PRTE_MCA_hwloc_default_cpu_list", "I_MPI_PIN_PROCESSOR_LIST", "I_MPI_PIN_DOMAIN"});

struct Process {
  std::string name;
  int parent = 0;
  std::string user;  // real, effective, saved and file system's
  CpuSet cpus;
};

// Returns the value of a line "Field:\tvalue"; nothing for another field's line.
std::optional<std::string> value_of(const std::string& line, const std::string& field) {
  if (!line.starts_with(field + ":\t")) return std::nullopt;
  return line.substr(field.size() + 2);
}

int positive(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? value : 0;
}

// The kernel escapes newlines in names, so a line belongs to one field.
std::optional<Process> read_process(const std::string& proc, int pid) {
  std::ifstream file(proc + "/" + std::to_string(pid) + "/status");
  Process process;
  bool complete = false;
  for (std::string line; std::getline(file, line) && line.size() < kLongestLine;) {
    if (auto name = value_of(line, "Name")) process.name = *name;
    if (auto parent = value_of(line, "PPid")) process.parent = positive(*parent);
    if (auto user = value_of(line, "Uid")) process.user = *user;
    const auto cpus = value_of(line, "Cpus_allowed_list");
    if (!cpus) continue;
    process.cpus = CpuSet::parse(*cpus).value_or(CpuSet());
    complete = !process.cpus.empty();
  }
  return complete ? std::optional(process) : std::nullopt;
}

// In "pid (name) state parent group session ..." the name may hold anything: parsing begins behind the last bracket.
bool leads_session(const std::string& proc, int pid) {
  std::ifstream file(proc + "/" + std::to_string(pid) + "/stat");
  std::string text, state;
  std::getline(file, text, '\0');
  const std::size_t bracket = text.rfind(") ");
  if (bracket == std::string::npos) return false;
  std::istringstream rest(text.substr(bracket + 2));
  int parent = 0, group = 0, session = 0;
  return (rest >> state >> parent >> group >> session) && session == pid;
}

// Asks all threads of the launcher: it may start processes from any of them.
CpuSet cpus_of_children(const std::string& proc, int pid, const std::string& user) {
  CpuSet cpus;
  std::error_code error;
  unsigned looked_at = 0;
  const std::filesystem::path tasks = proc + "/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator it(tasks, error), end; !error && it != end; it.increment(error)) {
    std::ifstream file(it->path() / "children");
    for (int child = 0; file >> child && ++looked_at < kMostChildren;)
      if (const auto process = read_process(proc, child); process && process->user == user) cpus = cpus | process->cpus;
  }
  return cpus;
}

std::vector<Ancestor> ancestors_of(const std::string& proc, int pid) {
  std::vector<Ancestor> ancestors;
  const auto self = read_process(proc, pid);
  if (!self) return ancestors;
  bool launched = false;  // by a nearer ancestor: its launches are not asked for
  for (int at = self->parent; at > 0 && ancestors.size() < kMostAncestors;) {
    const auto process = read_process(proc, at);
    if (!process) break;
    Ancestor ancestor{process->name,           process->user == self->user,
                      leads_session(proc, at), launches_ranks(process->name),
                      process->cpus,           {}};
    if (ancestor.launcher && !std::exchange(launched, true)) ancestor.children = cpus_of_children(proc, at, self->user);
    ancestors.push_back(std::move(ancestor));
    at = process->parent;
  }
  return ancestors;
}

}  // namespace

bool launches_ranks(const std::string& name) {
  return std::any_of(kLaunchers.begin(), kLaunchers.end(),
                     [&](const char* launcher) { return name.starts_with(launcher); });
}

CpuFacts gather_cpu_facts(const CpuFactPlaces& places) {
  CpuFacts facts;
  facts.own = own_cpus();
  facts.reachable = reachable_cpus();
  facts.online = read_cpus(places.online);
  facts.ancestors = ancestors_of(places.proc, places.pid == 0 ? static_cast<int>(::getpid()) : places.pid);
  facts.launcher_was_told =
      std::any_of(kTold.begin(), kTold.end(), [](const char* name) { return std::getenv(name) != nullptr; });
  const char* slurm = std::getenv("SLURM_CPUS_ON_NODE");
  facts.slurm_cpus = slurm == nullptr ? 0 : static_cast<unsigned>(positive(slurm));
  return facts;
}

}  // namespace perdure::os

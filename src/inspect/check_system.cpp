// Checks limits, sockets, programs, and residue of dead engines.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/bytes.hpp"
#include "config/directories.hpp"
#include "inspect/check.hpp"
#include "inspect/words.hpp"
#include "node/left.hpp"
#include "os/file.hpp"
#include "os/socket.hpp"

namespace perdure::inspect {
namespace {

constexpr std::uint64_t kEnoughFiles = 1024;
constexpr std::uint64_t kFilesOfAnEngine = 256;  // its own files, those of its ranks, and of libfabric
constexpr std::uint64_t kEnoughLocked = 64 << 10;
constexpr std::uint64_t kEnoughThreads = 128, kFewestThreads = 16;  // threads that may still be begun

std::string limit_text(std::uint64_t limit) {
  return limit == LimitFacts::kUnlimited ? "unlimited" : std::to_string(limit);
}

// A recovery may need a connection to every node of the job. A program that reaches the port of an engine can hold an
// eighth of its descriptors for a while (network/callers.hpp).
std::string nodes_text(std::uint64_t files) {
  if (files == LimitFacts::kUnlimited) return "";
  const std::uint64_t left = files - files / 8;
  return fmt::format("; with redundancy enough for jobs of {} nodes",
                     left > kFilesOfAnEngine ? left - kFilesOfAnEngine : 0);
}

Check judge_files(const LimitFacts& facts) {
  const bool few = facts.files < kEnoughFiles;
  std::string remedy;
  if (few && facts.most_files > facts.files)
    remedy = fmt::format("ulimit -n {}", std::min<std::uint64_t>(facts.most_files, 65536));
  if (few && facts.most_files < kEnoughFiles) remedy += remedy.empty() ? "" : ", and ";
  if (few && facts.most_files < kEnoughFiles) remedy += "ask the administrator for more";
  return {"open files", few ? Verdict::warning : Verdict::ok,
          fmt::format("limit {} (at most {}){}", limit_text(facts.files), limit_text(facts.most_files),
                      facts.redundancy ? nodes_text(facts.files) : ""),
          remedy};
}

Check judge_locked(const LimitFacts& facts) {
  const bool little = facts.locked_bytes < kEnoughLocked;
  return {"locked memory", little ? Verdict::warning : Verdict::ok,
          facts.locked_bytes == LimitFacts::kUnlimited ? std::string("unlimited")
                                                       : "limit " + base::format_bytes(facts.locked_bytes),
          little ? "ulimit -l unlimited; fast networks need it" : ""};
}

// The arena, slots and segments are files: a limit that does not matter for a small program stops a larger one.
Check judge_file_size(const LimitFacts& facts) {
  if (facts.file_bytes == LimitFacts::kUnlimited) return {"file size", Verdict::ok, "unlimited", ""};
  const bool none = facts.file_bytes < facts.chunk_bytes;
  return {"file size", none ? Verdict::problem : Verdict::warning,
          fmt::format("limit {}: {}", base::format_bytes(facts.file_bytes),
                      none ? "less than a chunk of " + base::format_bytes(facts.chunk_bytes)
                           : "tiers and segments of larger checkpoints do not fit"),
          "ulimit -f unlimited"};
}

Check judge_threads(const LimitFacts& facts) {
  if (facts.threads == LimitFacts::kUnlimited) return {"threads", Verdict::ok, "unlimited", ""};
  const std::uint64_t left = facts.threads > facts.threads_there ? facts.threads - facts.threads_there : 0;
  const Verdict verdict = left < kFewestThreads   ? Verdict::problem
                          : left < kEnoughThreads ? Verdict::warning
                                                  : Verdict::ok;
  return {"threads", verdict,
          fmt::format("limit {} for this user, {} there by now", limit_text(facts.threads), facts.threads_there),
          verdict == Verdict::ok ? "" : "end other programs of yours, or raise ulimit -u"};
}

/// Counts processes and threads of this user, as RLIMIT_NPROC does.
std::uint64_t threads_of_user() {
  std::uint64_t threads = 0;
  const auto processes = os::list_directory("/proc");
  if (!processes) return threads;
  for (const os::Entry& process : *processes) {
    struct stat facts {};
    const std::string path = "/proc/" + process.name;
    if (process.name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (::stat(path.c_str(), &facts) != 0 || facts.st_uid != ::getuid()) continue;
    if (const auto tasks = os::list_directory(path + "/task")) threads += tasks->size();
  }
  return threads;
}

/// Finds the program as the shell would; empty when there is none.
std::string find_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  for (rest += ':'; !rest.empty(); rest.erase(0, rest.find(':') + 1)) {
    const std::string candidate = rest.substr(0, rest.find(':')) + "/" + program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::string first_line_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::array<char, 256> line{};
  const bool got = std::fgets(line.data(), line.size(), pipe) != nullptr;
  std::string text = got ? line.data() : "";
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) {
  }
  const int status = ::pclose(pipe);
  text.erase(text.find_last_not_of("\r\n") + 1);
  return status == 0 ? text : std::string();
}

Check check_launcher() {
  const std::string path = find_in_path("mpirun");
  const std::string version = path.empty() ? "" : first_line_of("mpirun --version 2>/dev/null </dev/null");
  if (version.empty())
    return {"MPI launcher", Verdict::warning, path.empty() ? "no mpirun in PATH" : path + " does not answer --version",
            "programs without MPI work all the same; for MPI: sudo apt-get install openmpi-bin libopenmpi-dev, or load "
            "the module of your machine"};
  return {"MPI launcher", Verdict::ok, path + ": " + version, ""};
}

Check check_daemon(const config::Config& config) {
  const std::string set = config.text("engine.daemon_path");
  std::array<char, 4096> self{};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size() - 1);
  std::string beside(self.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  beside = beside.substr(0, beside.rfind('/') + 1) + "perdured";
  std::string found = set;
  if (set.empty()) found = ::access(beside.c_str(), X_OK) == 0 ? beside : find_in_path("perdured");
  if (!found.empty() && ::access(found.c_str(), X_OK) == 0) return {"perdured", Verdict::ok, found, ""};
  const bool needed = config.text("engine.mode") == "daemon";
  return {"perdured", needed ? Verdict::problem : Verdict::warning,
          set.empty() ? "not beside this program and not in PATH" : set + " cannot be run",
          "set engine.daemon_path; it is needed for engine.mode = daemon only"};
}

base::Status try_sockets(const std::string& root) {
  PERDURE_TRY(const auto scratch, Scratch::in(root));
  PERDURE_TRY(const auto listener, os::listen_at(scratch.path() + "/socket"));
  PERDURE_TRY(const auto client, os::connect_to(scratch.path() + "/socket"));
  PERDURE_TRY(const auto server, os::accept_from(listener));
  if (!server) return base::fail(PERDURE_UNAVAILABLE, scratch.path() + "/socket", "the connection did not arrive");
  PERDURE_CHECK(os::send_all(client, base::as_bytes("hello")));
  std::array<std::byte, 5> received{};
  PERDURE_TRY(const auto count, os::receive_some(server, received, 1'000'000'000));
  if (count == 0) return base::fail(PERDURE_UNAVAILABLE, scratch.path() + "/socket", "nothing arrived");
  return {};
}

}  // namespace

Check judge_interface(const std::string& bind, const std::vector<os::Interface>& there) {
  std::string all;
  const os::Interface* found = nullptr;
  for (const os::Interface& one : there) {
    all += (all.empty() ? "" : ", ") + one.name + " " + one.address;
    if (found == nullptr && (one.name == bind || one.address == bind)) found = &one;
  }
  if (all.empty()) all = "none";
  if (bind.empty())
    return {"network", Verdict::ok,
            "engines listen where libfabric chooses, as a rule on the main interface; this node has " + all +
                ". To keep others out, set network.bind to an interface that only the job's nodes reach",
            ""};
  if (found != nullptr)
    return {"network", Verdict::ok, "engines listen on " + found->name + " (" + found->address + ")", ""};
  return {"network", Verdict::warning,
          "network.bind = " + bind + " is no interface of this node, and none of its addresses; it has " + all,
          "name one of them, unless it is a host name of this node"};
}

std::vector<Check> judge_limits(const LimitFacts& facts) {
  return {judge_files(facts), judge_locked(facts), judge_file_size(facts), judge_threads(facts)};
}

std::vector<Check> check_limits(const config::Config& config) {
  rlimit files{}, locked{}, size{}, threads{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_MEMLOCK, &locked);
  ::getrlimit(RLIMIT_FSIZE, &size);
  ::getrlimit(RLIMIT_NPROC, &threads);
  static_assert(RLIM_INFINITY == LimitFacts::kUnlimited);
  LimitFacts facts{files.rlim_cur, files.rlim_max, locked.rlim_cur, size.rlim_cur, threads.rlim_cur};
  if (::geteuid() == 0) facts.threads = LimitFacts::kUnlimited;  // the kernel does not ask root
  facts.threads_there = threads_of_user();
  facts.chunk_bytes = config.bytes("chunk_bytes");
  facts.redundancy = config.text("redundancy.scheme") != "single";
  return judge_limits(facts);
}

std::vector<Check> check_network(const config::Config& config) {
  if (config.text("redundancy.scheme") == "single") return {};  // engines have no network
  return {judge_interface(config.text("network.bind"), os::interfaces())};
}

std::vector<Check> judge_environment(const config::Environment& environment) {
  const auto names = config::unrelated_variables(environment);
  if (names.empty()) return {};
  const bool one = names.size() == 1;
  return {{"environment", Verdict::ok,
           enumerated(names) + (one ? " resembles no option, and is" : " resemble no options, and are") + " left alone",
           ""}};
}

std::vector<Check> check_environment() { return judge_environment(config::own_environment()); }

std::vector<Check> check_sockets(const config::Config& config) {
  const std::string root = config::node_root(config);
  if (auto wrong = wrong_root(config, "node directory")) return {*wrong};
  if (auto works = try_sockets(root); !works)
    return {
        {"sockets", Verdict::problem, works.error().text(), "set node.path to a local directory where you may write"}};
  return {{"sockets", Verdict::ok, "Unix-domain sockets work under " + root, ""}};
}

std::vector<Check> check_programs(const config::Config& config) { return {check_launcher(), check_daemon(config)}; }

namespace {

// Uses the catalog alone: another user's store may not answer.
std::string held_text(const node::Left& left) {
  std::string text = "\n      " + node::whose(left);
  std::vector<node::Holding> unstored = left.holdings;
  std::erase_if(unstored, [](const node::Holding& one) { return one.part != node::Holding::Part::unstored; });
  if (left.damage) return text + ": " + left.damage->text();
  return text + (left.holdings.empty() ? ": it holds nothing"
                 : unstored.empty()    ? ": all that it holds was brought to the store"
                                       : ": not brought to the store: " + node::enumerated(unstored));
}

}  // namespace

std::vector<Check> check_node_directories(const config::Config& config) {
  const auto directories = node::find_engine_directories(config);
  if (!directories) return {{"engines", Verdict::warning, directories.error().text(), "set node.path"}};
  std::uint64_t alive = 0, dead = 0, bytes = 0;
  std::string paths;
  for (const node::EngineDirectory& directory : *directories) {
    alive += directory.alive;
    if (directory.alive) continue;
    ++dead;
    bytes += directory.bytes;
    paths += "\n    " + directory.path + "  " + base::format_bytes(directory.bytes) +
             fmt::format(", unused for {:.1f} h", directory.unused_s() / 3600) + held_text(node::look_at(directory));
  }
  if (dead == 0) return {{"engines", Verdict::ok, fmt::format("{} alive, nothing left by dead ones", alive), ""}};
  return {{"engines", Verdict::warning,
           fmt::format("{} alive; {} dead ones left {}:{}", alive, dead, base::format_bytes(bytes), paths),
           "a restart of their job uses it, and what its store has is room for whoever needs it; what nobody needs any "
           "more: perdure prune --node --older-than SECONDS --yes"}};
}

}  // namespace perdure::inspect

// Launches on real hosts: the launcher reads a temporary hostfile with the hosts of each launch in the order of the
// positions.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "launch/node_kind.hpp"
#include "os/file.hpp"
#include "plan/node_assignment.hpp"

namespace perdure::launch {
namespace {

constexpr std::string_view kFilePlace = "{hostfile}", kListPlace = "{hosts}";

bool open_mpi_launcher(const std::string& program) {
  const std::string name = program.substr(program.rfind('/') + 1);
  return name == "mpirun" || name == "mpiexec" || name == "orterun" || name == "prterun";
}

bool mentions(const std::vector<std::string>& command, std::string_view place) {
  return std::any_of(command.begin(), command.end(),
                     [&](const std::string& word) { return word.find(place) != std::string::npos; });
}

void replace_all(std::string& word, std::string_view place, const std::string& by) {
  for (std::size_t at = word.find(place); at != std::string::npos; at = word.find(place, at + by.size()))
    word.replace(at, place.size(), by);
}

/// A temporary file of ours, removed at the end.
class HostFile {
 public:
  HostFile() = default;
  ~HostFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  HostFile(const HostFile&) = delete;
  HostFile& operator=(const HostFile&) = delete;

  base::Result<std::string> write(const std::string& text) {
    if (path_.empty()) {
      const char* directory = ::getenv("TMPDIR");
      std::string path =
          std::string(directory == nullptr || *directory == '\0' ? "/tmp" : directory) + "/perdure-hosts-XXXXXX";
      const os::Fd made(::mkostemp(path.data(), O_CLOEXEC));
      if (!made) return base::fail(base::errno_error(errno, "mkostemp", path));
      path_ = path;
    }
    PERDURE_CHECK(os::write_file_atomically(path_, base::as_bytes(text)));
    return path_;
  }

 private:
  std::string path_;
};

class HostKind : public NodeKind {
 public:
  HostKind(std::vector<Host> hosts, std::uint64_t positions, std::string launcher)
      : hosts_(std::move(hosts)), positions_(positions), launcher_(std::move(launcher)) {}

  std::vector<std::string> nodes() const override {
    std::vector<std::string> names;
    for (const Host& host : hosts_) names.push_back(host.name);
    return names;
  }
  base::Result<Launch> launch_on(Launch launch, const std::vector<std::string>& positions) override {
    PERDURE_TRY(const std::string path, file_.write(lines(positions)));
    auto& command = launch.command;
    if (!mentions(command, kFilePlace) && !mentions(command, kListPlace)) {
      insert_options(launch, path);
      return launch;
    }
    for (auto& word : command) {
      replace_all(word, kFilePlace, path);
      replace_all(word, kListPlace, listed(positions, ","));
    }
    return launch;
  }
  std::vector<std::string> probe(const std::string& node) const override {
    return {launcher_, "--host", node, "-n", "1", "true"};
  }

 private:
  // Open MPI passes variables to other hosts only if it is told their names.
  static void insert_options(Launch& launch, const std::string& path) {
    std::vector<std::string> options = {"--hostfile", path};
    for (const auto& [name, value] : launch.environment) options.insert(options.end(), {"-x", name});
    launch.command.insert(launch.command.begin() + 1, options.begin(), options.end());
  }
  // On fewer hosts than wanted, each gets its share of the slots that the first hosts have.
  std::string lines(const std::vector<std::string>& positions) const {
    std::uint64_t wanted = 0;
    for (std::size_t i = 0; i < hosts_.size() && i < positions_; ++i) wanted += hosts_[i].slots;
    const std::uint64_t share = plan::share_of_node(wanted, positions.size());
    std::string text;
    for (const auto& name : positions) {
      const auto host = std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& one) { return one.name == name; });
      const bool more = positions.size() < positions_ && host->slots < share;
      text += (more ? line_with_slots(*host, share) : host->line) + "\n";
    }
    return text;
  }

  std::vector<Host> hosts_;
  std::uint64_t positions_;
  std::string launcher_;
  HostFile file_;
};

}  // namespace

base::Result<std::unique_ptr<NodeKind>> make_host_nodes(std::vector<Host> hosts, std::uint64_t positions,
                                                        const std::vector<std::string>& command, bool probed) {
  const bool known = open_mpi_launcher(command.front());
  if (!known && !mentions(command, kFilePlace) && !mentions(command, kListPlace))
    return base::fail(PERDURE_INVALID_ARGUMENT, command.front(), "it is not known how to tell it the hosts",
                      "write {hostfile} or {hosts} where it expects them, as in: srun --nodelist={hosts} ...");
  if (!known && !probed)
    return base::fail(PERDURE_INVALID_ARGUMENT, command.front(),
                      "it is not known how to start something with it on one host",
                      "say with --probe how to find out whether a host works, as in: --probe 'ping -c 1 -w 5'");
  return std::make_unique<HostKind>(std::move(hosts), positions, command.front());
}

}  // namespace perdure::launch

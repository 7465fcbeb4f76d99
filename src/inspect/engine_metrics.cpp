#include "inspect/engine_metrics.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/json.hpp"
#include "ipc/channel.hpp"
#include "metrics/definitions.hpp"
#include "metrics/exposition.hpp"
#include "metrics/family_codec.hpp"
#include "node/directories.hpp"
#include "os/system.hpp"

namespace perdure::inspect {
namespace {

constexpr std::uint64_t kMetricsPatienceNs = 2'000'000'000;

struct Asked {
  std::string directory;
  ipc::Channel channel;
  base::Result<ipc::Posted<ipc::Greeted>> hello;
  base::Result<ipc::Posted<ipc::View>> request;
};

struct Answer {
  metrics::Labels labels;
  std::vector<metrics::Family> families;
};

/// Gives paths as they are, but each root once, however it is spelled.
std::vector<std::string> roots_once(const std::vector<std::string>& roots) {
  std::vector<std::string> once;
  std::set<std::filesystem::path> seen;
  for (const std::string& root : roots) {
    std::error_code error;
    auto real = std::filesystem::weakly_canonical(root + "/.", error);
    if (error) real = root;  // the error comes when it is read
    if (!seen.insert(real).second) continue;
    const std::size_t end = root.find_last_not_of('/');
    once.push_back(end == std::string::npos ? root : root.substr(0, end + 1));
  }
  return once;
}

// A listening socket means a living engine, whether it takes the connection or not. Locks are not touched, as an engine
// that starts now may want them. A full queue is not waited for: one hanging engine must not delay the answers of the
// others.
std::vector<Asked> ask_all(const std::vector<std::string>& directories) {
  std::vector<Asked> asked;
  for (const std::string& directory : directories) {
    auto channel = ipc::Channel::connect_at_once(directory + "/socket");
    if (!channel && channel.error().code == PERDURE_UNAVAILABLE) continue;
    Asked& one = asked.emplace_back(Asked{directory, {}, {}, {}});
    if (!channel) {
      one.hello = base::fail(channel.error());
      continue;
    }
    one.channel = std::move(*channel);
    ipc::Hello hello;
    hello.client = false;
    one.hello = one.channel.post(hello);
    if (one.hello) one.request = one.channel.post(ipc::Metrics{});
  }
  return asked;
}

template <class Reply>
base::Result<Reply> await_until(Asked& asked, ipc::Posted<Reply> posted, std::uint64_t deadline_ns) {
  const std::uint64_t now = os::monotonic_ns();
  return asked.channel.await(posted, deadline_ns > now ? deadline_ns - now : 1);
}

base::Result<Answer> answer_of(Asked& asked, std::uint64_t deadline_ns) {
  PERDURE_TRY(const auto hello, asked.hello);
  PERDURE_TRY(const auto request, asked.request);
  PERDURE_CHECK(await_until(asked, hello, deadline_ns));
  PERDURE_TRY(const auto view, await_until(asked, request, deadline_ns));
  PERDURE_TRY(const base::Json reply, base::decode_cbor(view.cbor, asked.directory));
  if (!reply.is_object() || !reply.contains("labels") || !reply.contains("families"))
    return base::fail(PERDURE_CORRUPT, asked.directory, "its engine answers something else",
                      "use the same release of Perdure for engine and tool");
  Answer answer;
  PERDURE_TRY(answer.labels, metrics::labels_from_json(reply["labels"], asked.directory));
  PERDURE_TRY(answer.families, metrics::families_from_json(reply["families"], asked.directory));
  return answer;
}

// Adds all of it, or nothing: the answer of an engine of another release may not fit.
base::Status add_engine(std::vector<metrics::Family>& all, const Answer& answer, const metrics::Labels& labels) {
  auto with = all;
  PERDURE_CHECK(metrics::merge(with, answer.families, labels));
  for (const auto& family : with) PERDURE_CHECK(metrics::check(family));
  all = std::move(with);
  return {};
}

void add_up(std::vector<metrics::Family>& all, bool up, const metrics::Labels& labels) {
  metrics::Collection out;
  out.add("perdure_engine_up", up ? 1.0 : 0.0);
  (void)metrics::merge(all, out.take(), labels);
}

}  // namespace

base::Result<EngineMetrics> collect_metrics(const std::vector<std::string>& node_roots) {
  std::vector<std::string> directories;
  for (const std::string& root : roots_once(node_roots)) {
    PERDURE_TRY(const auto found, node::engine_directories(root));
    directories.insert(directories.end(), found.begin(), found.end());
  }
  std::sort(directories.begin(), directories.end());
  directories.erase(std::unique(directories.begin(), directories.end()), directories.end());
  const std::uint64_t deadline_ns = os::monotonic_ns() + kMetricsPatienceNs;
  auto asked = ask_all(directories);
  EngineMetrics result;
  result.engines = asked.size();
  for (Asked& one : asked) {
    metrics::Labels labels = {{"engine", std::filesystem::path(one.directory).filename().string()}};
    if (node_roots.size() > 1)
      labels.emplace_back("directory", std::filesystem::path(one.directory).parent_path().string());
    const auto answer = answer_of(one, deadline_ns);
    metrics::Labels full = labels;
    if (answer) full.insert(full.end(), answer->labels.begin(), answer->labels.end());
    const base::Status added =
        answer ? add_engine(result.families, *answer, full) : base::Status(base::fail(answer.error()));
    add_up(result.families, added.has_value(), added ? full : labels);
    if (!added) result.silent.push_back(added.error());
  }
  metrics::Collection out;
  out.add("perdure_engines", static_cast<double>(asked.size()));
  (void)metrics::merge(result.families, out.take(), {});
  return result;
}

}  // namespace perdure::inspect

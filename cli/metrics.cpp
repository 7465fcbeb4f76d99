// perdure metrics prints the counts of the engines of this machine for Prometheus. It changes nothing.
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "cli/configuration.hpp"
#include "cli/http_server.hpp"
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "config/directories.hpp"
#include "inspect/engine_metrics.hpp"
#include "metrics/exposition.hpp"
#include "metrics/family_codec.hpp"

namespace perdure::cli {
namespace {

struct MetricsArguments {
  std::vector<std::string> nodes;
  std::string listen, output;
  bool json = false;
};

void say_who_is_missing(Terminal& terminal, const EngineMetrics& found, const std::vector<std::string>& roots) {
  for (const base::Error& error : found.silent) print(terminal.err, "perdure: " + error.text() + "\n");
  if (found.engines > 0) return;
  std::string text = "perdure: no engine of this user runs in ";
  for (std::size_t i = 0; i < roots.size(); ++i) text += (i == 0 ? "" : ", ") + roots[i];
  print(terminal.err, text +
                          "; engines live as long as their job: start one, or give the node.path that it uses with "
                          "--node or PERDURE_NODE_PATH\n");
}

base::Result<std::string> exposition_of(const EngineMetrics& found) { return metrics::encode(found.families); }

// The collector of the file is another user, and sees the old text or the new one.
base::Status write_for_all(const std::string& path, const std::string& text) {
  const std::string next = path + ".next";
  PERDURE_CHECK(os::write_file_atomically(next, base::as_bytes(text)));
  if (::chmod(next.c_str(), 0644) == 0) return os::rename_path(next, path);
  base::Error error = base::errno_error(errno, "chmod", next);
  (void)os::remove_file(next);
  return base::fail(std::move(error));
}

int show_metrics(const MetricsArguments& arguments, const std::vector<std::string>& roots, Terminal& terminal) {
  const auto found = collect_metrics(roots);
  if (!found) return report(terminal, found.error());
  if (arguments.json) {
    print_json(terminal, {{"engines", found->engines}, {"families", metrics::to_json(found->families)}});
    return kGood;
  }
  const auto text = exposition_of(*found);
  if (!text) return report(terminal, text.error());
  if (arguments.output.empty())
    print(terminal.out, *text);
  else if (auto written = write_for_all(arguments.output, *text); !written)
    return report(terminal, written.error());
  say_who_is_missing(terminal, *found, roots);
  return kGood;
}

constexpr std::uint64_t kKeepPageNs = 1'000'000'000;

HttpReply metrics_page(const std::vector<std::string>& roots) {
  const auto found = collect_metrics(roots);
  const auto text = found ? exposition_of(*found) : base::Result<std::string>(base::fail(found.error()));
  if (!text) return {500, "text/plain; charset=utf-8", text.error().text() + "\n"};
  return {200, metrics::kContentType, *text};
}

// Serves until a signal asks for the end: it was blocked before, so that it is found here.
int serve_metrics(const std::string& where, const std::vector<std::string>& roots, Terminal& terminal) {
  const auto address = os::parse_tcp_address(where);
  if (!address) return report(terminal, address.error());
  sigset_t signals, before;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction way {};  // signals ignored by nohup or `&` in a script stay ignored
    if (::sigaction(signal, nullptr, &way) != 0 || way.sa_handler != SIG_IGN) ::sigaddset(&signals, signal);
  }
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  const os::Fd stop(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  const auto listener = os::listen_tcp(*address);
  base::Status served = listener ? base::Status() : base::Status(base::fail(listener.error()));
  if (listener) {
    print(terminal.err, "perdure: metrics at http://" + listener->address.text() + "/metrics\n");
    KeptReply page([&roots] { return metrics_page(roots); }, kKeepPageNs);
    served = serve_http(listener->socket, stop,
                        [&page](const std::string& path) { return path == "/metrics" ? page.get() : refusal(404); });
  }
  signalfd_siginfo taken{};
  while (::read(stop.get(), &taken, sizeof taken) > 0) {  // otherwise it would end us once it is not blocked any more
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return served ? kGood : report(terminal, served.error());
}

int run_metrics(const MetricsArguments& arguments, Terminal& terminal) {
  std::vector<std::string> roots = arguments.nodes;
  if (roots.empty()) {
    const auto config = configuration(terminal);
    if (!config) return report(terminal, config.error());
    roots = {config::node_root(*config)};
  }
  return arguments.listen.empty() ? show_metrics(arguments, roots, terminal)
                                  : serve_metrics(arguments.listen, roots, terminal);
}

}  // namespace

Action enrol_metrics(CLI::App& app) {
  auto arguments = std::make_shared<MetricsArguments>();
  app.add_option("--node", arguments->nodes, "where engines are (their node.path), instead of the configured place");
  auto* listen = app.add_option("--listen", arguments->listen,
                                "ADDRESS:PORT to serve GET /metrics at; a port alone: on 127.0.0.1");
  auto* output = app.add_option("--output", arguments->output, "a file to write, at once as a whole");
  auto* json = app.add_flag("--json", arguments->json, "for programs: the same as JSON");
  listen->excludes(output)->excludes(json);
  output->excludes(json);
  return [arguments](Terminal& terminal) { return run_metrics(*arguments, terminal); };
}

}  // namespace perdure::cli

// perdure track shows where a checkpoint of a program on a mesh is smallest, and its content, as the program learnt it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/table.hpp"
#include "plot/chart.hpp"
#include "track/report.hpp"

namespace perdure::cli {
namespace {

using Right = Table::Align;

struct TrackArguments {
  std::string file, plot;
  bool json = false;
};

base::Result<std::string> text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad())
    return base::fail(PERDURE_IO, path, std::string("it cannot be read: ") + std::strerror(errno));
  return text;
}

std::string size_text(std::uint64_t bytes) { return fmt::format("{:.3f} MB", static_cast<double>(bytes) * 1e-6); }

std::string share_text(std::uint64_t bytes, std::uint64_t of) {
  return of == 0 ? "-" : fmt::format("{:.2f} %", 100 * static_cast<double>(bytes) / static_cast<double>(of));
}

std::string loops_text(const track::Report& report) {
  Table table({{"LOOP"},
               {"FIRST", Right::right},
               {"TIMES", Right::right},
               {"LEAST", Right::right},
               {"MOST", Right::right},
               {"OF THE STATE", Right::right},
               {"BOXES", Right::right},
               {"NOTE"}});
  for (const auto& loop : report.loops) {
    const bool known = loop.times > 0;
    table.row({loop.name, std::to_string(loop.first), std::to_string(loop.times),
               known ? size_text(loop.least.bytes) : "-", known ? size_text(loop.most.bytes) : "-",
               known ? share_text(loop.most.bytes, report.state_bytes) : "-",
               known ? std::to_string(loop.most.boxes) : "-",
               loop.chosen     ? "chosen"
               : loop.possible ? ""
                               : "no place: an answer is awaited, or the policy has another one"});
  }
  return table.text();
}

std::string sets_text(const track::Report& report) {
  Table table({{"DATA SET"}, {"SIZE", Right::right}, {"SAVED", Right::right}, {"WHY"}});
  std::uint64_t saved = 0;
  for (const auto& set : report.sets) {
    table.row({set.name, size_text(set.bytes), set.saved_bytes == 0 ? "-" : size_text(set.saved_bytes), set.why});
    saved += set.saved_bytes;
  }
  return table.text() + fmt::format("{} of {}, {}\n", size_text(saved), size_text(report.state_bytes),
                                    share_text(saved, report.state_bytes));
}

base::Status write_plot(const track::Report& report, const std::string& path) {
  plot::Chart chart;
  chart.title = report.name + ": a checkpoint before each loop of a time step";
  chart.x_label = "loop";
  chart.y_label = "size (MB)";
  plot::Series line{"size", {}, true, report.step.size() < 200};
  for (std::size_t i = 0; i < report.step.size(); ++i)
    if (report.step[i].bytes)
      line.points.push_back({static_cast<double>(i), static_cast<double>(*report.step[i].bytes) * 1e-6});
  chart.series.push_back(std::move(line));
  std::ofstream file(path, std::ios::binary);
  file << plot::svg(chart);
  file.close();
  if (file.fail()) return base::fail(PERDURE_IO, path, std::string("it cannot be written: ") + std::strerror(errno));
  return {};
}

int track_verb(const TrackArguments& arguments, Terminal& terminal) {
  const auto text = text_of(arguments.file);
  if (!text) return report(terminal, text.error());
  const auto found = track::parse_report(*text);
  if (!found) {
    const base::Status wrong = base::fail(PERDURE_INVALID_ARGUMENT, arguments.file, found.error(),
                                          "a program on a mesh writes it where Policy::report says");
    return report(terminal, wrong.error());
  }
  if (!arguments.plot.empty())
    if (const auto wrote = write_plot(*found, arguments.plot); !wrote) return report(terminal, wrote.error());
  if (arguments.json) {
    print_json(terminal, base::Json::parse(*text));
    return kGood;
  }
  print(terminal.out, loops_text(*found));
  if (!found->sets.empty()) print(terminal.out, "\n" + sets_text(*found));
  return kGood;
}

}  // namespace

Action enrol_track(CLI::App& app) {
  auto arguments = std::make_shared<TrackArguments>();
  app.add_option("REPORT", arguments->file, "what a program on a mesh wrote of its places")->required();
  app.add_option("--plot", arguments->plot, "the size before each loop of a time step, as an SVG");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return track_verb(*arguments, terminal); };
}

}  // namespace perdure::cli

// perdure plot shows a plane of an array, or a line, as a picture or in the terminal.
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/open_store.hpp"
#include "cli/verb.hpp"
#include "os/file.hpp"
#include "plot/field.hpp"
#include "portable/plane.hpp"

namespace perdure::cli {
namespace {

constexpr std::size_t kMostPixels = 1000, kCurvePixels = 760, kTerminalWidth = 80, kMostLines = 40;

struct PlotArguments {
  std::string checkpoint, region, to, member, store;
  std::uint32_t rank = 0;
  std::size_t width = 0;
  bool force = false, json = false, of_rank = false;
};

enum class Ending { none, png, svg };

base::Result<Ending> ending_of(const std::string& path) {
  if (path.empty()) return Ending::none;
  if (path.size() > 4 && path.substr(path.size() - 4) == ".png") return Ending::png;
  if (path.size() > 4 && path.substr(path.size() - 4) == ".svg") return Ending::svg;
  return base::fail(PERDURE_INVALID_ARGUMENT, path, "its ending says no format",
                    "planes and curves are written as FILE.png, curves as FILE.svg, too");
}

/// Gives the columns of the terminal that `out` is; 80 elsewhere.
std::size_t width_of(const Terminal& terminal) {
  winsize size{};
  const int fd = ::fileno(terminal.out);
  return fd >= 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kTerminalWidth;
}

/// Uses UTF-8 and colours on terminals whose locale says so.
bool in_colours(const Terminal& terminal) {
  const int fd = ::fileno(terminal.out);
  const char* no = std::getenv("NO_COLOR");
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') {
      const std::string locale = value;
      const bool utf8 = locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
      return utf8 && fd >= 0 && ::isatty(fd) == 1 && (no == nullptr || *no == '\0');
    }
  return false;
}

base::Result<portable::DataSet> find_set(const reader::StoredContent& content, const std::string& region,
                                         const PlotArguments& arguments) {
  PERDURE_TRY(const auto sets, portable::choose(content, {region}));
  for (const auto& set : sets)
    if (set.array != nullptr || (arguments.of_rank && set.local.rank == arguments.rank)) return set;
  return base::fail(arguments.of_rank ? PERDURE_NOT_FOUND : PERDURE_INVALID_ARGUMENT,
                    content.id().text() + ", " + region,
                    arguments.of_rank ? "rank " + std::to_string(arguments.rank) + " has no such region"
                                      : "it is no array: each rank has its own",
                    arguments.of_rank ? "" : "say whose: --rank N");
}

struct Room {
  std::size_t width, height;
};

/// Gives the greatest number of values to show. Cells of a terminal are square if a letter is twice as high as wide.
Room room_for(Ending ending, const portable::Plane& plane, std::size_t columns, bool colours) {
  if (ending != Ending::none) return {plane.dimensions == 1 ? kCurvePixels : kMostPixels, kMostPixels};
  const std::size_t lines = colours ? 2 * kMostLines : kMostLines;
  if (plane.dimensions == 1) return {columns, 1};
  const double across = static_cast<double>(plane.box.extent(plane.across)),
               down = static_cast<double>(plane.box.extent(plane.down));
  const double high = down / across * static_cast<double>(columns) / (colours ? 1 : 2);
  return {columns, static_cast<std::size_t>(std::clamp(high, 1.0, static_cast<double>(lines)))};
}

plot::Field field_of(const reader::StoredContent& content, const portable::DataSet& set, const array::Member& member,
                     const portable::Plane& plane, portable::Sampled sampled) {
  plot::Field field{sampled.width, sampled.height, std::move(sampled.values), {}, {}, {}, set.label.unit, 0, 0, 0, 0};
  const auto label = [](unsigned d) { return "dim " + std::to_string(d); };
  field.title = content.id().text() + ": " + set.path + (member.name.empty() ? "" : "." + member.name) + " " +
                plane.text() + (set.label.unit.empty() ? "" : ", " + set.label.unit);
  field.x_label = label(plane.across);
  field.x_begin = static_cast<double>(plane.box.begin[plane.across]);
  field.x_end = static_cast<double>(plane.box.end[plane.across]);
  if (plane.dimensions == 2) {
    field.y_label = label(plane.down);
    field.y_begin = static_cast<double>(plane.box.begin[plane.down]);
    field.y_end = static_cast<double>(plane.box.end[plane.down]);
  }
  return field;
}

base::Json to_json(const plot::Field& field, const portable::Plane& plane) {
  base::Json values = base::Json::array();
  for (const double value : field.values) values.push_back(std::isfinite(value) ? base::Json(value) : base::Json());
  return {{"title", field.title}, {"plane", plane.text()},  {"unit", field.unit},
          {"width", field.width}, {"height", field.height}, {"values", std::move(values)}};
}

base::Status write_picture(const plot::Field& field, Ending ending, const PlotArguments& arguments) {
  if (ending == Ending::svg)
    return os::write_file_atomically(arguments.to, base::as_bytes(plot::svg(plot::curve_chart(field))),
                                     os::Open::create_shared);
  PERDURE_TRY(const auto file, plot::png(field.y_label.empty() ? plot::curve_picture(field) : plot::picture(field)));
  return os::write_file_atomically(arguments.to, file, os::Open::create_shared);
}

base::Status plot_region(const PlotArguments& arguments, Terminal& terminal) {
  PERDURE_TRY(const auto spec, parse_checkpoint(arguments.checkpoint));
  PERDURE_TRY(const Ending ending, ending_of(arguments.to));
  PERDURE_TRY(const bool there, arguments.to.empty() ? false : os::exists(arguments.to));
  if (there && !arguments.force)
    return base::fail(PERDURE_EXISTS, arguments.to, "it is there already",
                      "choose another name, or replace it with --force");
  PERDURE_TRY(const auto store, open_store(arguments.store, terminal));
  PERDURE_TRY(auto opened, reader::open_version(*store, spec.name, spec.version, spec.branch));
  const store::VersionListing& listing = opened.listing;
  reader::StoredContent& content = opened.content;
  const auto [region, wanted] = portable::split_plane(arguments.region);
  PERDURE_TRY(const auto set, find_set(content, region, arguments));
  const std::string object = listing.id.text() + ", " + segment::region_text(set.id, set.label);
  PERDURE_TRY(const auto member, portable::find_member(set.type, arguments.member, object));
  PERDURE_TRY(const auto plane, portable::parse_plane(wanted, set.whole, object));
  if (ending == Ending::svg && plane.dimensions == 2)
    return base::fail(PERDURE_INVALID_ARGUMENT, arguments.to, "a plane is written as PNG only", "FILE.png");
  const bool colours = ending == Ending::none && in_colours(terminal);
  const auto room = room_for(ending, plane, arguments.width > 0 ? arguments.width : width_of(terminal), colours);
  PERDURE_TRY(auto sampled, portable::sample(content, set, member, plane, room.width, room.height));
  const auto field = field_of(content, set, member, plane, std::move(sampled));
  if (ending != Ending::none) PERDURE_CHECK(write_picture(field, ending, arguments));
  if (arguments.json)
    print_json(terminal, to_json(field, plane));
  else if (ending != Ending::none)
    print(terminal.out, arguments.to + ": " + field.title + "\n");
  else
    print_as_it_is(terminal.out,
                   plane.dimensions == 1 ? plot::terminal_curve(field, colours) : plot::terminal_text(field, colours));
  return {};
}

}  // namespace

Action enrol_plot(CLI::App& app) {
  auto arguments = std::make_shared<PlotArguments>();
  app.add_option("NAME[@VERSION]", arguments->checkpoint, "the checkpoint; without a version its newest complete one")
      ->required();
  app.add_option(
         "REGION[PLANE]", arguments->region,
         "a region by name or number, and which part: 'temperature[3,:,:]', 'line[10:20]'; by default all of it, "
         "or the middle of it")
      ->required();
  app.add_option("--to", arguments->to, "FILE.png, or FILE.svg of a line; by default it is shown in the terminal");
  app.add_option("--member", arguments->member,
                 "of elements with members: this one; by default the first with numbers");
  auto* rank = app.add_option("--rank", arguments->rank, "of a region that each rank has for itself: this rank's")
                   ->check(whole_number);
  app.add_option("--width", arguments->width, "columns in the terminal, by default as many as it has")
      ->check(whole_number)
      ->check(within(1, 1000));
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  app.add_flag("--force", arguments->force, "replaces the file");
  app.add_flag("--json", arguments->json, "for programs: the numbers that are shown");
  return [arguments, rank](Terminal& terminal) -> int {
    arguments->of_rank = rank->count() > 0;
    const auto outcome = plot_region(*arguments, terminal);
    return outcome ? kGood : report(terminal, outcome.error());
  };
}

}  // namespace perdure::cli

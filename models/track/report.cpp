#include "track/report.hpp"

#include "base/json.hpp"

namespace perdure::track {
namespace {

using base::Json;

constexpr int kFormat = 1;

std::string why(const DataSet& set, const BoxSet& written, const BoxSet& saved) {
  if (set.scratch) return "scratch";
  if (written.empty()) return "written by no loop but at first, which every run repeats";
  if (saved.empty()) return "written again before it is read";
  return saved.elements() < written.elements() ? "the rest is written again before it is read"
                                               : "read before it is written";
}

std::uint64_t number(const Json& of, const char* key) { return of.at(key).get<std::uint64_t>(); }

Report report_of(const Json& json) {
  if (json.at("perdure_track") != kFormat) throw std::runtime_error("it is of another format");
  Report report;
  report.name = json.at("name");
  report.state_bytes = number(json, "state_bytes");
  for (const Json& one : json.at("loops"))
    report.loops.push_back({one.at("loop"),
                            number(one, "first"),
                            number(one, "times"),
                            {number(one, "least_bytes"), number(one, "least_boxes")},
                            {number(one, "most_bytes"), number(one, "most_boxes")},
                            one.at("possible"),
                            one.at("chosen")});
  for (const Json& one : json.at("sets"))
    report.sets.push_back(
        {one.at("set"), number(one, "bytes"), number(one, "written_bytes"), number(one, "saved_bytes"), one.at("why")});
  for (const Json& one : json.at("step"))
    report.step.push_back(
        {one.at("loop"), one.at("bytes").is_null() ? std::nullopt : std::optional(number(one, "bytes"))});
  return report;
}

}  // namespace

std::vector<Report::Set> explained(std::span<const DataSet> sets, std::span<const BoxSet> written,
                                   std::span<const BoxSet> saved) {
  std::vector<Report::Set> all;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const std::uint64_t each = sets[i].element_bytes;
    all.push_back({sets[i].name, sets[i].box.elements() * each, written[i].elements() * each,
                   saved[i].elements() * each, why(sets[i], written[i], saved[i])});
  }
  return all;
}

std::string to_json(const Report& report) {
  Json loops = Json::array(), sets = Json::array(), step = Json::array();
  for (const auto& one : report.loops)
    loops.push_back({{"loop", one.name},
                     {"first", one.first},
                     {"times", one.times},
                     {"least_bytes", one.least.bytes},
                     {"least_boxes", one.least.boxes},
                     {"most_bytes", one.most.bytes},
                     {"most_boxes", one.most.boxes},
                     {"possible", one.possible},
                     {"chosen", one.chosen}});
  for (const auto& one : report.sets)
    sets.push_back({{"set", one.name},
                    {"bytes", one.bytes},
                    {"written_bytes", one.written_bytes},
                    {"saved_bytes", one.saved_bytes},
                    {"why", one.why}});
  for (const auto& one : report.step)
    step.push_back({{"loop", one.loop}, {"bytes", one.bytes ? Json(*one.bytes) : Json()}});
  const Json json{{"perdure_track", kFormat},  {"name", report.name},     {"state_bytes", report.state_bytes},
                  {"loops", std::move(loops)}, {"sets", std::move(sets)}, {"step", std::move(step)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

tl::expected<Report, std::string> parse_report(std::string_view text) {
  try {
    return report_of(Json::parse(text));
  } catch (const std::exception& wrong) {
    return tl::unexpected(std::string("it is no report of places: ") + wrong.what());
  }
}

}  // namespace perdure::track

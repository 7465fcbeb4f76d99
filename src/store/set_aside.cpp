#include "store/set_aside.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <ctime>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "os/system.hpp"
#include "store/posix_layout.hpp"

namespace perdure::store {
namespace {

/// The first "offset N" of a message, for programs that read the report.
base::Json offset_in(std::string_view text) {
  constexpr std::string_view kWord = "offset ";
  const std::size_t begin = text.find(kWord);
  if (begin == std::string_view::npos) return nullptr;
  const std::string_view digits = text.substr(begin + kWord.size());
  std::uint64_t offset = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), offset).ec != std::errc()) return nullptr;
  return offset;
}

std::string now_utc() {
  const auto seconds = static_cast<std::time_t>(os::wall_clock_ns() / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace

std::string quarantined_name(const segment::VersionId& id, const std::string& file) {
  return id.name + "." + std::to_string(id.version) + "." + file;
}

std::string aside_report(const std::string& path, const segment::VersionId& id, const base::Error& why) {
  const base::Json json = {{"what", path},
                           {"name", id.name},
                           {"version", id.version},
                           {"why", why.text()},
                           {"code", base::code_name(why.code)},
                           {"offset", offset_in(why.cause)},
                           {"when", now_utc()}};
  return json.dump(2, ' ', true, base::Json::error_handler_t::replace) + "\n";
}

std::string quarantine_report(std::string file) {
  if (file.ends_with(kMoving)) file.resize(file.size() - std::strlen(kMoving));
  return file + ".json";
}

std::optional<QuarantinedSegment> parse_quarantined(std::string_view file, const std::string& name) {
  if (!file.starts_with(name + ".")) return std::nullopt;
  file.remove_prefix(name.size() + 1);
  const std::size_t dot = file.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto version = parse_version(file.substr(0, dot));
  file.remove_prefix(dot + 1);
  const std::size_t ending = file.rfind(kSegmentEnding);
  if (!version || ending == std::string_view::npos) return std::nullopt;
  const auto segment = segment::parse_file_name(file.substr(0, ending + kSegmentEnding.size()));
  if (!segment) return std::nullopt;
  return QuarantinedSegment{{name, *version, segment->attempt}, {}, segment->index, segment->count};
}

}  // namespace perdure::store

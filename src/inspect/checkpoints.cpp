#include "inspect/checkpoints.hpp"

#include <charconv>
#include <ctime>

#include "inspect/store_place.hpp"
#include "inspect/words.hpp"
#include "os/file.hpp"
#include "reader/branches.hpp"
#include "segment/manifest_codec.hpp"
#include "segment/reader.hpp"
#include "segment/version_ranges.hpp"

namespace perdure::inspect {

base::Result<CheckpointSpec> parse_checkpoint(const std::string& text) {
  const std::size_t at = text.find('@');
  CheckpointSpec spec{text.substr(0, at)};
  PERDURE_CHECK(segment::check_name(spec.name));
  if (at == std::string::npos) return spec;
  std::string digits = text.substr(at + 1);
  if (const std::size_t colon = digits.find(':'); colon != std::string::npos) {
    spec.branch = plan::parse_branch(std::string_view(digits).substr(0, colon));
    if (!spec.branch)
      return base::fail(PERDURE_INVALID_ARGUMENT, text.substr(0, 200), "what follows '@' is not a branch",
                        "write NAME@BRANCH:VERSION, e.g. nbody@3f9a12:12; perdure ls shows branches");
    digits.erase(0, colon + 1);
  }
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || version > INT64_MAX)
    return base::fail(PERDURE_INVALID_ARGUMENT, text.substr(0, 200), "what follows '@' is not a version",
                      "write NAME@VERSION, e.g. nbody@12");
  spec.version = version;
  return spec;
}

base::Error no_checkpoint(store::Store& store) {
  const auto& properties = store.properties();
  if (auto other = not_a_store(store)) return *other;
  return {PERDURE_NOT_FOUND, properties.location, "there is no checkpoint in this store",
          "see that it is the one that the program writes to; perdure config shows store.path", false};
}

namespace {

/// Lists the versions of the name on the requested line, and another branch that has the number.
std::string what_there_is(store::Store& store, const CheckpointSpec& spec,
                          const std::vector<store::VersionListing>& versions) {
  const auto branches = reader::branches_of(store, spec.name, versions);
  if (!branches) return {};
  std::vector<std::uint64_t> of_line;
  const store::VersionListing* newest = nullptr;
  for (const auto& one : versions) {
    const bool on_it = branches->has(one.id, spec.branch);
    if (on_it) of_line.push_back(one.id.version);
    if (!on_it && one.id.version == spec.version && (newest == nullptr || newest->id.attempt < one.id.attempt))
      newest = &one;
  }
  std::string text = segment::versions_there(std::move(of_line));
  if (!text.empty()) text += "; ";
  if (newest != nullptr) text += "a branch that was left has it: " + reader::branch_spec(newest->id) + "; ";
  return text;
}

/// Gives the directory of another name whose segments say `name`, after a rename by hand; empty: there is none.
std::string renamed_to(store::Store& store, const std::string& name, const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    const auto listed = store.list(directory);
    if (directory == name || !listed || listed->empty() || listed->front().segments.empty()) continue;
    const auto source = store.open(listed->front().segments.front());
    if (!source) continue;
    const auto manifest = segment::read_contents(**source);
    if (manifest && manifest->id.name == name) return directory;
  }
  return {};
}

}  // namespace

base::Error no_such_checkpoint(store::Store& store, const CheckpointSpec& spec) {
  const std::string location = store.properties().location;
  const auto names = store.names().value_or(std::vector<std::string>{});
  std::vector<std::string> known;
  std::vector<store::VersionListing> versions;
  for (const std::string& name : names) {
    auto listed = store.list(name);
    if (!listed || listed->empty()) continue;
    known.push_back(name);
    if (name == spec.name) versions = std::move(*listed);
  }
  if (known.empty()) return no_checkpoint(store);
  std::string object = spec.name, there;
  if (spec.version) object += " version " + std::to_string(*spec.version);
  if (spec.branch) object += " of branch " + plan::branch_text(*spec.branch);
  const std::string renamed = versions.empty() ? renamed_to(store, spec.name, known) : std::string();
  if (!renamed.empty())
    return {PERDURE_NOT_FOUND, object, "its directory was renamed to " + renamed + ", in " + location,
            "perdure rename " + spec.name + " " + renamed + ", or give the directory its old name back", false};
  const std::string near = meant(spec.name, known);
  if (!versions.empty())
    there = what_there_is(store, spec, versions);
  else if (!near.empty())
    there = "did you mean " + near + "? ";
  return {versions.empty() ? PERDURE_NOT_FOUND : PERDURE_MISMATCH, object, "no such checkpoint in " + location,
          there + "perdure ls " + shell_text({location}) + " lists what is there", false};
}

std::string local_time(std::uint64_t ns) {
  if (ns == 0) return {};
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) return {};
  char buffer[40];
  std::string text(buffer, std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S %z", &parts));
  constexpr std::size_t kMinutes = 2;
  if (text.size() > kMinutes) text.insert(text.size() - kMinutes, ":");
  return text;
}

std::string ranges_text(const std::vector<std::uint32_t>& ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(ascending[i]);
    if (last > i) text += "-" + std::to_string(ascending[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace perdure::inspect

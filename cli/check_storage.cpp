// The places on disk: the file tier and the store.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/check.hpp"
#include "config/directories.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

using base::format_bytes;
constexpr std::uint64_t kBlock = 1 << 20;
constexpr std::uint64_t kFewChunks = 16;

base::Result<double> write_rate(const std::string& directory, std::uint64_t bytes) {
  PERDURE_TRY(const auto scratch, Scratch::in(directory));
  PERDURE_TRY(const auto file, os::File::open(scratch.path() + "/sample", os::Open::create_new));
  const std::vector<std::byte> block(kBlock, std::byte{7});
  const std::uint64_t start = os::monotonic_ns();
  for (std::uint64_t done = 0; done < bytes; done += kBlock) PERDURE_CHECK(file.write(done, block));
  PERDURE_CHECK(file.sync());
  const double seconds = static_cast<double>(os::monotonic_ns() - start) * 1e-9;
  return static_cast<double>(bytes) / std::max(seconds, 1e-9) * 1e-9;
}

/// One place: can we write there, how much is free, how fast is it.
Check check_place(const std::string& name, const std::string& path, const std::string& option,
                  const DoctorOptions& options) {
  const std::string place = nearest_existing(path);
  auto space = os::space(place);
  if (!space) return {name, Verdict::problem, space.error().text(), "set " + option + " to a directory that is there"};
  const std::string where = fmt::format("{} ({}, {} free)", path, space->type, format_bytes(space->available_bytes));
  const bool measure = options.sample_bytes > 0 && space->available_bytes > 2 * options.sample_bytes;
  const auto rate = write_rate(place, measure ? options.sample_bytes : 0);
  if (!rate)
    return {name, Verdict::problem, where + ": " + rate.error().text(),
            "set " + option + " to a directory where you may write"};
  if (!measure && options.sample_bytes > 0)
    return {name, Verdict::warning, where + ": hardly any room left",
            "free space there or set " + option + " elsewhere"};
  return {name, Verdict::ok, where + (measure ? fmt::format(", writes {:.2f} GB/s with fsync", *rate) : ", writable"),
          ""};
}

}  // namespace

void judge_room(Check& check, const std::string& location, const os::Space& space, std::uint64_t chunk_bytes) {
  if (check.verdict == Verdict::problem || space.available_bytes / kFewChunks >= chunk_bytes) return;
  const bool none = space.available_bytes < chunk_bytes;
  const std::string chunk = format_bytes(chunk_bytes);
  check.verdict = none ? Verdict::problem : Verdict::warning;
  check.finding = fmt::format("{} ({}, {} free): ", location, space.type, format_bytes(space.available_bytes)) +
                  (none ? "no room for one chunk of " + chunk + ", so that checkpoints stay on the node"
                        : fmt::format("room for less than {} chunks of {}", kFewChunks, chunk));
  check.remedy = "free space there (perdure prune shows what retention would give up) or set store.path elsewhere";
}

std::vector<Check> check_file_tier(const config::Config& config, const DoctorOptions& options) {
  Check check = check_place("file tier", config::file_tier_root(config), "tier.file.path", options);
  const auto space = os::space(nearest_existing(config::file_tier_root(config)));
  if (check.verdict == Verdict::ok && space && space->type == "tmpfs") {
    check.verdict = Verdict::warning;
    check.finding += "; this is memory, not a disk";
    check.remedy = "set tier.file.path to a directory on a local disk";
  }
  return {check};
}

std::vector<Check> check_store(const config::Config& config, const DoctorOptions& options) {
  const std::string location = config.text("store.path");
  if (location.find("://") != std::string::npos)
    return {{"store", Verdict::warning, location + " is no directory: not checked",
             "perdure ls tells whether it can be reached"}};
  const auto listed = os::list_directory(location);
  if (!listed && listed.error().code != PERDURE_NOT_FOUND)
    return {{"store", Verdict::problem, listed.error().text(), "set store.path to a directory where you may write"}};
  Check check = check_place("store", location, "store.path", options);
  if (const auto space = os::space(nearest_existing(location)))
    judge_room(check, location, *space, config.bytes("chunk_bytes"));
  if (!listed && check.verdict == Verdict::ok) check.finding += "; it is made by the first checkpoint";
  return {check};
}

}  // namespace perdure::cli

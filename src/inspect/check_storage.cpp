// Checks the places on disk: the store, and the tiers other than memory.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "config/directories.hpp"
#include "inspect/check_cluster.hpp"
#include "inspect/store_people.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "store/store.hpp"

namespace perdure::inspect {
namespace {

using base::format_bytes;
constexpr std::uint64_t kBlock = 1 << 20;
constexpr std::uint64_t kProbe = 4 << 10;
constexpr std::uint64_t kFewChunks = 16;
constexpr std::uint64_t kFewFiles = 1000, kFilesOfAVersion = 4;  // files with their directories, on one node

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

/// Makes the file system calls of the publication of a segment, in their order.
base::Status try_to_publish(const std::string& directory) {
  PERDURE_TRY(const auto scratch, Scratch::in(directory));
  const std::string temporary = scratch.path() + "/.tmp-probe", published = scratch.path() + "/probe";
  const std::vector<std::byte> block(kProbe, std::byte{7});
  PERDURE_TRY(const auto file, os::File::open(temporary, os::Open::create_new));
  PERDURE_CHECK(file.preallocate(kProbe));
  PERDURE_CHECK(file.write(0, block));
  PERDURE_CHECK(file.sync());
  PERDURE_CHECK(os::rename_to_free(temporary, published));
  PERDURE_CHECK(os::sync_directory(scratch.path()));
  PERDURE_TRY(const auto back, os::read_file(published, kProbe));
  if (back != block) return base::fail(PERDURE_CORRUPT, published, "it reads back as something else than was written");
  PERDURE_CHECK(os::remove_file(published));
  PERDURE_TRY(const auto left, os::list_directory(scratch.path()));
  if (!left.empty()) return base::fail(PERDURE_IO, published, "it is still there after it was removed");
  return {};
}

/// Checks one place: whether we can write there, how much is free, and how fast it is.
Check check_place(const std::string& name, const std::string& path, const std::string& option,
                  const DoctorOptions& options) {
  const std::string place = nearest_existing(path);
  auto space = os::space(place);
  if (!space) return {name, Verdict::problem, space.error().text(), "set " + option + " to a directory that is there"};
  if (space->total_files != 0 && space->available_files == 0)
    return {name, Verdict::problem,
            fmt::format("{} ({}, {} free) can have no more files (inodes)", path, space->type,
                        format_bytes(space->available_bytes)),
            "remove files there (df -i counts them), or set " + option + " elsewhere"};
  const std::string where = fmt::format("{} ({}, {} free)", path, space->type, format_bytes(space->available_bytes));
  const bool measure = options.sample_bytes > 0 && space->available_bytes > 2 * options.sample_bytes;
  const auto rate = write_rate(place, measure ? options.sample_bytes : 0);
  if (!rate) return {name, Verdict::problem, where + ": " + rate.error().text(), remedy_of_place(rate.error(), option)};
  if (!measure && options.sample_bytes > 0)
    return {name, Verdict::warning, where + ": hardly any room left",
            "free space there or set " + option + " elsewhere"};
  return {name, Verdict::ok, where + (measure ? fmt::format(", writes {:.2f} GB/s with fsync", *rate) : ", writable"),
          ""};
}

void judge_place_to_be(Check& check, const std::string& location) {
  if (check.verdict != Verdict::ok) return;
  const std::string around = std::filesystem::path(location).parent_path().string();
  if (os::exists(around).value_or(false)) {
    check.finding += "; it is made by the first checkpoint";
    return;
  }
  check.verdict = Verdict::problem;
  check.finding = location + ": " + around + " is not there, in which it would be made";
  check.remedy = "mount its file system or correct store.path; for a new store: mkdir -p " + around;
}

void judge_people(Check& check, const std::string& location, const StorePeople& people) {
  if (check.verdict != Verdict::ok || (people.ours && !people.others_remove)) return;
  check.verdict = Verdict::warning;
  if (!people.ours) {
    check.finding += "; it belongs to user " + people.user + ", who can replace and remove all in it";
    check.remedy = "set store.path to a directory of your own, unless you trust them with your checkpoints";
    return;
  }
  check.finding += "; others can write in it: they can rename and remove what is yours";
  check.remedy = "chmod go-w " + location + ", or for a store that you share: chmod +t " + location;
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

void judge_free_files(Check& check, const std::string& location, const os::Space& space) {
  if (check.verdict == Verdict::problem || space.total_files == 0 || space.available_files >= kFewFiles) return;
  const bool none = space.available_files < kFilesOfAVersion;
  check.verdict = none ? Verdict::problem : Verdict::warning;
  check.finding = fmt::format("{} ({}, {} free) can have {} more files (inodes): ", location, space.type,
                              format_bytes(space.available_bytes), space.available_files) +
                  (none ? "no room for one checkpoint, so that checkpoints stay on the node"
                        : "each checkpoint takes some, for each node one");
  check.remedy = "remove files there (perdure prune shows what retention would give up) or set store.path elsewhere";
}

void judge_kind(Check& check, const os::Space& space) {
  if (check.verdict != Verdict::ok || !space.in_memory()) return;
  check.verdict = Verdict::warning;
  check.finding += "; this is memory: what is stored there is gone when the machine starts anew";
  check.remedy = "set store.path to a directory on a disk, for jobs on several nodes to one that all of them share";
}

std::vector<Check> check_disk_tiers(const config::Config& config, const DoctorOptions& options) {
  std::vector<Check> checks;
  for (const std::string& tier : config::known_tiers()) {
    if (tier == "memory") continue;  // check_memory_tier()
    const std::string root = config::tier_root(config, tier), option = "tier." + tier + ".path";
    const auto order = config.list("tier.order");
    const bool used = std::find(order.begin(), order.end(), tier) != order.end();
    if (auto wrong = used ? wrong_root(config, tier + " tier", tier) : std::nullopt) {
      checks.push_back(std::move(*wrong));
      continue;
    }
    Check check = check_place(tier + " tier", root, option, options);
    const auto space = os::space(nearest_existing(root));
    if (check.verdict == Verdict::ok && space && space->type == "tmpfs") {
      check.verdict = Verdict::warning;
      check.finding += "; this is memory, not a disk";
      check.remedy = "set " + option + " to a directory on a local disk";
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

std::vector<Check> check_store(const config::Config& config, const DoctorOptions& options) {
  const auto store = store::make_store(config.text("store.path"), config.below("store."));
  if (!store) return {{"store", Verdict::problem, store.error().text(), "correct store.path"}};
  const std::string location = (*store)->properties().directory;
  if (location.empty())
    return {{"store", Verdict::warning, (*store)->properties().location + " is no directory: not checked",
             "perdure ls tells whether it can be reached"}};
  const auto listed = os::list_directory(location);
  if (!listed && listed.error().code != PERDURE_NOT_FOUND)
    return {{"store", Verdict::problem, listed.error().text(), "set store.path to a directory where you may write"}};
  Check check = check_place("store", location, "store.path", options);
  if (const auto probed = try_to_publish(nearest_existing(location)); check.verdict != Verdict::problem && !probed)
    check = {"store", Verdict::problem, location + " takes no checkpoint: " + probed.error().text(),
             remedy_of_place(probed.error(), "store.path")};
  if (const auto space = os::space(nearest_existing(location))) {
    judge_room(check, location, *space, config.bytes("chunk_bytes"));
    judge_free_files(check, location, *space);
    judge_kind(check, *space);
    if (const auto quota = os::quota(nearest_existing(location)))
      judge_quota(check, location, *quota, config.bytes("chunk_bytes"));
  }
  if (!listed) judge_place_to_be(check, location);
  if (const auto people = store_people(location)) judge_people(check, location, *people);
  return {check};
}

}  // namespace perdure::inspect

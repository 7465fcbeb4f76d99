#include "store/name_records.hpp"

#include <algorithm>
#include <array>

#include "os/system.hpp"

namespace perdure::store {
namespace {

constexpr const char* kLock = ".owner.lock";
constexpr const char* kBeingWritten = ".tmp-";  // after a record's name, from os::write_file_atomically
constexpr std::array kRecords{kOwnerRecord, kRunnerRecord, kIncarnationRecord, kForksRecord, kHaltRecord};
constexpr unsigned kLockTries = 250;
constexpr std::uint64_t kLockPause_ns = 2'000'000;

bool is_being_written(const std::string& file) {
  return std::any_of(kRecords.begin(), kRecords.end(),
                     [&](const char* record) { return file.starts_with(std::string(record) + kBeingWritten); });
}

base::Result<os::File> lock(const os::Directory& directory) {
  PERDURE_TRY(auto file, directory.open_file(kLock, os::Open::create));
  for (unsigned tries = 1;; ++tries) {
    const auto locked = file.try_lock();
    if (locked || locked.error().code != PERDURE_BUSY) return file;
    if (tries == kLockTries) return base::fail(locked.error());
    os::sleep_ns(kLockPause_ns);
  }
}

// Their writers were killed: nobody else writes one now.
base::Status remove_leftovers(const os::Directory& directory) {
  PERDURE_TRY(const auto entries, directory.list());
  for (const auto& entry : entries)
    if (is_being_written(entry.name)) PERDURE_CHECK(directory.remove_file(entry.name));
  return {};
}

}  // namespace

base::Result<os::File> lock_records(const os::Directory& directory) {
  PERDURE_TRY(auto locked, lock(directory));
  PERDURE_CHECK(remove_leftovers(directory));
  return locked;
}

bool is_name_record(const std::string& file) {
  return file == kLock || is_being_written(file) || std::find(kRecords.begin(), kRecords.end(), file) != kRecords.end();
}

}  // namespace perdure::store

#include "portable/target.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>

#include "base/hash.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::portable {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() > end.size() && std::string_view(text).substr(text.size() - end.size()) == end;
}

std::string prefix_of(const std::string& path, FileState what) {
  return "." + path.substr(path.rfind('/') + 1) + (what == FileState::fresh ? ".tmp-" : ".old-");
}

/// Identifies the name space in which process numbers mean the same as here.
std::string own_space() {
  std::array<char, 9> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x",
                static_cast<unsigned>(base::hash64(base::as_bytes(os::process_space()))));
  return digits.data();
}

/// Tells whether that is the name of a leftover of a dead process of this machine. Processes of other machines, and of
/// this one before its last boot, cannot be asked.
bool is_left(const std::string& name, const std::string& prefix) {
  const std::string known = prefix + own_space() + "-";
  if (!name.starts_with(known)) return false;
  std::uint64_t process = 0, started = 0;
  const char* const end = name.data() + name.size();
  const auto first = std::from_chars(name.data() + known.size(), end, process, 16);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return false;
  const auto begin = std::from_chars(first.ptr + 1, end, started, 16);
  if (begin.ec != std::errc() || begin.ptr == end || *begin.ptr != '-') return false;
  return process <= INT32_MAX && !os::process_lives(static_cast<std::int32_t>(process), started);
}

}  // namespace

base::Result<Format> format_of(const std::string& path) {
  if (ends_with(path, ".h5") || ends_with(path, ".hdf5")) return Format::hdf5;
  if (ends_with(path, ".zarr")) return Format::zarr;
  return base::fail(PERDURE_INVALID_ARGUMENT, path, "its ending says no format",
                    "FILE.h5 is written as HDF5, DIRECTORY.zarr as Zarr");
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string temporary_beside(const std::string& path, FileState what) {
  const std::int32_t process = os::process_id();
  std::array<char, 64> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "-%x-%llx-%06x", static_cast<unsigned>(process),
                static_cast<unsigned long long>(os::process_started(process)),
                static_cast<unsigned>(os::random_u64() % (1U << 24)));
  return parent_of(path) + "/" + prefix_of(path, what) + own_space() + numbers.data();
}

// Leftovers that cannot be removed, because they are another user's or were removed meanwhile, are left alone.
void clean_beside(const std::string& path) {
  const auto entries = os::list_directory(parent_of(path));
  if (!entries) return;  // the writer's error is clearer
  for (const os::Entry& entry : *entries) {
    const std::string left = parent_of(path) + "/" + entry.name;
    if (is_left(entry.name, prefix_of(path, FileState::old))) {
      const auto taken = os::exists(path);
      if (taken) (void)(*taken ? os::remove_tree(left) : os::rename_to_free(left, path));
    } else if (is_left(entry.name, prefix_of(path, FileState::fresh))) {
      (void)os::remove_tree(left);
    }
  }
}

base::Status check_free(const std::string& path, Format format, bool replace) {
  PERDURE_TRY(const bool there, os::exists(path));
  if (!there) return {};
  if (!replace)
    return base::fail(PERDURE_EXISTS, path, "it is there already", "choose another name, or replace it with --force");
  // Protects a directory of other files, or a file in the place of a directory, from being replaced.
  const bool directory = os::list_directory(path).has_value();
  if (format == Format::hdf5 && directory) return base::fail(PERDURE_EXISTS, path, "it is a directory");
  if (format == Format::zarr && !os::exists(path + "/zarr.json").value_or(false))
    return base::fail(PERDURE_EXISTS, path, "it is there, and no Zarr group of format 3", "choose another name");
  return {};
}

}  // namespace perdure::portable

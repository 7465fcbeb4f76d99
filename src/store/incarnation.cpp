#include "store/incarnation.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/hash.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "store/store.hpp"

namespace perdure::store {
namespace {

constexpr const char* kIncarnationFile = ".incarnation";
constexpr std::size_t kMostIncarnationBytes = 4096;

std::string drawn() {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(os::random_u64()));
  return text.data();
}

base::Status write_new(const std::string& path, const std::string& content) {
  PERDURE_TRY(os::File file, os::File::open(path, os::Open::create_new));
  PERDURE_CHECK(file.write(0, base::as_bytes(content)));
  return file.sync_data();
}

// Killed writers' files stay: they are as small as that, and one name has few.
base::Status draw(const std::string& directory) {
  const std::string text = drawn(), path = directory + "/" + kIncarnationFile, temporary = path + "." + text;
  base::Status written = write_new(temporary, text + "\n");
  if (written) written = os::rename_to_free(temporary, path);
  if (!written) (void)os::remove_file(temporary);
  if (!written && written.error().code != PERDURE_EXISTS) return written;
  return os::sync_directory(directory);
}

}  // namespace

// A damaged one counts as another: then nodes bring there again what they have, which finds itself there.
base::Result<std::uint64_t> read_incarnation(const std::string& directory) {
  const auto content = os::read_file(directory + "/" + kIncarnationFile, kMostIncarnationBytes);
  if (!content && content.error().code == PERDURE_NOT_FOUND) return kNoIncarnation;
  if (!content) return base::fail(content.error());
  return std::max(base::hash64(*content), kNoIncarnation + 1);
}

base::Result<std::uint64_t> make_incarnation(const std::string& directory) {
  PERDURE_TRY(const std::uint64_t there, read_incarnation(directory));
  if (there != kNoIncarnation) return there;
  PERDURE_CHECK(draw(directory));
  return read_incarnation(directory);
}

bool is_incarnation_file(const std::string& name) {
  return name == kIncarnationFile || name.starts_with(std::string(kIncarnationFile) + ".");
}

}  // namespace perdure::store

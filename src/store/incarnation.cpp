#include "store/incarnation.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/hash.hpp"
#include "os/system.hpp"
#include "store/name_records.hpp"
#include "store/store.hpp"

namespace perdure::store {
namespace {

constexpr std::size_t kMostIncarnationBytes = 4096;

base::Status draw(const os::Directory& directory) {
  PERDURE_TRY(const auto locked, lock_records(directory));
  PERDURE_TRY(const std::uint64_t there, read_incarnation(directory));
  if (there != kNoIncarnation) return {};
  return directory.write_file_atomically(kIncarnationRecord, base::as_bytes(drawn_incarnation()));
}

}  // namespace

std::string drawn_incarnation() {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(os::random_u64()));
  return std::string(text.data()) + "\n";
}

std::uint64_t incarnation_of(base::ConstByteSpan record) { return std::max(base::hash64(record), kNoIncarnation + 1); }

// A damaged one counts as another: then nodes bring their versions again, and find them there.
base::Result<std::uint64_t> read_incarnation(const os::Directory& directory) {
  const auto content = directory.read_file(kIncarnationRecord, kMostIncarnationBytes);
  if (!content && content.error().code == PERDURE_NOT_FOUND) return kNoIncarnation;
  if (!content) return base::fail(content.error());
  return incarnation_of(*content);
}

base::Result<std::uint64_t> make_incarnation(const os::Directory& directory) {
  PERDURE_TRY(const std::uint64_t there, read_incarnation(directory));
  if (there != kNoIncarnation) return there;
  PERDURE_CHECK(draw(directory));
  return read_incarnation(directory);
}

}  // namespace perdure::store

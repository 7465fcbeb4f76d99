#include "tier/incarnation.hpp"

#include <span>

#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::tier {

base::Result<std::uint64_t> read_or_make_incarnation(const std::string& directory, bool existing) {
  std::uint64_t value = 0;
  auto raw = std::as_writable_bytes(std::span(&value, 1));
  PERDURE_TRY(const auto file,
              os::File::open(directory + "/incarnation", existing ? os::Open::read : os::Open::create));
  PERDURE_TRY(const std::uint64_t size, file.size());
  if (size == sizeof value) {
    PERDURE_CHECK(file.read(0, raw));
    return value;
  }
  if (existing) return base::fail(PERDURE_NOT_FOUND, file.path(), "it is not whole");
  value = os::random_u64();
  PERDURE_CHECK(file.write(0, raw));
  return value;
}

}  // namespace perdure::tier

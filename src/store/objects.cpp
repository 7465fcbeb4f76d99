#include "store/objects.hpp"

#include <optional>

namespace perdure::store {
namespace {

constexpr int kMostReadings = 100;  // each one but the last met a new object

}  // namespace

base::Result<std::optional<WholeObject>> get_whole(Objects& objects, const std::string& key, std::uint64_t most) {
  for (int reading = 0; reading < kMostReadings; ++reading) {
    const auto there = objects.stat(key);
    if (!there && there.error().code == PERDURE_NOT_FOUND) return std::nullopt;
    if (!there) return base::fail(there.error());
    if (there->bytes > most)
      return base::fail(PERDURE_CORRUPT, objects.properties().location + "/" + key,
                        "it has " + std::to_string(there->bytes) + " bytes, more than " + std::to_string(most));
    WholeObject object{std::string(there->bytes, '\0'), there->tag};
    const auto target = base::ByteSpan(reinterpret_cast<std::byte*>(object.text.data()), object.text.size());
    const base::Status read = objects.get(key, 0, target, there->tag);
    if (read) return std::optional(std::move(object));
    if (read.error().code != PERDURE_NOT_FOUND) return base::fail(read.error());
  }
  return base::fail(PERDURE_BUSY, objects.properties().location + "/" + key, "it changes each time it is read", "",
                    true);
}

}  // namespace perdure::store

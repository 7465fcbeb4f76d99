#include "store/halt_record.hpp"

#include <charconv>
#include <string_view>

#include "base/hash.hpp"
#include "os/directory.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"
#include "store/name_records.hpp"

namespace perdure::store {
namespace {

constexpr std::size_t kMostHaltBytes = 64;
constexpr std::string_view kHalt = "halt ";

base::Result<os::Directory> place_of(const Store& store, const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_TRY(const auto root, os::Directory::open(store.properties().directory));
  return root.open_directory(name);
}

// Writes the number twice, the second time as its hash: a flipped bit must not make a program end at another time.
std::string halt_text(std::uint64_t at_ns) {
  const std::string number = std::to_string(at_ns);
  return std::string(kHalt) + number + " " + std::to_string(base::hash64(base::as_bytes(number))) + "\n";
}

base::Result<std::uint64_t> parse(std::string_view text, const std::string& path) {
  std::uint64_t at_ns = 0;
  const bool begins = text.starts_with(kHalt);
  const char* const number = text.data() + (begins ? kHalt.size() : 0);
  const auto read = std::from_chars(number, text.data() + text.size(), at_ns);
  if (begins && read.ec == std::errc() && text == halt_text(at_ns)) return at_ns;
  return base::fail(PERDURE_CORRUPT, path, "it is no request to halt", "perdure halt NAME --off removes it");
}

}  // namespace

base::Result<std::uint64_t> halt_at(const Store& store, const std::string& name) {
  if (store.properties().directory.empty()) return std::uint64_t{0};
  const auto place = place_of(store, name);
  if (!place && place.error().code == PERDURE_NOT_FOUND) return std::uint64_t{0};
  if (!place) return base::fail(place.error());
  PERDURE_TRY(const auto found, place->identity());
  if (found.user != os::user_id() && found.user != 0) return std::uint64_t{0};
  const auto content = place->read_file(kHaltRecord, kMostHaltBytes);
  if (!content && content.error().code == PERDURE_NOT_FOUND) return std::uint64_t{0};
  if (!content) return base::fail(content.error());
  return parse({reinterpret_cast<const char*>(content->data()), content->size()}, place->path() + "/" + kHaltRecord);
}

base::Status set_halt(const Store& store, const std::string& name, std::uint64_t at_ns) {
  const std::string object = "checkpoint " + name;
  if (store.properties().directory.empty())
    return base::fail(PERDURE_UNSUPPORTED, object, "this store does not keep when it is to halt");
  const auto place = place_of(store, name);
  if (!place && place.error().code == PERDURE_NOT_FOUND)
    return base::fail(PERDURE_NOT_FOUND, object, "there is nothing of it in this store");
  if (!place) return base::fail(place.error());
  PERDURE_TRY(const auto locked, lock_records(*place));
  if (at_ns == 0) return place->remove_file(kHaltRecord);
  return place->write_file_atomically(kHaltRecord, base::as_bytes(halt_text(at_ns)));
}

}  // namespace perdure::store

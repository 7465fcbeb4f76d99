#include "store/halt_record.hpp"

#include <charconv>

#include "base/hash.hpp"

namespace perdure::store {
namespace {

constexpr std::string_view kHalt = "halt ";

}  // namespace

std::string halt_text(std::uint64_t at_ns) {
  const std::string number = std::to_string(at_ns);
  return std::string(kHalt) + number + " " + std::to_string(base::hash64(base::as_bytes(number))) + "\n";
}

base::Result<std::uint64_t> parse_halt(std::string_view text, const std::string& path) {
  std::uint64_t at_ns = 0;
  const bool begins = text.starts_with(kHalt);
  const char* const number = text.data() + (begins ? kHalt.size() : 0);
  const auto read = std::from_chars(number, text.data() + text.size(), at_ns);
  if (begins && read.ec == std::errc() && text == halt_text(at_ns)) return at_ns;
  return base::fail(PERDURE_CORRUPT, path, "it is no request to halt", "perdure halt NAME --off removes it");
}

base::Result<std::uint64_t> halt_at(Store& store, const std::string& name) {
  Records* const records = store.records();
  return records == nullptr ? base::Result<std::uint64_t>(std::uint64_t{0}) : records->halt(name);
}

base::Status set_halt(Store& store, const std::string& name, std::uint64_t at_ns) {
  Records* const records = store.records();
  if (records != nullptr) return records->set_halt(name, at_ns);
  return base::fail(PERDURE_UNSUPPORTED, "checkpoint " + name, "this store does not keep when it is to halt");
}

}  // namespace perdure::store

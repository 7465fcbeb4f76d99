#include "store/posix_records.hpp"

#include "os/system.hpp"
#include "segment/manifest_codec.hpp"
#include "store/forks.hpp"
#include "store/halt_record.hpp"
#include "store/name_records.hpp"
#include "store/posix_removal.hpp"

namespace perdure::store {

using base::Result;
using base::Status;

Result<std::optional<Owner>> PosixRecords::runner(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(place_.root());
  PERDURE_TRY(const auto place, name_if_there(place_, name));
  if (!place) return std::nullopt;
  return read_runner(*place);
}

Status PosixRecords::set_runner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(place_.root());
  PERDURE_TRY(const auto place, name_if_there(place_, name));
  if (!place) return base::fail(PERDURE_NOT_FOUND, "checkpoint " + name, "there is nothing of it in this store");
  return replace_runner(*place, expected, next);
}

Result<std::vector<plan::Fork>> PosixRecords::forks(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(place_.root());
  PERDURE_TRY(const auto place, name_if_there(place_, name));
  if (!place) return std::vector<plan::Fork>();
  return read_forks(*place);
}

Status PosixRecords::set_forks(const std::string& name, const std::vector<plan::Fork>& forks) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_TRY(const auto place, place_.make_name(name));
  return write_forks(place, forks);
}

Result<std::uint64_t> PosixRecords::halt(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(place_.root());
  PERDURE_TRY(const auto place, name_if_there(place_, name));
  if (!place) return std::uint64_t{0};
  PERDURE_TRY(const auto found, place->identity());
  if (found.user != os::user_id() && found.user != 0) return std::uint64_t{0};
  const auto content = place->read_file(kHaltRecord, kMostHaltBytes);
  if (!content && content.error().code == PERDURE_NOT_FOUND) return std::uint64_t{0};
  if (!content) return base::fail(content.error());
  return parse_halt({reinterpret_cast<const char*>(content->data()), content->size()}, place->path_of(kHaltRecord));
}

Status PosixRecords::set_halt(const std::string& name, std::uint64_t at_ns) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(place_.root());
  PERDURE_TRY(const auto place, name_if_there(place_, name));
  if (!place) return base::fail(PERDURE_NOT_FOUND, "checkpoint " + name, "there is nothing of it in this store");
  PERDURE_TRY(const auto locked, lock_records(*place));
  if (at_ns == 0) return place->remove_file(kHaltRecord);
  return place->write_file_atomically(kHaltRecord, base::as_bytes(halt_text(at_ns)));
}

}  // namespace perdure::store

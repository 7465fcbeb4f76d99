#include "store/posix_records.hpp"

#include "segment/manifest_codec.hpp"
#include "store/forks.hpp"
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

}  // namespace perdure::store

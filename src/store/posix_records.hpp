#pragma once
// Keeps the small records of a posix store: files beside the versions of a name (name_records.hpp). Use it inside this
// module only.
#include "store/posix_place.hpp"
#include "store/store.hpp"

namespace perdure::store {

class PosixRecords : public Records {
 public:
  explicit PosixRecords(const PosixPlace& place) : place_(place) {}
  base::Result<std::optional<Owner>> runner(const std::string& name) override;
  base::Status set_runner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) override;
  base::Result<std::vector<plan::Fork>> forks(const std::string& name) override;
  base::Status set_forks(const std::string& name, const std::vector<plan::Fork>& forks) override;
  base::Result<std::uint64_t> halt(const std::string& name) override;
  base::Status set_halt(const std::string& name, std::uint64_t at_ns) override;

 private:
  const PosixPlace& place_;
};

}  // namespace perdure::store

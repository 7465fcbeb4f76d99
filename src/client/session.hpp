#pragma once
// What an application process holds: the state behind a perdure_t. The C functions check arguments and call these;
// collective calls are those that perdure.h marks so. Every call is made under the handle's mutex (capi), so nothing
// here is thread-safe by itself.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/memory.hpp"
#include "client/job.hpp"

namespace perdure::client {

class VersionReader;

class Session {
 public:
  static base::Result<std::unique_ptr<Session>> open(std::unique_ptr<comm::Communicator> comm, const char* options);

  base::Status protect(const capture::Region& region);
  base::Status unprotect(std::int32_t id);
  base::Status checkpoint(const std::string& name, std::int64_t version);
  base::Result<std::uint64_t> latest(const std::string& name);
  base::Result<segment::RegionEntry> stored_size(const std::string& name, std::int64_t version, std::int32_t id);
  /// `ids` nothing: all protected regions.
  base::Status restore(const std::string& name, std::int64_t version,
                       const std::optional<std::vector<std::int32_t>>& ids);
  base::Status wait(const std::string& name, std::int64_t version, int level, double timeout_s);
  base::Result<perdure_level> level_reached(const std::string& name, std::int64_t version);
  /// `known` has what this process knows by itself also where the engine does not answer.
  base::Status progress(perdure_progress& known);
  base::Result<std::string> next_report();
  base::Status retire(const std::string& name, std::int64_t version);
  base::Status close();
  std::int32_t process() const { return process_; }

 private:
  explicit Session(std::unique_ptr<Job> job);
  base::Status check_chunks(const capture::Region& region) const;
  void tell_step(std::uint64_t entered_ns);
  base::Status capture(const segment::VersionId& id);
  struct Outcome;
  base::Result<Outcome> restore_chosen(VersionReader& reader, capture::Target& target);
  base::Status restore_newest(VersionReader& reader, std::optional<capture::MemoryTarget>& target,
                              const Opening& opening, const base::Status& ready);

  std::unique_ptr<Job> job_;
  capture::RegionTable regions_;
  std::uint64_t left_ns_ = 0;  // the last checkpoint; 0: the time since says nothing
  perdure_progress progress_{};
  std::int32_t process_ = 0;
};

}  // namespace perdure::client

#include "protected_job.hpp"

namespace perdure::redundancy_bench {
namespace {

constexpr const char* kCheckpoint = "bench";

}  // namespace

std::string JobOptions::text() const {
  std::string text =
      "job=" + name + ";store.path=" + directory + "/store-" + name + ";node.path=" + directory +
      ";tier.order=memory;engine.idle_exit=1;retention.keep_last=1;engine.mode=" + engine +
      (chunk.empty() ? "" : ";chunk_bytes=" + chunk) + ";node.ranks_per_node=" + std::to_string(ranks_per_node) +
      ";redundancy.scheme=" + scheme + ";redundancy.group_size=" + std::to_string(group_size) +
      ";redundancy.parities=" + std::to_string(parities) + ";flush.max_bandwidth=" + std::to_string(flush_bytes_per_s);
  return more.empty() ? text : text + ";" + more;
}

base::Result<std::unique_ptr<ProtectedJob>> ProtectedJob::open(const JobOptions& options) {
  char message[1024] = {};
  perdure_t* handle = nullptr;
  const perdure_status status =
      perdure_open_mpi(MPI_COMM_WORLD, options.text().c_str(), &handle, message, sizeof message);
  if (status != PERDURE_OK) return base::fail(status, "open, scheme " + options.scheme, message);
  return std::unique_ptr<ProtectedJob>(new ProtectedJob(handle));
}

ProtectedJob::~ProtectedJob() { (void)close(); }

base::Status ProtectedJob::outcome(perdure_status status, const char* call) const {
  if (status == PERDURE_OK) return {};
  return base::fail(status, call, perdure_error_text(handle_));
}

base::Status ProtectedJob::protect(std::vector<char>& data) {
  return outcome(perdure_protect(handle_, 1, data.data(), 1, data.size()), "protect");
}

base::Status ProtectedJob::checkpoint(std::int64_t version) {
  return outcome(perdure_checkpoint(handle_, kCheckpoint, version), "checkpoint");
}

base::Status ProtectedJob::wait(std::int64_t version, perdure_level level) {
  return outcome(perdure_wait(handle_, kCheckpoint, version, level, PERDURE_FOREVER), "wait");
}

base::Status ProtectedJob::retire(std::int64_t version) {
  return outcome(perdure_retire(handle_, kCheckpoint, version), "retire");
}

base::Result<std::int64_t> ProtectedJob::restore() {
  PERDURE_CHECK(outcome(perdure_restore(handle_, kCheckpoint, PERDURE_LATEST), "restore"));
  perdure_progress progress{};
  PERDURE_CHECK(outcome(perdure_get_progress(handle_, &progress), "progress"));
  return progress.restored_version;
}

base::Status ProtectedJob::close() {
  if (handle_ == nullptr) return {};
  const perdure_status status = perdure_close(&handle_);
  return status == PERDURE_OK ? base::Status{}
                              : base::fail(status, "close", "what was captured did not all reach the store");
}

std::vector<std::string> ProtectedJob::reports() {
  std::vector<std::string> all;
  char text[4096];
  while (perdure_next_report(handle_, text, sizeof text) == PERDURE_OK) all.emplace_back(text);
  return all;
}

}  // namespace perdure::redundancy_bench

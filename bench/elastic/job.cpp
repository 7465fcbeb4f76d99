#include "job.hpp"

namespace perdure::elastic_bench {

std::string Places::options() const {
  const std::string text = "job=elastic;store.path=" + store_path() + ";node.path=" + directory + "/" + node +
                           ";tier.order=memory;retention.keep_last=1";
  return more.empty() ? text : text + ";" + more;
}

base::Result<std::unique_ptr<Job>> Job::open(const Places& places) {
  char message[1024] = {};
  perdure_t* handle = nullptr;
  const perdure_status status =
      perdure_open_mpi(MPI_COMM_WORLD, places.options().c_str(), &handle, message, sizeof message);
  if (status != PERDURE_OK) return base::fail(status, "open", message);
  return std::unique_ptr<Job>(new Job(handle));
}

Job::~Job() { (void)close(); }

base::Status Job::outcome(perdure_status status, const char* call) const {
  if (status == PERDURE_OK) return {};
  return base::fail(status, call, perdure_error_text(handle_));
}

base::Status Job::close() {
  if (handle_ == nullptr) return {};
  const perdure_status status = perdure_close(&handle_);
  return status == PERDURE_OK ? base::Status{} : base::fail(status, "close", perdure_error_text(nullptr));
}

}  // namespace perdure::elastic_bench

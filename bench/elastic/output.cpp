#include "output.hpp"

namespace perdure::elastic_bench {
namespace {

class NoOutput : public Output {
 public:
  base::Status write(std::int64_t) override { return {}; }
  base::Status finish() override { return {}; }
  base::Status read(std::int64_t) override { return {}; }
  bool keeps() const override { return false; }
};

base::Status outcome_of(int done, const char* call) {
  if (done == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(done, text, &length);
  return base::fail(PERDURE_IO, call, text);
}

/// Writes one file, which it overwrites each time and makes durable before the call returns.
class SharedFile : public Output {
 public:
  static base::Result<std::unique_ptr<Output>> open(Lattice& lattice, const std::string& path) {
    std::unique_ptr<SharedFile> output(new SharedFile(lattice));
    PERDURE_CHECK(outcome_of(
        MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &output->file_),
        "MPI_File_open"));
    PERDURE_CHECK(outcome_of(MPI_File_set_view(output->file_, 0, MPI_DOUBLE, output->in_file_, "native", MPI_INFO_NULL),
                             "set_view"));
    return output;
  }
  ~SharedFile() override {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
    MPI_Type_free(&in_file_);
    MPI_Type_free(&in_memory_);
  }
  base::Status write(std::int64_t) override {
    PERDURE_CHECK(outcome_of(
        MPI_File_write_at_all(file_, 0, lattice_.values().data(), 1, in_memory_, MPI_STATUS_IGNORE), "write_at_all"));
    return outcome_of(MPI_File_sync(file_), "sync");
  }
  base::Status finish() override { return {}; }
  base::Status read(std::int64_t) override {
    return outcome_of(MPI_File_read_at_all(file_, 0, lattice_.values().data(), 1, in_memory_, MPI_STATUS_IGNORE),
                      "read_at_all");
  }

 private:
  explicit SharedFile(Lattice& lattice) : lattice_(lattice) {
    constexpr int kBorder = static_cast<int>(Lattice::kGhosts);
    int whole[2], mine[2], begin[2], memory[2];
    const int ghosts[2] = {kBorder, kBorder};
    for (unsigned d = 0; d < 2; ++d) {
      whole[d] = static_cast<int>(lattice.whole().extent(d));
      mine[d] = static_cast<int>(lattice.mine().extent(d));
      begin[d] = static_cast<int>(lattice.mine().begin[d]);
      memory[d] = mine[d] + 2 * kBorder;
    }
    MPI_Type_create_subarray(2, whole, mine, begin, MPI_ORDER_C, MPI_DOUBLE, &in_file_);
    MPI_Type_create_subarray(2, memory, mine, ghosts, MPI_ORDER_C, MPI_DOUBLE, &in_memory_);
    MPI_Type_commit(&in_file_);
    MPI_Type_commit(&in_memory_);
  }
  Lattice& lattice_;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Datatype in_file_ = MPI_DATATYPE_NULL, in_memory_ = MPI_DATATYPE_NULL;
};

class Checkpoints : public Output {
 public:
  static base::Result<std::unique_ptr<Output>> open(Lattice& lattice, const Places& places) {
    PERDURE_TRY(auto job, Job::open(places));
    const std::uint64_t extents[2] = {lattice.whole().end[0], lattice.whole().end[1]};
    const std::uint64_t ghosts[2] = {Lattice::kGhosts, Lattice::kGhosts};
    perdure_array array{};
    array.name = "field";
    array.type = "f8";
    array.dimensions = 2;
    array.extents = extents;
    array.ghosts = ghosts;
    PERDURE_CHECK(
        job->outcome(perdure_protect_block(job->get(), 1, &array, nullptr, lattice.first()), "protect_block"));
    return std::unique_ptr<Output>(new Checkpoints(std::move(job)));
  }
  base::Status write(std::int64_t number) override {
    last_ = number;
    return job_->outcome(perdure_checkpoint(job_->get(), "stencil", number), "checkpoint");
  }
  base::Status finish() override {
    return job_->outcome(perdure_wait(job_->get(), "stencil", last_, PERDURE_LEVEL_STORE, PERDURE_FOREVER), "wait");
  }
  base::Status read(std::int64_t number) override {
    return job_->outcome(perdure_restore(job_->get(), "stencil", number), "restore");
  }

 private:
  explicit Checkpoints(std::unique_ptr<Job> job) : job_(std::move(job)) {}
  std::unique_ptr<Job> job_;
  std::int64_t last_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<Output>> make_output(const std::string& kind, Lattice& lattice, const Places& places) {
  if (kind == "shared-file") return SharedFile::open(lattice, places.store_path() + "-shared-file");
  if (kind == "perdure") return Checkpoints::open(lattice, places);
  return std::unique_ptr<Output>(new NoOutput);
}

}  // namespace perdure::elastic_bench

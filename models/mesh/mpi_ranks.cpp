#include "mesh/mpi_ranks.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace perdure::mesh {
namespace {

constexpr int kTag = 7;
// MPI counts in int, so a longer message is sent in several parts.
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

void must(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string("mesh: ") + what + " failed: " + text);
}

class MpiRanks final : public Ranks {
 public:
  explicit MpiRanks(MPI_Comm communicator) {
    must(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
  }
  ~MpiRanks() override { MPI_Comm_free(&communicator_); }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(std::span<const Message> receives, std::span<const Message> sends) override {
    requests_.clear();
    for (const Message& message : receives)
      in_parts(message, [&](std::byte* first, int bytes, MPI_Request* request) {
        return MPI_Irecv(first, bytes, MPI_BYTE, message.peer, kTag, communicator_, request);
      });
    for (const Message& message : sends)
      in_parts(message, [&](std::byte* first, int bytes, MPI_Request* request) {
        return MPI_Isend(first, bytes, MPI_BYTE, message.peer, kTag, communicator_, request);
      });
    must(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

  void combine(std::span<double> values, Combine how) override {
    const MPI_Op operation = how == Combine::sum ? MPI_SUM : how == Combine::least ? MPI_MIN : MPI_MAX;
    must(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, operation,
                       communicator_),
         "MPI_Allreduce");
  }
  void combine(std::span<std::int64_t> sums) override {
    must(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_INT64_T, MPI_SUM, communicator_),
         "MPI_Allreduce");
  }

 private:
  template <class Begin>
  void in_parts(const Message& message, const Begin& begin) {
    for (std::size_t at = 0; at < message.bytes.size(); at += kMostBytes) {
      const auto bytes = static_cast<int>(std::min(kMostBytes, message.bytes.size() - at));
      must(begin(message.bytes.data() + at, bytes, &requests_.emplace_back(MPI_REQUEST_NULL)), "a message");
    }
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Ranks> mpi_ranks(MPI_Comm communicator) { return std::make_unique<MpiRanks>(communicator); }

}  // namespace perdure::mesh

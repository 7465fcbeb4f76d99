#include "exchange.hpp"

#include <mpi.h>

#include <algorithm>
#include <span>
#include <thread>

#include "os/file.hpp"
#include "references.hpp"

namespace perdure::micro {
namespace {

constexpr std::uint64_t kWriteBytes = 1U << 20;

// Adds the time of `work`.
template <class Work>
auto added_to(double& seconds, Work work) {
  const double begin = bench::now_s();
  auto result = work();
  seconds += bench::now_s() - begin;
  return result;
}

void keep_first(base::Status& first, base::Status next) {
  if (first) first = std::move(next);
}

}  // namespace

const char* name_of(ExchangeMode mode) {
  switch (mode) {
    case ExchangeMode::partner:
      return "partner";
    case ExchangeMode::sequential:
      return "sequential";
    case ExchangeMode::interleaved:
      return "interleaved";
    case ExchangeMode::overlapped:
      return "overlapped";
  }
  return "";
}

bool by_chunks(ExchangeMode mode) { return mode == ExchangeMode::interleaved || mode == ExchangeMode::overlapped; }

Exchange::Exchange(ExchangeMode mode, std::uint64_t chunk_bytes, Buddies buddies, const std::string& directory,
                   const std::vector<char>& data)
    : mode_(mode),
      chunk_bytes_(by_chunks(mode) ? std::min<std::uint64_t>(chunk_bytes, data.size()) : data.size()),
      buddies_(buddies),
      data_(data),
      reread_(mode == ExchangeMode::partner ? data.size() : 0),
      received_(chunk_bytes_) {
  local_.path = directory + "/local";
  copy_.path = directory + "/copy";
}

base::Status Exchange::once(OperationTimes& times) {
  if (mode_ == ExchangeMode::overlapped) {
    base::Status written;
    std::thread writer([&] { written = write_local(times); });
    base::Status status = exchange_and_copy(times);
    writer.join();
    keep_first(status, std::move(written));
    return status;
  }
  base::Status status = write_local(times);
  if (mode_ == ExchangeMode::partner) keep_first(status, reread(times));
  keep_first(status, exchange_and_copy(times));
  return status;
}

base::Status Exchange::remove() const {
  PERDURE_CHECK(os::remove_file(local_.path));
  return os::remove_file(copy_.path);
}

base::Status Exchange::write_local(OperationTimes& times) const {
  const WriteOptions options{.mode = FileMode::deleted, .block_bytes = kWriteBytes, .sync = false};
  return added_to(times.write, [&] { return write_once(local_, options, data_); });
}

base::Status Exchange::reread(OperationTimes& times) {
  return added_to(times.read, [&] { return read_back(local_, kWriteBytes, reread_); });
}

base::Status Exchange::exchange_and_copy(OperationTimes& times) {
  const std::vector<char>& sent = mode_ == ExchangeMode::partner ? reread_ : data_;
  auto file = added_to(times.copy, [&] { return os::File::open(copy_.path, os::Open::create_new); });
  base::Status status = file ? base::Status{} : base::fail(file.error());
  for (std::uint64_t done = 0; done < sent.size(); done += chunk_bytes_) {
    const std::uint64_t bytes = std::min<std::uint64_t>(chunk_bytes_, sent.size() - done);
    added_to(times.exchange, [&] { return send_and_receive(sent.data() + done, bytes), true; });
    if (!status) continue;  // the other ranks expect our messages
    const auto chunk = std::as_bytes(std::span(received_)).first(bytes);
    status = added_to(times.copy, [&] { return file->write(done, chunk); });
  }
  added_to(times.copy, [&] { return file = base::Result<os::File>(), true; });  // closes it
  return status;
}

void Exchange::send_and_receive(const char* sent, std::uint64_t bytes) {
  constexpr std::uint64_t kMessage = 1U << 30;  // MPI counts in int
  for (std::uint64_t done = 0; done < bytes; done += kMessage) {
    const int count = static_cast<int>(std::min(kMessage, bytes - done));
    MPI_Sendrecv(sent + done, count, MPI_BYTE, buddies_.to, 0, received_.data() + done, count, MPI_BYTE, buddies_.from,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

}  // namespace perdure::micro

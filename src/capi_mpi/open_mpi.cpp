// Wraps the MPI communicator as a perdure_communicator. MPI is called only here, on the thread that makes a collective
// call.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <new>
#include <span>
#include <thread>

#include "capi_mpi/open_handles.hpp"
#include "capi_mpi/roll_call.hpp"
#include "capi_mpi/waited_time.hpp"
#include "perdure/perdure_mpi.h"
#include "perdure/perdure_ranks.h"

namespace {

using perdure::capi_mpi::Group;

constexpr size_t kMaxCount = size_t{1} << 30;  // MPI counts are ints

MPI_Comm of(void* context) { return static_cast<Group*>(context)->comm; }

// A call of MPI would end the program.
bool finalised() {
  int done = 0;
  MPI_Finalized(&done);
  return done != 0;
}

// Waits for a request of MPI. An MPI call spins until all ranks are there. Here a rank may wait long for the others,
// which capture or recover: then it should leave the processor to them and to the engines. So it spins for a
// millisecond, and then looks only now and then. `late`: null, or set to true if that took longer than `seconds` or
// another rank calls the roll. The request is not done then. Time in which this process did not run, such as in a
// suspended job, does not count.
int wait(int begun, MPI_Request& request, MPI_Comm comm = MPI_COMM_NULL, double seconds = 0, bool* late = nullptr) {
  using Clock = perdure::capi_mpi::WaitedTime::Clock;
  if (begun != MPI_SUCCESS) return begun;
  for (perdure::capi_mpi::WaitedTime time(Clock::now());;) {
    int done = 0;
    if (const int failed = MPI_Test(&request, &done, MPI_STATUS_IGNORE); failed != MPI_SUCCESS || done != 0)
      return failed;
    const std::chrono::nanoseconds waited = time.at(Clock::now());
    if (late != nullptr && (waited > std::chrono::duration<double>(seconds) ||
                            (waited > std::chrono::milliseconds(1) && perdure::capi_mpi::roll_is_called(comm)))) {
      *late = true;
      return MPI_SUCCESS;
    }
    if (waited > std::chrono::milliseconds(1))
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(waited / 16, std::chrono::microseconds(200)));
    else
      std::this_thread::yield();
  }
}

bool unusable(void* context) { return finalised() || static_cast<Group*>(context)->broken; }

// If ranks do not come, MPI may write to this memory after the call: it is not freed.
int patient_allreduce(Group& group, std::span<uint64_t> values, MPI_Op operation, double seconds) {
  std::unique_ptr<uint64_t[]> own(new (std::nothrow) uint64_t[values.size()]);
  if (own == nullptr) return MPI_ERR_NO_MEM;
  std::copy(values.begin(), values.end(), own.get());
  MPI_Request request = MPI_REQUEST_NULL;
  bool late = false;
  const int done = wait(MPI_Iallreduce(MPI_IN_PLACE, own.get(), static_cast<int>(values.size()), MPI_UINT64_T,
                                       operation, group.comm, &request),
                        request, group.comm, seconds, &late);
  if (!late) {
    std::copy_n(own.get(), values.size(), values.begin());
    return done;
  }
  (void)own.release();
  group.broken = true;
  perdure::capi_mpi::call_the_roll(group.comm, seconds);
  return MPI_ERR_PENDING;
}

int barrier(void* context) {
  if (unusable(context)) return MPI_ERR_COMM;
  MPI_Request request = MPI_REQUEST_NULL;
  return wait(MPI_Ibarrier(of(context), &request), request);
}

int allreduce(void* context, uint64_t* values, size_t count, int operation) {
  const MPI_Op operations[] = {MPI_MIN, MPI_MAX, MPI_SUM};
  if (operation < 0 || operation > 2 || count > kMaxCount) return MPI_ERR_ARG;
  if (unusable(context)) return MPI_ERR_COMM;
  if (const double seconds = perdure_patience(); seconds > 0)
    return patient_allreduce(*static_cast<Group*>(context), {values, count}, operations[operation], seconds);
  MPI_Request request = MPI_REQUEST_NULL;
  return wait(MPI_Iallreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_UINT64_T, operations[operation],
                             of(context), &request),
              request);
}

int allgather(void* context, const void* mine, size_t bytes, void* all) {
  if (bytes > kMaxCount) return MPI_ERR_COUNT;
  if (unusable(context)) return MPI_ERR_COMM;
  const int count = static_cast<int>(bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  return wait(MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, of(context), &request), request);
}

int broadcast(void* context, void* data, size_t bytes, int root) {
  if (bytes > kMaxCount) return MPI_ERR_COUNT;
  if (unusable(context)) return MPI_ERR_COMM;
  MPI_Request request = MPI_REQUEST_NULL;
  return wait(MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, root, of(context), &request), request);
}

void release(void* context) {
  const std::unique_ptr<Group> group(static_cast<Group*>(context));
  perdure::capi_mpi::forget(*group);
  if (!unusable(context)) MPI_Comm_free(&group->comm);
}

/// A duplicate whose errors are returned. The caller's own error handler, which may abort, is put aside meanwhile.
int duplicate(MPI_Comm communicator, MPI_Comm* own) {
  MPI_Errhandler theirs;
  if (const int failed = MPI_Comm_get_errhandler(communicator, &theirs); failed != MPI_SUCCESS) return failed;
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  int result = MPI_Comm_dup(communicator, own);
  MPI_Comm_set_errhandler(communicator, theirs);
  MPI_Errhandler_free(&theirs);
  if (result == MPI_SUCCESS) result = MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
  return result;
}

void say(const char* text, char* message, size_t bytes) {
  if (message != nullptr && bytes > 0) std::snprintf(message, bytes, "%s", text);
}

}  // namespace

extern "C" {

perdure_status perdure_open_mpi(MPI_Comm communicator, const char* options, perdure_t** out, char* message,
                                size_t message_bytes) {
  if (out == nullptr) return PERDURE_INVALID_ARGUMENT;
  *out = nullptr;
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0 || finalised()) {
    say("MPI: it is not initialised, or finalised already; open Perdure between MPI_Init and MPI_Finalize", message,
        message_bytes);
    return PERDURE_INVALID_ARGUMENT;
  }
  if (communicator == MPI_COMM_NULL) {
    say("communicator: it is MPI_COMM_NULL", message, message_bytes);
    return PERDURE_INVALID_ARGUMENT;
  }
  std::unique_ptr<Group> own(new (std::nothrow) Group);
  if (own == nullptr || duplicate(communicator, &own->comm) != MPI_SUCCESS) {
    say("communicator: MPI_Comm_dup failed", message, message_bytes);
    return PERDURE_PEER_FAILED;
  }
  perdure_communicator c{};
  MPI_Comm_rank(own->comm, &c.rank);
  MPI_Comm_size(own->comm, &c.size);
  Group* group = own.release();
  c.context = group;
  c.barrier = barrier;
  c.allreduce = allreduce;
  c.allgather = allgather;
  c.broadcast = broadcast;
  c.release = release;
  const perdure_status opened = perdure_open_communicator(&c, options, out, message, message_bytes);
  if (opened == PERDURE_OK) perdure::capi_mpi::close_at_finalize(*group, *out);
  return opened;
}

perdure_status perdure_open_mpi_fortran(MPI_Fint communicator, const char* options, perdure_t** out, char* message,
                                        size_t message_bytes) {
  return perdure_open_mpi(MPI_Comm_f2c(communicator), options, out, message, message_bytes);
}

}  // extern "C"

#include "capi_mpi/open_handles.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace perdure::capi_mpi {
namespace {

struct OpenHandles {
  std::mutex mutex;
  std::vector<const Group*> groups;
  bool attached = false;  // the attribute, to MPI_COMM_SELF
};

// Never destroyed: handles may be closed by destructors of global objects.
OpenHandles& open_handles() {
  static auto* handles = new OpenHandles;
  return *handles;
}

perdure_t* newest() {
  OpenHandles& open = open_handles();
  std::lock_guard guard(open.mutex);
  return open.groups.empty() ? nullptr : open.groups.back()->handle;
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else (MPI 4.1, 11.2.4). At that time all of MPI
// still works. An error of this function would end the program.
int close_all(MPI_Comm /*comm*/, int /*keyval*/, void* /*attribute*/, void* /*state*/) {
  while (perdure_t* const handle = newest()) {
    (void)perdure_close_early(handle, "MPI_Finalize");
    OpenHandles& open = open_handles();  // a close that could not even begin
    std::lock_guard guard(open.mutex);
    std::erase_if(open.groups, [handle](const Group* group) { return group->handle == handle; });
  }
  return MPI_SUCCESS;
}

bool attach() {
  int keyval = MPI_KEYVAL_INVALID;
  if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_all, &keyval, nullptr) != MPI_SUCCESS) return false;
  const bool attached = MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr) == MPI_SUCCESS;
  MPI_Comm_free_keyval(&keyval);  // it lives as long as the attribute
  return attached;
}

}  // namespace

// If that fails, the end of the process still stores this node's data.
void close_at_finalize(Group& group, perdure_t* handle) noexcept {
  group.handle = handle;
  OpenHandles& open = open_handles();
  std::lock_guard guard(open.mutex);
  try {
    open.groups.push_back(&group);
    if (!open.attached) open.attached = attach();
  } catch (...) {  // no memory
  }
}

void forget(const Group& group) noexcept {
  OpenHandles& open = open_handles();
  std::lock_guard guard(open.mutex);
  std::erase(open.groups, &group);
}

}  // namespace perdure::capi_mpi

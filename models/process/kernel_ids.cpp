#include "process/kernel_ids.hpp"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace perdure::process {
namespace {

Order order_of(long answer) {
  switch (answer) {
    case 0:
      return Order::same;
    case 1:
      return Order::less;
    case 2:
      return Order::greater;
    default:
      return Order::unknown;
  }
}

int kind_of(Shared what) {
  switch (what) {
    case Shared::memory:
      return KCMP_VM;
    case Shared::descriptors:
      return KCMP_FILES;
    case Shared::directories:
      return KCMP_FS;
    case Shared::handlers:
      return KCMP_SIGHAND;
    case Shared::semaphores:
      return KCMP_SYSVSEM;
  }
  return KCMP_VM;
}

}  // namespace

Order compare_files(pid_t one, int descriptor, pid_t other, int other_descriptor) {
  return order_of(::syscall(SYS_kcmp, one, other, KCMP_FILE, descriptor, other_descriptor));
}

Order compare(Shared what, pid_t one, pid_t other) {
  return order_of(::syscall(SYS_kcmp, one, other, kind_of(what), 0, 0));
}

bool watches(pid_t process, int poll, int number, std::uint32_t nth, int descriptor) {
  kcmp_epoll_slot slot{static_cast<__u32>(poll), static_cast<__u32>(number), nth};
  return ::syscall(SYS_kcmp, process, process, KCMP_EPOLL_TFD, descriptor, &slot) == 0;
}

}  // namespace perdure::process

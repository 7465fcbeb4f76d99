// Adds the calls by which a copy of this process gets the descriptors of an image.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "process/reopened.hpp"
#include "process/restored_descriptors.hpp"

namespace perdure::process {
namespace {

std::string name_of(std::int32_t number) { return "descriptor " + std::to_string(number); }

SystemCall call(long number, std::uint64_t first = 0, std::uint64_t second = 0, std::uint64_t third = 0,
                std::uint64_t fourth = 0) {
  return {static_cast<std::uint64_t>(number), first, second, third, fourth};
}

template <class Value>
std::uint64_t kept(Operations& operations, const Value& value) {
  return operations.keep(std::as_bytes(std::span(&value, 1)));
}

void add_watch(Operations& operations, int poll, const PollItem& item, bool may_fail) {
  epoll_event event{};
  event.events = item.events;
  event.data.u64 = item.data;
  const auto one = call(SYS_epoll_ctl, static_cast<std::uint64_t>(poll), EPOLL_CTL_ADD,
                        static_cast<std::uint64_t>(item.number), kept(operations, event));
  const std::string what = name_of(item.number) + " is watched by an epoll";
  if (may_fail)
    operations.try_to(one, what);
  else
    operations.add(one, what);
}

}  // namespace

void RestoredDescriptors::add_to(Operations& operations) const {
  watch_former(operations);
  move(operations);
  listen(operations);
  watch(operations);
  tell_owners(operations);
  lock(operations);
}

/// An epoll may watch files by numbers that mean other files now. Those files get the numbers first.
void RestoredDescriptors::watch_former(Operations& operations) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto* set = std::get_if<PollSet>(&files_[i].what);
    if (set == nullptr) continue;
    for (const auto& item : set->items) {
      if (is_current(item)) continue;
      operations.add(call(SYS_dup3, static_cast<std::uint64_t>(fds_[item.file].get()),
                          static_cast<std::uint64_t>(item.number), O_CLOEXEC),
                     name_of(item.number) + " is what an epoll watches by it", item.number);
      add_watch(operations, fds_[i].get(), item, is_replaced(item.file));
    }
  }
}

void RestoredDescriptors::move(Operations& operations) const {
  std::uint64_t next = 0;
  const auto close_from = [&](std::uint64_t begin, std::uint64_t last) {
    if (begin <= last)
      operations.add(call(SYS_close_range, begin, last),
                     "descriptors from " + std::to_string(begin) + " on are closed");
  };
  for (const auto& one : descriptors_)
    operations.add(call(SYS_dup3, static_cast<std::uint64_t>(fds_[one.file].get()),
                        static_cast<std::uint64_t>(one.number), one.close_on_exec ? O_CLOEXEC : 0),
                   name_of(one.number) + " gets its number", one.number);
  for (const auto& one : descriptors_) {
    const auto number = static_cast<std::uint64_t>(one.number);
    if (number > next) close_from(next, number - 1);
    next = number + 1;
  }
  for (const int kept : kept_) {
    const auto number = static_cast<std::uint64_t>(kept);
    if (number > next) close_from(next, number - 1);
    next = number + 1;
  }
  close_from(next, ~0U);
}

void RestoredDescriptors::watch(Operations& operations) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto* set = std::get_if<PollSet>(&files_[i].what);
    if (set == nullptr) continue;
    for (const auto& item : set->items)
      if (is_current(item)) add_watch(operations, number_of(i), item, is_replaced(item.file));
  }
}

/// Listens again in the new process: SO_PEERCRED of a Unix connection names the last process that listened.
void RestoredDescriptors::listen(Operations& operations) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto* socket = std::get_if<ListeningSocket>(&files_[i].what);
    if (socket == nullptr || is_left_out(i)) continue;
    operations.add(call(SYS_listen, static_cast<std::uint64_t>(number_of(i)), socket->backlog),
                   name_of(number_of(i)) + " listens");
  }
}

void RestoredDescriptors::tell_owners(Operations& operations) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto& file = files_[i];
    if (file.is_replaced() || is_left_out(i)) continue;
    const auto number = static_cast<std::uint64_t>(number_of(i));
    if (file.owner.kind != SignalOwner::Kind::nobody) {
      const bool itself = choices_.process && file.owner.id == choices_.captured;
      const int type = file.owner.kind == SignalOwner::Kind::thread    ? F_OWNER_TID
                       : file.owner.kind == SignalOwner::Kind::process ? F_OWNER_PID
                                                                       : F_OWNER_PGRP;
      const f_owner_ex owner{static_cast<__pid_type>(type), itself ? *choices_.process : file.owner.id};
      operations.add(call(SYS_fcntl, number, F_SETOWN_EX, kept(operations, owner)),
                     name_of(number_of(i)) + " sends signals");
    }
    if (file.owner.signal != 0)
      operations.add(call(SYS_fcntl, number, F_SETSIG, static_cast<std::uint64_t>(file.owner.signal)),
                     name_of(number_of(i)) + " gets its signal");
    if ((file.flags & O_ASYNC) == 0) continue;
    operations.add(
        call(SYS_fcntl, number, F_SETFL, file.flags & (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | O_ASYNC)),
        name_of(number_of(i)) + " tells when it is ready");
  }
}

/// Takes locks of the process. They come last, because closing any descriptor of the file would release them.
void RestoredDescriptors::lock(Operations& operations) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].is_replaced() || is_left_out(i)) continue;
    for (const auto& lock : files_[i].locks)
      if (lock.kind == FileLock::Kind::process)
        operations.add(
            call(SYS_fcntl, static_cast<std::uint64_t>(number_of(i)), F_SETLK, kept(operations, record_of(lock))),
            name_of(number_of(i)) + " gets its lock (another process may have it)");
  }
}

int RestoredDescriptors::number_of(std::size_t file) const {
  const auto found =
      std::find_if(descriptors_.begin(), descriptors_.end(), [&](const Descriptor& one) { return one.file == file; });
  return found->number;
}

bool RestoredDescriptors::is_current(const PollItem& item) const {
  return std::any_of(descriptors_.begin(), descriptors_.end(),
                     [&](const Descriptor& one) { return one.number == item.number && one.file == item.file; });
}

bool RestoredDescriptors::is_left_out(std::size_t file) const {
  return std::any_of(descriptors_.begin(), descriptors_.end(),
                     [&](const Descriptor& one) { return one.file == file && choices_.left_out.contains(one.number); });
}

bool RestoredDescriptors::is_replaced(std::size_t file) const {
  return files_[file].is_replaced() || is_left_out(file);
}

}  // namespace perdure::process

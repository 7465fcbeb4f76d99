#include "network/views.hpp"

#include <unistd.h>

#include "os/system.hpp"

namespace perdure::network {
namespace {

constexpr std::size_t kMaxViews = 512;

std::optional<View> map_view(const RemoteMemory& memory) {
  const LocalFile& there = *memory.file;
  auto file = os::File::open(there.hint.path, os::Open::read);
  if (!file) return {};
  const auto identity = file->identity();
  const auto size = file->size();
  if (!identity || identity->device != there.device || identity->inode != there.inode) return {};
  if (!size || there.hint.offset > *size || memory.wire.bytes > *size - there.hint.offset) return {};
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = there.hint.offset / page * page;
  const std::uint64_t lead = there.hint.offset - begin;
  auto mapping = os::Mapping::map(*file, begin, lead + memory.wire.bytes, false);
  if (!mapping) return {};
  auto shared = std::make_shared<const os::Mapping>(std::move(*mapping));
  const ConstByteSpan bytes(shared->data() + lead, memory.wire.bytes);
  return View(std::move(shared), bytes);
}

}  // namespace

base::Result<LocalFile> describe_file(const FileHint& hint, std::uint64_t bytes) {
  PERDURE_TRY(const os::File file, os::File::open(hint.path, os::Open::read));
  PERDURE_TRY(const os::FileIdentity identity, file.identity());
  PERDURE_TRY(const std::uint64_t size, file.size());
  if (hint.offset > size || bytes > size - hint.offset)
    return base::fail(PERDURE_INVALID_ARGUMENT, hint.path, "the file is shorter than the memory that it is to be");
  return LocalFile{hint, os::host_identity(), os::user_id(), identity.device, identity.inode};
}

std::optional<View> Views::find(std::uint64_t peer, const RemoteMemory& memory) {
  if (!memory.file || memory.wire.bytes == 0) return {};
  const std::lock_guard lock(mutex_);
  if (host_.empty()) host_ = os::host_identity();
  if (memory.file->host != host_ || memory.file->user != os::user_id()) return {};
  const Key key{peer, memory.wire.key};
  const auto it = entries_.find(key);
  if (it != entries_.end() && it->second.memory == memory) {
    by_use_.splice(by_use_.begin(), by_use_, it->second.used);
    return it->second.view;
  }
  if (it != entries_.end()) {
    by_use_.erase(it->second.used);
    entries_.erase(it);
  }
  auto view = map_view(memory);
  by_use_.push_front(key);
  entries_.emplace(key, Entry{memory, view, by_use_.begin()});
  if (entries_.size() > kMaxViews) {
    entries_.erase(by_use_.back());
    by_use_.pop_back();
  }
  return view;
}

void Views::forget(std::uint64_t peer) {
  const std::lock_guard lock(mutex_);
  for (auto it = entries_.lower_bound({peer, 0}); it != entries_.end() && it->first.first == peer;) {
    by_use_.erase(it->second.used);
    it = entries_.erase(it);
  }
}

void Views::forget(std::uint64_t peer, std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find({peer, key});
  if (it == entries_.end()) return;
  by_use_.erase(it->second.used);
  entries_.erase(it);
}

std::size_t Views::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace perdure::network

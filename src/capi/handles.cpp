#include "capi/handles.hpp"

#include <map>

namespace perdure::capi {
namespace {

struct Table {
  std::mutex mutex;
  std::map<std::uintptr_t, std::shared_ptr<Handle>> handles;
  std::uintptr_t next = 1;
};

// Never destroyed: handles that are still open at the end of the process keep their threads until it is gone.
Table& table() {
  static auto* instance = new Table;
  return *instance;
}

}  // namespace

perdure_t* add_handle(std::shared_ptr<Handle> handle) {
  Table& t = table();
  std::lock_guard guard(t.mutex);
  const std::uintptr_t key = t.next++;
  t.handles[key] = std::move(handle);
  return reinterpret_cast<perdure_t*>(key);
}

std::shared_ptr<Handle> find_handle(perdure_t* handle) {
  Table& t = table();
  std::lock_guard guard(t.mutex);
  auto it = t.handles.find(reinterpret_cast<std::uintptr_t>(handle));
  return it == t.handles.end() ? nullptr : it->second;
}

std::shared_ptr<Handle> take_handle(perdure_t* handle) {
  Table& t = table();
  std::lock_guard guard(t.mutex);
  auto node = t.handles.extract(reinterpret_cast<std::uintptr_t>(handle));
  return node.empty() ? nullptr : std::move(node.mapped());
}

}  // namespace perdure::capi

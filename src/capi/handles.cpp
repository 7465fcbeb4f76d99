#include "capi/handles.hpp"

#include "capi/handle_table.hpp"

namespace perdure::capi {
namespace {

using Sessions = HandleTable<perdure_t, Handle>;

}  // namespace

perdure_t* add_handle(std::shared_ptr<Handle> handle) { return Sessions::instance().add(std::move(handle)); }

std::shared_ptr<Handle> find_handle(perdure_t* handle) { return Sessions::instance().find(handle); }

std::shared_ptr<Handle> take_handle(perdure_t* handle) { return Sessions::instance().take(handle); }

std::vector<std::shared_ptr<Handle>> all_handles() { return Sessions::instance().newest_first(); }

}  // namespace perdure::capi

// The C functions: argument checks and calls, nothing else. Exceptions (memory) stop here.
#include <algorithm>
#include <cstring>
#include <span>

#include "base/version.hpp"
#include "capi/arrays.hpp"
#include "capi/handles.hpp"
#include "capi/texts.hpp"
#include "os/system.hpp"

namespace {

using namespace perdure;
using capi::copy_text;
using capi::Handle;
using capi::refuse;
using capi::text_of;

perdure_status finish(Handle& handle, const base::Status& status) {
  handle.error_text = status ? std::string() : text_of(status.error());
  handle.error_retryable = !status && status.error().retryable;
  return status ? PERDURE_OK : status.error().code;
}

// perdure_close() takes the handle with it, so that what it could not do is kept for the thread that called it.
struct ClosingFailure {
  std::string text;
  bool retryable = false;
};
thread_local ClosingFailure closing_failure;

// Runs `body` on the session of a live handle of this process.
template <class Body>
perdure_status on_session(perdure_t* handle, Body body) {
  if (handle == nullptr) return PERDURE_INVALID_ARGUMENT;
  auto found = capi::find_handle(handle);
  if (!found) return PERDURE_CLOSED;
  // A child after fork() must not even take the mutex: another thread of the parent may have held it.
  if (found->process != os::process_id()) return PERDURE_WRONG_PROCESS;
  std::lock_guard guard(found->mutex);
  if (!found->session) return PERDURE_CLOSED;
  return finish(*found, base::caught("perdure", [&]() -> base::Status { return body(*found->session); }));
}

// In the first exchange of all, an agreement, for who has no memory for more.
void say_failed(const perdure_communicator& c, base::ErrorCode why) {
  std::uint64_t words[4] = {client::failure_word(c.rank, why)};
  (void)c.allreduce(c.context, words, 4, 1);
}

perdure_status open(base::Result<std::unique_ptr<comm::Communicator>> comm, const char* options, perdure_t** out,
                    char* message, std::size_t message_bytes) {
  std::shared_ptr<Handle> handle;
  perdure_t* number = nullptr;
  auto opened = base::caught("perdure", [&]() -> base::Status {
    if (!comm) return base::fail(std::move(comm).error());
    PERDURE_CHECK(client::agree_after(**comm, "perdure", [&]() -> base::Status {
      handle = std::make_shared<Handle>();
      number = capi::add_handle(handle);
      return {};
    }));
    PERDURE_TRY(handle->session, client::Session::open(std::move(*comm), options));
    handle->process = handle->session->process();
    return {};
  });
  if (opened) *out = number;
  if (!opened && number != nullptr) (void)capi::take_handle(number);
  copy_text(opened ? std::string() : text_of(opened.error()), message, message_bytes);
  return opened ? PERDURE_OK : opened.error().code;
}

}  // namespace

extern "C" {

perdure_status perdure_open(const char* options, perdure_t** out, char* message, size_t message_bytes) {
  if (out == nullptr) return PERDURE_INVALID_ARGUMENT;
  *out = nullptr;
  auto comm =
      base::caught("perdure", [] { return base::Result<std::unique_ptr<comm::Communicator>>(comm::make_solo()); });
  return open(std::move(comm), options, out, message, message_bytes);
}

perdure_status perdure_open_communicator(const perdure_communicator* communicator, const char* options, perdure_t** out,
                                         char* message, size_t message_bytes) {
  if (out == nullptr) return PERDURE_INVALID_ARGUMENT;
  *out = nullptr;
  if (communicator == nullptr) {
    copy_text("communicator: it is null", message, message_bytes);
    return PERDURE_INVALID_ARGUMENT;
  }
  auto comm = base::caught("communicator", [&] { return comm::make_from_c(*communicator); });
  if (!comm && comm.error().code == PERDURE_NO_SPACE) say_failed(*communicator, PERDURE_NO_SPACE);
  return open(std::move(comm), options, out, message, message_bytes);
}

perdure_status perdure_protect(perdure_t* handle, int id, void* address, size_t element_bytes, size_t count) {
  return on_session(handle, [&](client::Session& s) {
    return s.protect({id, static_cast<std::byte*>(address), element_bytes, count});
  });
}

perdure_status perdure_unprotect(perdure_t* handle, int id) {
  return on_session(handle, [&](client::Session& s) { return s.unprotect(id); });
}

perdure_status perdure_protect_thread(perdure_t* handle, int id) {
  return on_session(handle, [&](client::Session& s) { return s.name_thread(id); });
}

perdure_status perdure_describe(perdure_t* handle, int id, const char* name, const char* unit,
                                const char* description) {
  const auto text = [](const char* given) { return std::string(given == nullptr ? "" : given); };
  return on_session(handle, [&](client::Session& s) {
    return s.set_label(id, {text(name), text(unit), text(description)});
  });
}

perdure_status perdure_protect_global(perdure_t* handle, int id, const perdure_array* array, const perdure_box* boxes,
                                      size_t count) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const auto region, capi::global_region(id, array, boxes, count));
    return s.protect(region);
  });
}

perdure_status perdure_block(perdure_t* handle, const perdure_array* array, const uint64_t* grid, uint64_t* begin,
                             uint64_t* end) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (begin == nullptr || end == nullptr) return refuse("block", "begin or end is null");
    PERDURE_TRY(const auto declared, capi::declared_array(0, array, segment::ArrayKind::global));
    PERDURE_TRY(const auto box, capi::block_of(0, declared.array.whole, grid, s.rank(), s.ranks()));
    std::copy(box.begin.begin(), box.begin.begin() + box.dimensions, begin);
    std::copy(box.end.begin(), box.end.begin() + box.dimensions, end);
    return {};
  });
}

perdure_status perdure_protect_block(perdure_t* handle, int id, const perdure_array* array, const uint64_t* grid,
                                     void* address) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const auto region, capi::block_region(id, array, grid, address, s.rank(), s.ranks()));
    return s.protect(region);
  });
}

perdure_status perdure_protect_block_cyclic(perdure_t* handle, int id, const perdure_array* array, const uint64_t* grid,
                                            const uint64_t* lengths, void* address) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const auto region, capi::block_cyclic_region(id, array, grid, lengths, address, s.rank(), s.ranks()));
    return s.protect(region);
  });
}

perdure_status perdure_protect_list(perdure_t* handle, int id, const perdure_array* array, void* address,
                                    uint64_t rows) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const auto region, capi::list_region(id, array, address, rows));
    return s.protect(region);
  });
}

perdure_status perdure_protect_replicated(perdure_t* handle, int id, const perdure_array* array, void* address) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const auto region, capi::replicated_region(id, array, address, s.rank() == 0));
    return s.protect(region);
  });
}

perdure_status perdure_stored_array(perdure_t* handle, const char* name, int64_t version, int id,
                                    perdure_array_info* info) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const auto array, s.stored_array(name == nullptr ? "" : name, version, id));
    if (info == nullptr) return refuse("info", "the pointer is null");
    *info = {};
    info->dimensions = static_cast<int>(array.whole.dimensions);
    std::copy(array.whole.end.begin(), array.whole.end.begin() + array.whole.dimensions, info->extents);
    info->element_bytes = array.type.bytes();
    copy_text(array.label.name, info->name, sizeof info->name);
    copy_text(array.label.unit, info->unit, sizeof info->unit);
    copy_text(array.type.text(), info->type, sizeof info->type);
    return {};
  });
}

perdure_status perdure_checkpoint(perdure_t* handle, const char* name, int64_t version) {
  // A null name is refused collectively, as an empty one: the other ranks must not be left waiting.
  return on_session(handle, [&](client::Session& s) { return s.checkpoint(name == nullptr ? "" : name, version); });
}

perdure_status perdure_latest(perdure_t* handle, const char* name, int64_t* version) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const std::uint64_t found, s.latest(name == nullptr ? "" : name));
    if (version == nullptr) return refuse("version", "the pointer is null");
    *version = static_cast<std::int64_t>(found);
    return {};
  });
}

perdure_status perdure_stored_size(perdure_t* handle, const char* name, int64_t version, int id,
                                   perdure_region_size* size) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const auto region, s.stored_size(name == nullptr ? "" : name, version, id));
    if (size == nullptr) return refuse("size", "the pointer is null");
    *size = {region.element_bytes, region.count};
    return {};
  });
}

perdure_status perdure_restore(perdure_t* handle, const char* name, int64_t version) {
  return on_session(handle,
                    [&](client::Session& s) { return s.restore(name == nullptr ? "" : name, version, std::nullopt); });
}

perdure_status perdure_restore_regions(perdure_t* handle, const char* name, int64_t version, const int* ids,
                                       size_t count) {
  return on_session(handle, [&](client::Session& s) {
    // Null ids with a count: -1 is protected nowhere, so that the refusal is collective.
    static constexpr std::int32_t kNowhere = -1;
    const std::span<const std::int32_t> wanted =
        ids != nullptr ? std::span(ids, count) : std::span(&kNowhere, count == 0 ? 0 : 1);
    return s.restore(name == nullptr ? "" : name, version, wanted);
  });
}

perdure_status perdure_restore_part(perdure_t* handle, const char* name, int64_t version, int rank, int id,
                                    void* address, size_t element_bytes, size_t count) {
  return on_session(handle, [&](client::Session& s) {
    // What overflows is stored nowhere, and so is a negative rank: the refusal is collective.
    std::uint64_t bytes = 0;
    const bool huge = __builtin_mul_overflow(element_bytes, count, &bytes);
    return s.restore_part(
        name == nullptr ? "" : name, version, static_cast<std::uint32_t>(rank),
        {id, static_cast<std::byte*>(address), huge ? 1 : element_bytes, huge ? ~std::size_t{0} : count});
  });
}

perdure_status perdure_wait(perdure_t* handle, const char* name, int64_t version, perdure_level level,
                            double timeout_s) {
  // A C program may pass any number; what is no level is refused collectively.
  int number = 0;
  static_assert(sizeof number == sizeof level);
  std::memcpy(&number, &level, sizeof number);
  return on_session(
      handle, [&](client::Session& s) { return s.wait(name == nullptr ? "" : name, version, number, timeout_s); });
}

perdure_status perdure_level_reached(perdure_t* handle, const char* name, int64_t version, perdure_level* level) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (name == nullptr || level == nullptr) return refuse("name or level", "the pointer is null");
    PERDURE_TRY(*level, s.level_reached(name, version));
    return {};
  });
}

perdure_status perdure_get_progress(perdure_t* handle, perdure_progress* progress) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (progress == nullptr) return refuse("progress", "the pointer is null");
    return s.progress(*progress);
  });
}

perdure_status perdure_next_report(perdure_t* handle, char* text, size_t text_bytes) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (text == nullptr || text_bytes == 0) return refuse("text", "there is no room for the report");
    PERDURE_TRY(const std::string report, s.next_report());
    copy_text(report, text, text_bytes);
    return {};
  });
}

perdure_status perdure_retire(perdure_t* handle, const char* name, int64_t version) {
  return on_session(handle, [&](client::Session& s) { return s.retire(name == nullptr ? "" : name, version); });
}

perdure_status perdure_any(perdure_t* handle, int here, int* any) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const bool found, s.any(here != 0));
    if (any == nullptr) return refuse("any", "the pointer is null");
    *any = found ? 1 : 0;
    return {};
  });
}

perdure_status perdure_close(perdure_t** handle) {
  if (handle == nullptr) return PERDURE_INVALID_ARGUMENT;
  closing_failure = {};
  if (*handle == nullptr) return PERDURE_CLOSED;
  const auto found = capi::find_handle(*handle);
  std::unique_ptr<client::Session> closed;  // taken out under the handle's mutex: whoever waits for it finds it closed
  const perdure_status status = on_session(*handle, [&](client::Session& s) {
    auto outcome = s.close();
    closed = std::move(found->session);
    return outcome;
  });
  if (status != PERDURE_OK) closing_failure.text = base::code_name(status);
  if (status == PERDURE_WRONG_PROCESS) return status;
  if (auto taken = capi::take_handle(*handle)) {
    std::lock_guard guard(taken->mutex);
    taken->session.reset();
    if (status != PERDURE_OK) closing_failure = {std::move(taken->error_text), taken->error_retryable};
  }
  *handle = nullptr;
  return status;
}

const char* perdure_error_text(perdure_t* handle) {
  auto found = capi::find_handle(handle);
  if (found) return found->error_text.c_str();
  return handle == nullptr && !closing_failure.text.empty() ? closing_failure.text.c_str() : "the handle is closed";
}

int perdure_error_retryable(perdure_t* handle) {
  auto found = capi::find_handle(handle);
  if (handle == nullptr) return closing_failure.retryable ? 1 : 0;
  return found && found->error_retryable ? 1 : 0;
}

const char* perdure_status_name(perdure_status status) { return base::code_name(status); }

const char* perdure_version(void) { return base::kVersion; }

}  // extern "C"

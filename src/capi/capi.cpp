// Implements the C functions: argument checks and calls, nothing else. Exceptions (memory) stop here.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/version.hpp"
#include "capi/arrays.hpp"
#include "capi/goodbye.hpp"
#include "capi/texts.hpp"
#include "comm/launched.hpp"
#include "comm/patience.hpp"
#include "config/effective.hpp"
#include "os/system.hpp"
#include "perdure/perdure_ranks.h"

namespace {

using namespace perdure;
using capi::copy_text;
using capi::Handle;
using capi::HandleLock;
using capi::refuse;
using capi::text_of;

perdure_status finish(Handle& handle, const base::Status& status) {
  if (!handle.closed_early) {  // else it keeps the text for its owner
    handle.error_text = status ? std::string() : text_of(status.error());
    handle.error_retryable = !status && status.error().retryable;
  }
  return status ? PERDURE_OK : status.error().code;
}

// perdure_close() destroys the handle, so its error is kept for the thread that called it.
struct ClosingFailure {
  std::string text;
  bool retryable = false;
};
thread_local bool thread_ends = false;
struct ThreadsFailure {
  ~ThreadsFailure() { thread_ends = true; }
  ClosingFailure failure = {};
};
thread_local ThreadsFailure of_this_thread;

// The main thread's thread-local data is destroyed before global objects, whose destructors may close a handle. So this
// object is never destroyed.
ClosingFailure& closing_failure() {
  union Lasting {
    Lasting() : failure() {}
    ~Lasting() {}
    ClosingFailure failure;
  };
  static Lasting at_the_end;
  return thread_ends ? at_the_end.failure : of_this_thread.failure;
}

// Within a call of this thread it would wait for itself; at the end of the process, perhaps for ranks that are gone.
HandleLock hold_handle(Handle& handle) {
  const bool in_vain = handle.caller == std::this_thread::get_id() || capi::has_waited_in_vain();
  if (in_vain) return HandleLock(handle, std::chrono::milliseconds(0));
  return HandleLock(handle);
}

// The handle's text belongs to the thread that holds the handle.
perdure_status refuse_busy(Handle& handle) {
  (void)base::caught("perdure", [&]() -> base::Status {
    if (handle.caller != std::this_thread::get_id()) return {};
    handle.error_text = "handle: this thread is within a call on it, of whose functions one has called it again (busy)";
    handle.error_retryable = false;
    return {};
  });
  return PERDURE_BUSY;
}

// Runs `body` on the session of a live handle of this process.
template <class Body>
perdure_status on_session(perdure_t* handle, Body body) {
  if (handle == nullptr) return PERDURE_INVALID_ARGUMENT;
  auto found = capi::find_handle(handle);
  if (!found) return PERDURE_CLOSED;
  // A child after fork() must not even take the mutex: another thread of the parent may have held it.
  if (found->process != os::process_id()) return PERDURE_WRONG_PROCESS;
  const HandleLock holding = hold_handle(*found);
  if (!holding.held()) return refuse_busy(*found);
  if (!found->session) return PERDURE_CLOSED;
  return finish(*found, base::caught("perdure", [&]() -> base::Status { return body(*found->session); }));
}

// Reports the failure in the first exchange of all, an agreement, for a rank without memory for more.
void say_failed(const perdure_communicator& c, base::ErrorCode why) {
  std::uint64_t words[4] = {client::failure_word(c.rank, why)};
  (void)c.allreduce(c.context, words, 4, 1);
}

// Ranks that open separately write the same checkpoints concurrently. At best all but one are refused, far from the
// cause.
base::Status check_alone(const char* options) {
  const auto launched = comm::one_of_several([](const char* name) { return std::getenv(name); });
  if (!launched) return {};
  PERDURE_TRY(const auto config, config::effective_config(options));
  if (config.boolean("ranks.alone")) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "perdure_open()",
                    "this process is " + launched->text() + ", and would be opened without the others",
                    "open for all ranks: perdure_open_mpi(), perdure::open_mpi(), in Fortran communicator=, in Python "
                    "perdure.Job(comm); or, where each rank is a program by itself, set ranks.alone "
                    "(PERDURE_RANKS_ALONE=true)");
}

perdure_status open(base::Result<std::unique_ptr<comm::Communicator>> comm, capi::Group group, const char* options,
                    perdure_t** out, char* message, std::size_t message_bytes) {
  std::shared_ptr<Handle> handle;
  perdure_t* number = nullptr;
  auto opened = base::caught("perdure", [&]() -> base::Status {
    if (!comm) return base::fail(std::move(comm).error());
    PERDURE_CHECK(client::agree_after(**comm, "perdure", [&]() -> base::Status {
      handle = std::make_shared<Handle>(os::process_id(), group);
      number = capi::add_handle(handle);
      return {};
    }));
    PERDURE_TRY(auto session, client::Session::open(std::move(*comm), options));
    const HandleLock holding(*handle);  // the process may be ending in another thread
    handle->session = std::move(session);
    return {};
  });
  if (opened) capi::close_at_process_end();
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
  auto comm = base::caught("perdure", [&]() -> base::Result<std::unique_ptr<comm::Communicator>> {
    PERDURE_CHECK(check_alone(options));
    return comm::make_solo();
  });
  return open(std::move(comm), capi::Group::own, options, out, message, message_bytes);
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
  return open(std::move(comm), capi::Group::callers, options, out, message, message_bytes);
}

perdure_status perdure_protect(perdure_t* handle, int id, void* address, size_t element_bytes, size_t count) {
  return on_session(handle, [&](client::Session& s) {
    return s.protect({id, static_cast<std::byte*>(address), element_bytes, count});
  });
}

perdure_status perdure_unprotect(perdure_t* handle, int id) {
  return on_session(handle, [&](client::Session& s) { return s.unprotect(id); });
}

perdure_status perdure_follow(perdure_t* handle, int id, perdure_locate locate, void* owner) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (locate == nullptr) return refuse("locate", "the function is null");
    const auto* region = s.regions().find(id);
    if (region == nullptr)
      return base::fail(PERDURE_NOT_FOUND, "region " + std::to_string(id), "it is not protected", "protect it first");
    return s.followed().follow(*region, locate, owner);
  });
}

perdure_status perdure_refuse_next(perdure_t* handle, int id, const char* why) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (why == nullptr) return refuse("why", "the pointer is null");
    const auto* region = s.regions().find(id);
    const std::string nobody = id < 0 ? "regions" : "region " + std::to_string(id);
    const std::string text = region == nullptr ? nobody : region->text();
    s.followed().refuse_next({PERDURE_INVALID_ARGUMENT, text, why, "", false});
    return {};
  });
}

perdure_status perdure_protect_thread(perdure_t* handle, int id) {
  return on_session(handle, [&](client::Session& s) { return s.name_thread(id); });
}

perdure_status perdure_describe(perdure_t* handle, int id, const char* name, const char* unit,
                                const char* description) {
  const auto text = [](const char* given) { return std::string(given == nullptr ? "" : given); };
  return on_session(handle, [&](client::Session& s) {
    return s.regions().set_label(id, {text(name), text(unit), text(description)});
  });
}

perdure_status perdure_describe_elements(perdure_t* handle, int id, const char* type, int dimensions,
                                         const uint64_t* extents) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const auto elements, capi::elements_said(id, type, dimensions, extents));
    return s.regions().set_elements(id, elements);
  });
}

perdure_status perdure_set_presence(perdure_t* handle, int id, perdure_presence presence) {
  int number = 0;  // a C program may pass any
  static_assert(sizeof number == sizeof presence);
  std::memcpy(&number, &presence, sizeof number);
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (number != PERDURE_REQUIRED && number != PERDURE_OPTIONAL)
      return refuse("presence", "it is neither PERDURE_REQUIRED nor PERDURE_OPTIONAL");
    return s.regions().set_optional(id, number == PERDURE_OPTIONAL);
  });
}

perdure_status perdure_was_restored(perdure_t* handle, int id, int* restored) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (restored == nullptr) return refuse("restored", "the pointer is null");
    const auto* region = s.regions().find(id);
    if (region == nullptr)
      return base::fail(PERDURE_NOT_FOUND, "region " + std::to_string(id), "it is not protected", "protect it first");
    *restored = region->restored ? 1 : 0;
    return {};
  });
}

perdure_status perdure_renamed(perdure_t* handle, const char* before, const char* now) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (before == nullptr || now == nullptr) return refuse("renamed region", "the pointer is null");
    return s.regions().changes().rename(before, now);
  });
}

perdure_status perdure_pass_over(perdure_t* handle, const char* region) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (region == nullptr) return refuse("region", "the pointer is null");
    return s.regions().changes().pass_over(region);
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

perdure_status perdure_restore_branch(perdure_t* handle, const char* name, const char* branch, int64_t version) {
  return on_session(handle, [&](client::Session& s) {
    return s.restore(name == nullptr ? "" : name, version, std::nullopt, branch == nullptr ? "" : branch);
  });
}

perdure_status perdure_restored(perdure_t* handle, perdure_restored_info* info) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (info == nullptr) return refuse("info", "the pointer is null");
    PERDURE_TRY(const client::Restored restored, s.restored());
    const segment::Attempt& attempt = restored.id.attempt;
    *info = {};
    copy_text(restored.id.name, info->name, sizeof info->name);
    copy_text(plan::branch_text(plan::branch_of(attempt.nonce)), info->branch, sizeof info->branch);
    info->version = static_cast<std::int64_t>(restored.id.version);
    info->created_ns = attempt.created_ns;
    const std::uint64_t now_ns = os::wall_clock_ns();
    info->age_s = now_ns > attempt.created_ns ? static_cast<double>(now_ns - attempt.created_ns) * 1e-9 : 0;
    info->source = restored.source;
    info->passed_over = static_cast<unsigned>(restored.passed_over.size());
    return {};
  });
}

perdure_status perdure_passed_over(perdure_t* handle, unsigned which, perdure_passed_over_info* info) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (info == nullptr) return refuse("info", "the pointer is null");
    PERDURE_TRY(const client::Restored restored, s.restored());
    if (which >= restored.passed_over.size())
      return base::fail(PERDURE_NOT_FOUND, "version " + std::to_string(which) + " of those that were passed over",
                        "the last restore passed over " + std::to_string(restored.passed_over.size()));
    const client::PassedOver& passed = restored.passed_over[which];
    *info = {};
    info->version = static_cast<std::int64_t>(passed.id.version);
    info->created_ns = passed.id.attempt.created_ns;
    copy_text(passed.why, info->why, sizeof info->why);
    return {};
  });
}

perdure_status perdure_restore_regions(perdure_t* handle, const char* name, int64_t version, const int* ids,
                                       size_t count) {
  return on_session(handle, [&](client::Session& s) {
    // Null ids with a count: -1 is never protected, so the refusal is collective.
    static constexpr std::int32_t kNowhere = -1;
    const std::span<const std::int32_t> wanted =
        ids != nullptr ? std::span(ids, count) : std::span(&kNowhere, count == 0 ? 0 : 1);
    return s.restore(name == nullptr ? "" : name, version, wanted);
  });
}

perdure_status perdure_restore_part(perdure_t* handle, const char* name, int64_t version, int rank, int id,
                                    void* address, size_t element_bytes, size_t count) {
  return on_session(handle, [&](client::Session& s) {
    // An overflowing size is never stored, and neither is a negative rank: the refusal is collective.
    std::uint64_t bytes = 0;
    const bool huge = __builtin_mul_overflow(element_bytes, count, &bytes);
    return s.restore_part(
        name == nullptr ? "" : name, version, static_cast<std::uint32_t>(rank),
        {id, static_cast<std::byte*>(address), huge ? 1 : element_bytes, huge ? ~std::size_t{0} : count});
  });
}

perdure_status perdure_wait(perdure_t* handle, const char* name, int64_t version, perdure_level level,
                            double timeout_s) {
  // A C program may pass any number; an invalid level is refused collectively.
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

perdure_status perdure_meet(perdure_t* handle, const char* place, uint64_t mark, double seconds, int here, int* any) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    if (any != nullptr) *any = 0;
    bool apart = false;
    const client::MeetingPlace at{place == nullptr ? "" : place, mark, seconds, &apart};
    const auto found = s.any(here != 0, &at);
    if (any == nullptr) return refuse("any", "the pointer is null");
    *any = apart ? -1 : found && *found ? 1 : 0;
    return found ? base::Status() : base::fail(found.error());
  });
}

double perdure_patience(void) { return perdure::comm::Patience::seconds(); }

void perdure_late(const char* who) {
  try {
    perdure::comm::Patience::end(who);
  } catch (...) {  // no memory: the group counts as broken, for an unknown reason
  }
}

void perdure_came(const unsigned char* came, size_t ranks, char* text, size_t text_bytes) {
  if (came == nullptr || text == nullptr || text_bytes == 0) return;
  text[0] = '\0';
  try {
    copy_text(perdure::comm::came_text(ranks, [came](size_t rank) { return came[rank] != 0; }), text, text_bytes);
  } catch (...) {  // no memory for a text
  }
}

perdure_status perdure_due(perdure_t* handle, unsigned* reasons) {
  return on_session(handle, [&](client::Session& s) -> base::Status {
    PERDURE_TRY(const unsigned found, s.due());
    if (reasons == nullptr) return refuse("reasons", "the pointer is null");
    *reasons = found;
    return {};
  });
}

perdure_status perdure_close(perdure_t** handle) {
  if (handle == nullptr) return PERDURE_INVALID_ARGUMENT;
  ClosingFailure& failure = closing_failure();
  failure = {};
  if (*handle == nullptr) return PERDURE_CLOSED;
  const auto found = capi::find_handle(*handle);
  std::unique_ptr<client::Session> closed;  // taken out under the handle's mutex: waiting threads find it closed
  perdure_status status = on_session(*handle, [&](client::Session& s) {
    auto outcome = s.close();
    closed = std::move(found->session);
    return outcome;
  });
  if (status != PERDURE_OK) failure.text = base::code_name(status);
  const bool goes_on = status == PERDURE_BUSY && closed == nullptr;  // another call
  if (status == PERDURE_WRONG_PROCESS || goes_on) return status;
  if (auto taken = capi::take_handle(*handle)) {
    const HandleLock holding(*taken);
    taken->session.reset();
    if (taken->closed_early) status = *taken->closed_early;
    if (status != PERDURE_OK) failure = {std::move(taken->error_text), taken->error_retryable};
  }
  *handle = nullptr;
  return status;
}

perdure_status perdure_close_early(perdure_t* handle, const char* why) {
  return on_session(handle, [&](client::Session&) {
    const auto found = capi::find_handle(handle);
    return capi::close_early(*found, client::Closing::early, why == nullptr ? "another call" : why);
  });
}

const char* perdure_error_text(perdure_t* handle) {
  auto found = capi::find_handle(handle);
  if (found) return found->error_text.c_str();
  const std::string& text = closing_failure().text;
  return handle == nullptr && !text.empty() ? text.c_str() : "the handle is closed";
}

int perdure_error_retryable(perdure_t* handle) {
  auto found = capi::find_handle(handle);
  if (handle == nullptr) return closing_failure().retryable ? 1 : 0;
  return found && found->error_retryable ? 1 : 0;
}

const char* perdure_status_name(perdure_status status) { return base::code_name(status); }

const char* perdure_version(void) { return base::kVersion; }

}  // extern "C"

// Implements the C functions of readers: argument checks and calls, nothing else. Exceptions (memory) stop here.
#include <algorithm>

#include "capi/handle_table.hpp"
#include "capi/texts.hpp"
#include "os/system.hpp"
#include "perdure/perdure_reader.h"
#include "portable/export_version.hpp"
#include "reader/inventory.hpp"
#include "reader/stored_content.hpp"

namespace {

using namespace perdure;
using base::Status;
using capi::refuse;
using reader::StoredContent;

struct ReaderHandle {
  std::int32_t process = 0;  // the opener; immutable, so that it may be read without the mutex
  std::mutex mutex;
  std::unique_ptr<store::Store> store;
  store::VersionListing listing;
  std::optional<StoredContent> content;
  std::vector<std::string> types;  // types of the regions; infos point into them
  std::string error_text;
};

using Readers = capi::HandleTable<perdure_reader_t, ReaderHandle>;

// Runs `body` on a live reader of this process.
template <class Body>
perdure_status on_reader(perdure_reader_t* handle, Body body) {
  if (handle == nullptr) return PERDURE_INVALID_ARGUMENT;
  const auto found = Readers::instance().find(handle);
  if (!found) return PERDURE_CLOSED;
  // A child after fork() must not even take the mutex: another thread of the parent may have held it.
  if (found->process != os::process_id()) return PERDURE_WRONG_PROCESS;
  std::lock_guard guard(found->mutex);
  const Status outcome = base::caught("reader", [&]() -> Status { return body(*found->content, *found); });
  found->error_text = outcome ? std::string() : capi::text_of(outcome.error());
  return outcome ? PERDURE_OK : outcome.error().code;
}

base::Result<std::unique_ptr<store::Store>> open_store(const char* path) {
  if (path == nullptr || *path == '\0') return base::fail(refuse("store_path", "it is null or empty").error());
  return store::make_store(path, {}, store::Whose::anybodys);
}

perdure_stored_version described(const reader::VersionFacts& facts) {
  using State = reader::VersionFacts::State;
  const auto& id = facts.listing.id;
  const perdure_stored_state state = facts.state == State::complete     ? PERDURE_STORED_COMPLETE
                                     : facts.state == State::incomplete ? PERDURE_STORED_INCOMPLETE
                                                                        : PERDURE_STORED_DAMAGED;
  return {id.name.c_str(),
          static_cast<std::int64_t>(id.version),
          state,
          facts.reason.c_str(),
          facts.ranks,
          facts.bytes,
          id.attempt.created_ns};
}

Status list_versions(const char* store_path, const char* name, perdure_version_visitor visit, void* context) {
  if (visit == nullptr) return refuse("visit", "it is null");
  PERDURE_TRY(const auto store, open_store(store_path));
  PERDURE_TRY(auto names, store->names());  // fails if there is no store
  if (name != nullptr && std::find(names.begin(), names.end(), name) == names.end())
    return base::fail(PERDURE_NOT_FOUND, name, "no such checkpoint in " + store->properties().location);
  if (name != nullptr) names = {name};
  bool goes_on = true, shown = false;
  for (const std::string& one : names) {
    const auto listed = reader::judge_each(*store, one, [&](const reader::VersionFacts& facts) {
      const auto version = described(facts);
      shown = true;
      return goes_on = visit(context, &version) == 0;
    });
    if (!goes_on) return {};
    // When all names are listed, skips those that are not readable, or have gone meanwhile.
    const auto code = listed ? PERDURE_OK : listed.error().code;
    const bool passes = name == nullptr && (code == PERDURE_PERMISSION || code == PERDURE_NOT_FOUND);
    if (!listed && !passes) return base::fail(listed.error());
  }
  if (name == nullptr || shown) return {};
  return base::fail(PERDURE_NOT_FOUND, name, "no version of it is left in " + store->properties().location);
}

struct BranchOfName {
  std::string name;
  std::optional<plan::Branch> branch;
};

/// Parses NAME or NAME@BRANCH.
base::Result<BranchOfName> branch_of_name(const std::string& text) {
  const auto at = text.find('@');
  if (at == std::string::npos) return BranchOfName{text, std::nullopt};
  const auto branch = plan::parse_branch(std::string_view(text).substr(at + 1));
  if (branch) return BranchOfName{text.substr(0, at), branch};
  return base::fail(PERDURE_INVALID_ARGUMENT, text.substr(0, 200), "what follows '@' is not a branch",
                    "write NAME@BRANCH, e.g. nbody@3f9a12");
}

Status open_content(ReaderHandle& handle, const char* store_path, const char* name, int64_t version) {
  if (name == nullptr) return refuse("name", "it is null");
  if (version < 0 && version != PERDURE_LATEST) return refuse("version", "it is negative, and not PERDURE_LATEST");
  const auto wanted = version < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(version));
  PERDURE_TRY(handle.store, open_store(store_path));
  PERDURE_CHECK(handle.store->names());  // fails if there is no store
  PERDURE_TRY(const BranchOfName of, branch_of_name(name));
  PERDURE_TRY(auto opened, reader::open_version(*handle.store, of.name, wanted, of.branch));
  handle.listing = std::move(opened.listing);
  handle.content = std::move(opened.content);
  for (const auto& region : handle.content->regions()) handle.types.push_back(region.type.text());
  return {};
}

perdure_stored_kind kind_of(const reader::StoredArray* array) {
  if (array == nullptr) return PERDURE_STORED_LOCAL;
  switch (array->kind) {
    case segment::ArrayKind::global:
      return PERDURE_STORED_ARRAY;
    case segment::ArrayKind::list:
      return PERDURE_STORED_LIST;
    case segment::ArrayKind::replicated:
      return PERDURE_STORED_REPLICATED;
  }
  return PERDURE_STORED_ARRAY;
}

base::Result<const reader::StoredRegion*> region_at(const StoredContent& content, std::size_t index) {
  const auto& all = content.regions();
  if (index < all.size()) return &all[index];
  return base::fail(PERDURE_NOT_FOUND, content.id().text(),
                    "there is no region number " + std::to_string(index) + ": it has " + std::to_string(all.size()));
}

Status describe(const StoredContent& content, const ReaderHandle& handle, std::size_t index,
                perdure_region_info& info) {
  PERDURE_TRY(const auto* region, region_at(content, index));
  const auto* array = content.array(region->id);
  info = {};
  info.id = region->id;
  info.kind = kind_of(array);
  info.name = region->label.name.c_str();
  info.type = handle.types[index].c_str();
  info.unit = region->label.unit.c_str();
  info.description = region->label.description.c_str();
  info.element_bytes = region->type.bytes();
  info.ranks = region->ranks;
  info.bytes = region->bytes;
  info.dimensions = array == nullptr ? 1 : static_cast<int>(array->whole.dimensions);
  info.extents[0] = region->most_count;
  if (array != nullptr) std::copy_n(array->whole.end.begin(), array::kMostDimensions, info.extents);
  return {};
}

base::Result<array::Box> box_of(const reader::StoredArray& array, const uint64_t* begin, const uint64_t* end) {
  array::Box box = array.whole;
  if (begin == nullptr && end == nullptr) return box;
  if (begin == nullptr || end == nullptr)
    return base::fail(PERDURE_INVALID_ARGUMENT, array.text(), "begin or end is null, and the other is not");
  for (unsigned d = 0; d < box.dimensions; ++d) {
    box.begin[d] = begin[d];
    box.end[d] = end[d];
    if (begin[d] > end[d] || end[d] > array.whole.end[d])
      return base::fail(PERDURE_INVALID_ARGUMENT, array.text(),
                        "the box from " + std::to_string(begin[d]) + " to " + std::to_string(end[d]) +
                            " in dimension " + std::to_string(d) + " is not inside of " + array.whole.text());
  }
  return box;
}

Status check_target(const void* target, std::size_t bytes) {
  return target != nullptr || bytes == 0 ? Status() : refuse("target", "the pointer is null");
}

base::Result<const reader::LocalRegion*> local_of(const StoredContent& content, uint64_t rank, int id) {
  const auto* local = rank < content.ranks() ? content.local(static_cast<std::uint32_t>(rank), id) : nullptr;
  if (local != nullptr) return local;
  return base::fail(PERDURE_NOT_FOUND, content.id().text() + ", rank " + std::to_string(rank),
                    "it has no region " + std::to_string(id) + " of its own",
                    content.array(id) != nullptr ? "that is an array: perdure_reader_read() reads it"
                                                 : "its ranks are 0 to " + std::to_string(content.ranks() - 1));
}

base::ByteSpan bytes_at(void* target, std::size_t bytes) { return {static_cast<std::byte*>(target), bytes}; }

}  // namespace

extern "C" {

perdure_status perdure_list_versions(const char* store_path, const char* name, perdure_version_visitor visit,
                                     void* context, char* message, size_t message_bytes) {
  const Status listed = base::caught("store", [&] { return list_versions(store_path, name, visit, context); });
  capi::copy_text(listed ? std::string() : capi::text_of(listed.error()), message, message_bytes);
  return listed ? PERDURE_OK : listed.error().code;
}

perdure_status perdure_open_reader(const char* store_path, const char* name, int64_t version, perdure_reader_t** out,
                                   char* message, size_t message_bytes) {
  if (out == nullptr) return PERDURE_INVALID_ARGUMENT;
  *out = nullptr;
  const auto opened = base::caught("reader", [&]() -> Status {
    auto handle = std::make_shared<ReaderHandle>();
    PERDURE_CHECK(open_content(*handle, store_path, name, version));
    handle->process = os::process_id();
    *out = Readers::instance().add(std::move(handle));
    return {};
  });
  capi::copy_text(opened ? std::string() : capi::text_of(opened.error()), message, message_bytes);
  return opened ? PERDURE_OK : opened.error().code;
}

perdure_status perdure_close_reader(perdure_reader_t** reader) {
  if (reader == nullptr) return PERDURE_INVALID_ARGUMENT;
  if (*reader == nullptr) return PERDURE_CLOSED;
  const auto found = Readers::instance().find(*reader);
  if (found && found->process != os::process_id()) return PERDURE_WRONG_PROCESS;
  const auto taken = Readers::instance().take(*reader);
  *reader = nullptr;
  if (!taken) return PERDURE_CLOSED;
  std::lock_guard guard(taken->mutex);  // a running call ends first
  return PERDURE_OK;
}

const char* perdure_reader_error_text(perdure_reader_t* reader) {
  const auto found = Readers::instance().find(reader);
  return found ? found->error_text.c_str() : "the reader is closed";
}

perdure_status perdure_reader_version(perdure_reader_t* reader, int64_t* version, uint64_t* ranks) {
  return on_reader(reader, [&](StoredContent& content, auto&) -> Status {
    if (version != nullptr) *version = static_cast<std::int64_t>(content.id().version);
    if (ranks != nullptr) *ranks = content.ranks();
    return {};
  });
}

perdure_status perdure_reader_region_count(perdure_reader_t* reader, size_t* count) {
  return on_reader(reader, [&](StoredContent& content, auto&) -> Status {
    if (count == nullptr) return refuse("count", "the pointer is null");
    *count = content.regions().size();
    return {};
  });
}

perdure_status perdure_reader_region(perdure_reader_t* reader, size_t index, perdure_region_info* info) {
  return on_reader(reader, [&](StoredContent& content, ReaderHandle& handle) -> Status {
    if (info == nullptr) return refuse("info", "the pointer is null");
    return describe(content, handle, index, *info);
  });
}

perdure_status perdure_reader_find(perdure_reader_t* reader, const char* region, size_t* index) {
  return on_reader(reader, [&](StoredContent& content, auto&) -> Status {
    if (region == nullptr || index == nullptr) return refuse("region or index", "the pointer is null");
    PERDURE_TRY(const auto* found, content.find(region));
    *index = static_cast<std::size_t>(found - content.regions().data());
    return {};
  });
}

perdure_status perdure_reader_read(perdure_reader_t* reader, size_t index, const uint64_t* begin, const uint64_t* end,
                                   void* target, size_t target_bytes) {
  return on_reader(reader, [&](StoredContent& content, auto&) -> Status {
    PERDURE_TRY(const auto* region, region_at(content, index));
    const auto* array = content.array(region->id);
    if (array == nullptr)
      return base::fail(PERDURE_INVALID_ARGUMENT, region->text(), "each rank has its own",
                        "perdure_reader_read_local() reads that of one rank");
    PERDURE_TRY(const auto box, box_of(*array, begin, end));
    PERDURE_CHECK(check_target(target, target_bytes));
    return content.read(*array, box, bytes_at(target, target_bytes));
  });
}

perdure_status perdure_reader_local_size(perdure_reader_t* reader, uint64_t rank, int id, perdure_region_size* size) {
  return on_reader(reader, [&](StoredContent& content, auto&) -> Status {
    if (size == nullptr) return refuse("size", "the pointer is null");
    PERDURE_TRY(const auto* local, local_of(content, rank, id));
    *size = {local->element_bytes, local->count};
    return {};
  });
}

perdure_status perdure_reader_read_local(perdure_reader_t* reader, uint64_t rank, int id, uint64_t first,
                                         uint64_t count, void* target, size_t target_bytes) {
  return on_reader(reader, [&](StoredContent& content, auto&) -> Status {
    PERDURE_TRY(const auto* local, local_of(content, rank, id));
    PERDURE_CHECK(check_target(target, target_bytes));
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, local->element_bytes, &bytes) || bytes != target_bytes)
      return refuse("target_bytes", "the elements that are asked for take another number of bytes");
    return content.read_local(*local, first, bytes_at(target, target_bytes));
  });
}

perdure_status perdure_reader_verify(perdure_reader_t* reader) {
  return on_reader(reader, [&](StoredContent& content, auto&) -> Status {
    PERDURE_TRY(auto defects, content.verify(nullptr));
    if (defects.empty()) return {};
    base::Error first = std::move(defects.front().error);
    if (defects.size() > 1) first.cause += "; and " + std::to_string(defects.size() - 1) + " more defects";
    return base::fail(std::move(first));
  });
}

perdure_status perdure_reader_export(perdure_reader_t* reader, const char* path, const char* const* regions,
                                     size_t count, int options) {
  return on_reader(reader, [&](StoredContent& content, ReaderHandle&) -> Status {
    if (path == nullptr) return refuse("path", "it is null");
    if ((regions == nullptr) != (count == 0))
      return refuse("regions", regions == nullptr ? "it is null, and there are to be some" : "there are none in it");
    if ((options & ~(PERDURE_EXPORT_REPLACE | PERDURE_EXPORT_UNVERIFIED)) != 0)
      return refuse("options", "it is no sum of values of perdure_export_option");
    portable::ExportOptions wanted;
    for (std::size_t i = 0; i < count; ++i) {
      if (regions[i] == nullptr) return refuse("regions", "one of them is null");
      wanted.regions.emplace_back(regions[i]);
    }
    wanted.replace = (options & PERDURE_EXPORT_REPLACE) != 0;
    wanted.verify = (options & PERDURE_EXPORT_UNVERIFIED) == 0;
    PERDURE_TRY(const auto exported, portable::export_version(content, path, wanted));
    (void)exported;
    return {};
  });
}

}  // extern "C"

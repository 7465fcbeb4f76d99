// Implements include/perdure/perdure_track.h: converts arguments for an AnnotatedProgram, and exceptions to statuses.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "array/element_type.hpp"
#include "automatic/annotated_program.hpp"
#include "automatic/failure.hpp"
#include "automatic/perdure_store.hpp"
#include "perdure/perdure_track.h"

using perdure::automatic::AnnotatedProgram;
using perdure::automatic::Failure;
using perdure::automatic::Part;
using perdure::automatic::Policy;
using perdure::automatic::StoredSet;

struct perdure_track {
  perdure_track(perdure_t* of, Policy policy, bool reports)
      : handle(of), name(policy.name), program(std::move(policy), reports) {}
  perdure_t* handle;
  std::string name;
  AnnotatedProgram program;
  std::vector<std::vector<std::uint64_t>> ghosts;  // for each data set, around boxes without strides
  const std::uint64_t* ghosts_of(perdure::track::SetId id) const {
    return id < ghosts.size() && !ghosts[id].empty() ? ghosts[id].data() : nullptr;
  }
  perdure_status status = PERDURE_OK;  // the failure that ended it
  std::string text;
};

namespace {

[[noreturn]] void refuse(const std::string& object, const std::string& why) {
  throw Failure(PERDURE_INVALID_ARGUMENT, object + ": " + why + " (invalid-argument)");
}

constexpr std::size_t kMostGiven = std::size_t{1} << 30U;

std::string text_or(const char* text, const char* otherwise) { return text == nullptr ? otherwise : text; }

// Converts an exception of `work` to a status; the message goes to `text`.
template <class Work>
perdure_status caught(std::string& text, const Work& work) {
  try {
    work();
    return PERDURE_OK;
  } catch (const Failure& failure) {
    text = failure.what();
    return failure.status;
  } catch (const std::bad_alloc&) {
    text = "tracking: there is no memory for it (no-space)";
    return PERDURE_NO_SPACE;
  } catch (const std::exception& other) {
    text = other.what();
    return PERDURE_INTERNAL;
  }
}

// A tracker that failed stays failed: its program would otherwise compute on from wrong data.
template <class Work>
perdure_status on_track(perdure_track_t* track, const Work& work) {
  if (track == nullptr) return PERDURE_INVALID_ARGUMENT;
  if (track->status == PERDURE_OK) track->status = caught(track->text, [&] { work(track->program); });
  return track->status;
}

void tell(char* message, std::size_t bytes, const std::string& text) {
  if (message == nullptr || bytes == 0) return;
  const std::size_t length = std::min(text.size(), bytes - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

Policy policy_of(const perdure_track_policy* given) {
  const perdure_track_policy none{};
  const perdure_track_policy& from = given == nullptr ? none : *given;
  Policy policy;
  policy.name = text_or(from.name, "track");
  policy.every_s = from.every_s;
  policy.every_loops = from.every_regions;
  policy.before = text_or(from.before, "");
  if (from.learns > 0) policy.learns = from.learns;
  policy.report = text_or(from.report, "");
  policy.on_signals = from.on_signals != 0;
  if (!(from.every_s >= 0)) refuse("policy", "every_s is no time in seconds");
  if (from.patience_s != 0) policy.patience_s = from.patience_s > 0 ? from.patience_s : 0;
  for (std::size_t i = 0; from.only != nullptr && i < from.only_count; ++i)
    policy.only.push_back(text_or(from.only[i], ""));
  if (from.only != nullptr && policy.only.empty()) refuse("policy", "its list of data has nothing");
  return policy;
}

// Rank 0 has the beginning of a very long row that is divided evenly.
bool is_first(perdure_t* handle) {
  const std::uint64_t extent = std::uint64_t{1} << 40U;
  perdure_array row{};
  row.type = "u1";
  row.dimensions = 1;
  row.extents = &extent;
  std::uint64_t begin = 0, end = 0;
  if (const auto status = perdure_block(handle, &row, nullptr, &begin, &end); status != PERDURE_OK)
    throw Failure(status, perdure_error_text(handle));
  return begin == 0;
}

std::int64_t index_of(const std::string& object, std::uint64_t number) {
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    refuse(object, "an index is 2^63 or more");
  return static_cast<std::int64_t>(number);
}

perdure::track::Box box_of(const std::string& object, unsigned dimensions, const std::uint64_t* begin,
                           const std::uint64_t* end) {
  perdure::track::Box box{dimensions, {}, {}};
  for (unsigned d = 0; d < dimensions; ++d) {
    box.begin[d] = begin == nullptr ? 0 : index_of(object, begin[d]);
    box.end[d] = index_of(object, end[d]);
    if (box.end[d] < box.begin[d]) refuse(object, "a box ends before it begins");
  }
  return box;
}

StoredSet set_of(const perdure_array* array) {
  if (array == nullptr) refuse("data", "its array is null");
  StoredSet set;
  set.data.name = text_or(array->name, "");
  const std::string object = "data '" + set.data.name + "'";
  if (array->dimensions < 0 || static_cast<unsigned>(array->dimensions) > perdure::track::kMostDimensions)
    refuse(object, "it has " + std::to_string(array->dimensions) + " dimensions; tracked data has 0 to 5");
  const auto dimensions = static_cast<unsigned>(array->dimensions);
  if (dimensions > 0 && array->extents == nullptr) refuse(object, "its extents are null");
  if (array->type == nullptr) refuse(object, "its type is null");
  const auto type = perdure::array::ElementType::parse(array->type, object);
  if (!type) throw Failure(type.error().code, type.error().text());
  set.data.box = box_of(object, dimensions, nullptr, array->extents);
  set.data.element_bytes = type->bytes();
  set.type = array->type;
  set.unit = text_or(array->unit, "");
  set.description = text_or(array->description, "");
  return set;
}

// Without strides the part is dense, with the array's ghosts around it.
Part part_of(const StoredSet& set, const perdure_box& given, const std::uint64_t* ghosts) {
  const unsigned dimensions = set.data.box.dimensions;
  const std::string object = "data '" + set.data.name + "'";
  if (dimensions > 0 && (given.begin == nullptr || given.end == nullptr))
    refuse(object, "a box has no begin or no end");
  Part part{box_of(object, dimensions, given.begin, given.end), static_cast<std::byte*>(given.address), {}};
  auto stride = static_cast<std::int64_t>(set.data.element_bytes);
  for (unsigned d = dimensions; d-- > 0;) {
    part.strides[d] = given.strides == nullptr ? stride : given.strides[d];
    const std::int64_t halo = ghosts == nullptr ? 0 : index_of(object, ghosts[d]);
    std::int64_t extent = part.box.end[d] - part.box.begin[d];
    if (__builtin_add_overflow(extent, halo, &extent) || __builtin_add_overflow(extent, halo, &extent) ||
        __builtin_mul_overflow(stride, extent, &stride))
      refuse(object, "box " + part.box.text() + " with its ghosts has 2^63 bytes or more");
  }
  return part;
}

std::vector<Part> parts_of(const StoredSet& set, const perdure_box* boxes, std::size_t count,
                           const std::uint64_t* ghosts) {
  if (boxes == nullptr && count > 0) refuse("data '" + set.data.name + "'", "its boxes are null");
  std::vector<Part> parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back(part_of(set, boxes[i], ghosts));
  return parts;
}

perdure::track::SetId id_of(int data) {
  if (data < 0) refuse("data " + std::to_string(data), "there is none of that number");
  return static_cast<perdure::track::SetId>(data);
}

AnnotatedProgram::Use use_of(const AnnotatedProgram& program, std::string_view region, const perdure_access& access) {
  using Mode = perdure::track::Access::Mode;
  const std::string object = "region '" + std::string(region) + "'";
  AnnotatedProgram::Use use;
  if (access.mode == PERDURE_GIVES) {
    if (access.address == nullptr || access.bytes == 0) refuse(object, "a value that it gives has no address or size");
    if (access.bytes > kMostGiven) refuse(object, "a value that it gives has more than 2^30 bytes");
    use.gives = {static_cast<std::byte*>(access.address), access.bytes};
    return use;
  }
  if (access.mode == PERDURE_TOUCHES_ALL) {
    use.touches_all = true;
    return use;
  }
  if (access.mode < PERDURE_READS || access.mode > PERDURE_READS_WRITES)
    refuse(object, "access mode " + std::to_string(access.mode) + " is none");
  use.mode = access.mode == PERDURE_READS ? Mode::read : access.mode == PERDURE_WRITES ? Mode::write : Mode::read_write;
  use.set = id_of(access.data);
  if ((access.begin == nullptr) != (access.end == nullptr)) refuse(object, "a box has no begin or no end");
  const unsigned dimensions = program.set(use.set).data.box.dimensions;
  if (access.begin != nullptr) use.box = box_of(object, dimensions, access.begin, access.end);
  return use;
}

void give_out(int* data, perdure::track::SetId id) {
  if (data == nullptr) refuse("data", "the pointer for its number is null");
  *data = static_cast<int>(id);
}

[[noreturn]] void end_process(const perdure_track_t& track) {
  std::fprintf(stderr, "perdure: %s\n", track.text.c_str());
  std::abort();
}

// Returns the checks that PERDURE_TRACK_CHECK asks for, or none.
std::optional<perdure::automatic::RegionCheck::Looks> looks_asked_for() {
  const std::string check = text_or(std::getenv("PERDURE_TRACK_CHECK"), "0");
  if (check.empty() || check == "0") return std::nullopt;
  if (check == "1") return perdure::automatic::RegionCheck::Looks{true, true};
  if (check == "writes") return perdure::automatic::RegionCheck::Looks{true, false};
  if (check == "reads") return perdure::automatic::RegionCheck::Looks{false, true};
  refuse("PERDURE_TRACK_CHECK", "it is '" + check + "'; it may be 0, 1, reads or writes");
}

}  // namespace

extern "C" {

perdure_status perdure_track_open(perdure_t* handle, const perdure_track_policy* policy, perdure_track_t** out,
                                  char* message, size_t message_bytes) {
  if (out == nullptr) return PERDURE_INVALID_ARGUMENT;
  *out = nullptr;
  std::string text;
  const perdure_status status = caught(text, [&] {
    auto track = std::make_unique<perdure_track>(handle, policy_of(policy), is_first(handle));
    if (const auto looks = looks_asked_for()) track->program.check_regions(*looks);
    *out = track.release();
  });
  tell(message, message_bytes, text);
  return status;
}

perdure_status perdure_track_array(perdure_track_t* track, const perdure_array* array, const perdure_box* boxes,
                                   size_t count, int* data) {
  return on_track(track, [&](AnnotatedProgram& program) {
    StoredSet set = set_of(array);
    std::vector<std::uint64_t> ghosts;
    if (array->ghosts != nullptr) ghosts.assign(array->ghosts, array->ghosts + array->dimensions);
    set.owned = parts_of(set, boxes, count, array->ghosts);
    const perdure::track::SetId id = program.declare(std::move(set));
    track->ghosts.resize(id + 1);
    track->ghosts[id] = std::move(ghosts);
    give_out(data, id);
  });
}

perdure_status perdure_track_replicated(perdure_track_t* track, const perdure_array* array, void* address, int* data) {
  return on_track(track, [&](AnnotatedProgram& program) {
    StoredSet set = set_of(array);
    set.replicated = true;
    const std::uint64_t none[perdure::track::kMostDimensions]{};
    set.owned = {part_of(set, {address, none, array->extents, nullptr}, nullptr)};
    if (set.data.box.empty()) set.owned.clear();
    give_out(data, program.declare(std::move(set)));
  });
}

perdure_status perdure_track_start(perdure_track_t* track) {
  return on_track(track, [&](AnnotatedProgram& program) {
    program.start(perdure::automatic::perdure_store(track->handle, track->name, program.checks()));
  });
}

perdure_status perdure_track_begin(perdure_track_t* track, const char* name, const char* where,
                                   const perdure_access* accesses, size_t count, int* run) {
  return on_track(track, [&](AnnotatedProgram& program) {
    if (run == nullptr) refuse("a region", "the pointer for run is null");
    *run = 0;
    const std::string called = text_or(name, "");
    if (accesses == nullptr && count > 0) refuse("region '" + called + "'", "its accesses are null");
    std::vector<AnnotatedProgram::Use> uses;
    uses.reserve(count);
    for (std::size_t i = 0; i < count; ++i) uses.push_back(use_of(program, called, accesses[i]));
    *run = program.begin(called, text_or(where, ""), uses) ? 1 : 0;
  });
}

perdure_status perdure_track_end(perdure_track_t* track) {
  return on_track(track, [](AnnotatedProgram& program) { program.end(); });
}

perdure_status perdure_track_swap(perdure_track_t* track, int data, int other) {
  return on_track(track, [&](AnnotatedProgram& program) { program.swap(id_of(data), id_of(other)); });
}

perdure_status perdure_track_moved(perdure_track_t* track, int data, const perdure_box* boxes, size_t count) {
  return on_track(track, [&](AnnotatedProgram& program) {
    const auto id = id_of(data);
    program.moved(id, parts_of(program.set(id), boxes, count, track->ghosts_of(id)));
  });
}

perdure_status perdure_track_tick(perdure_track_t* track) {
  return on_track(track, [](AnnotatedProgram& program) { program.tick(); });
}

perdure_status perdure_track_trigger(perdure_track_t* track) {
  return on_track(track, [](AnnotatedProgram& program) { program.trigger(); });
}

perdure_status perdure_track_fast_forward(perdure_track_t* track, void* payload, size_t bytes, int* jumped) {
  return on_track(track, [&](AnnotatedProgram& program) {
    if (payload == nullptr || jumped == nullptr) refuse("fast forward", "a pointer is null");
    const auto there = program.fast_forward({static_cast<std::byte*>(payload), bytes});
    *jumped = there ? 1 : 0;
    if (there) std::copy(there->begin(), there->end(), static_cast<std::byte*>(payload));
  });
}

perdure_status perdure_track_get_info(perdure_track_t* track, perdure_track_info* info) {
  return on_track(track, [&](AnnotatedProgram& program) {
    if (info == nullptr) refuse("info", "the pointer is null");
    *info = {};
    info->regions = program.regions();
    const auto* protection = program.protection();
    if (protection == nullptr) return;
    info->restarted = protection->restarted() ? 1 : 0;
    info->goes_on_at = protection->goes_on_at();
    info->checkpoints = protection->taken().size();
    for (const StoredSet& set : protection->sets()) info->state_bytes += set.bytes();
    if (protection->taken().empty()) return;
    const auto& last = protection->taken().back();
    info->last_bytes = last.bytes;
    info->last_blocking_s = last.blocking_s;
    tell(info->last_before, sizeof info->last_before, last.before);
  });
}

perdure_status perdure_track_next_report(perdure_track_t* track, char* text, size_t text_bytes) {
  if (track == nullptr) return PERDURE_INVALID_ARGUMENT;
  const auto report = track->program.next_report();
  if (!report) return PERDURE_NOT_FOUND;
  tell(text, text_bytes, *report);
  return PERDURE_OK;
}

const char* perdure_track_error_text(const perdure_track_t* track) {
  return track == nullptr ? "" : track->text.c_str();
}

perdure_status perdure_track_close(perdure_track_t** track, char* message, size_t message_bytes) {
  if (track == nullptr || *track == nullptr) return PERDURE_INVALID_ARGUMENT;
  const std::unique_ptr<perdure_track> ended(*track);
  *track = nullptr;
  const perdure_status status = on_track(ended.get(), [](AnnotatedProgram& program) { program.ended(); });
  const std::string lack = status == PERDURE_OK ? ended->program.lack_of_checkpoints() : std::string();
  if (!lack.empty()) std::fprintf(stderr, "perdure: %s\n", lack.c_str());
  tell(message, message_bytes, ended->text);
  return status;
}

perdure_access* perdure_track_enter(perdure_track_t* track, const char* name, const char* file, const char* function,
                                    perdure_access* accesses, size_t count) {
  if (track == nullptr) return accesses;
  const std::string path = text_or(file, "");
  const std::string where = path.substr(path.find_last_of('/') + 1) + ":" + text_or(function, "");
  int run = 0;
  if (perdure_track_begin(track, name, where.c_str(), accesses, count, &run) != PERDURE_OK) end_process(*track);
  return run != 0 ? accesses : nullptr;
}

perdure_access* perdure_track_leave(perdure_track_t* track) {
  if (track != nullptr && perdure_track_end(track) != PERDURE_OK) end_process(*track);
  return nullptr;
}

}  // extern "C"

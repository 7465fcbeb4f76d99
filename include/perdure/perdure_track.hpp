/// @file
/// Perdure for C++17 programs that say around each piece of code what it reads and writes: a thin, header-only veneer
/// over perdure_track.h, whose conventions hold. Link with libperdure_track. Results are those of perdure.hpp.
///
///     using namespace perdure::tracked;
///     auto track = perdure::Track::open(handle).value();
///     const Data now = track.array(field("temperature"), box_of(plate)).value();   // as in protect_global()
///     const Data next = track.array(field("other"), box_of(other)).value();
///     track.start().value();                                 // what is above every start does again
///     while (change > 1e-6) {
///       track.region("advance", {reads(now), writes(next), gives(change)}, [&] { change = advance(plate); }).value();
///       track.swap(now, next).value();
///     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "perdure/perdure.hpp"
#include "perdure/perdure_track.h"

namespace perdure {

/// What regions of a Track read, write and give.
namespace tracked {

/// An array that a Track knows; made by Track::array() and Track::replicated(). Good as long as the Track, which it is
/// used with.
class Data {
 public:
  /// Of no array, which regions refuse.
  Data() = default;
  /// What perdure_track_array() gave, and what the array is made of.
  Data(int number, std::size_t dimensions, std::size_t element_bytes)
      : number_(number), dimensions_(dimensions), element_bytes_(element_bytes) {}
  /// For calls of the C API.
  int number() const noexcept { return number_; }
  /// As many as the array has.
  std::size_t dimensions() const noexcept { return dimensions_; }
  /// Bytes of an element.
  std::size_t element_bytes() const noexcept { return element_bytes_; }

 private:
  int number_ = -1;
  std::size_t dimensions_ = 0, element_bytes_ = 0;
};

/// What a region does with data; made by reads() and those below.
struct Access {
  perdure_access native{};  ///< but for its indices
  Data data{};              ///< nothing in it where there is none
  Index begin{};            ///< index in the array, by dimension; {}: all of it
  Index end{};              ///< behind the last, by dimension
};

/// The region reads the array.
inline Access reads(const Data& data) { return {perdure_reads(data.number()), data}; }
/// The region writes all of the array.
inline Access writes(const Data& data) { return {perdure_writes(data.number()), data}; }
/// The region reads the array and writes it, or some of it.
inline Access reads_writes(const Data& data) { return {perdure_reads_writes(data.number()), data}; }
/// An access to elements `begin` to before `end` alone: within(reads(now), indices(0, 0), indices(1, columns)).
inline Access within(Access access, Index begin, Index end) {
  access.begin = std::move(begin);
  access.end = std::move(end);
  return access;
}
/// A value of the program, equal on all ranks, that the region sets: an object, an array, or the elements that a vector
/// has. It stays where it is until the region has ended.
template <class T>
Access gives(T& value) {
  const auto elements = detail::elements_of(value);
  using Element = std::remove_pointer_t<decltype(elements.first)>;
  detail::check_element<Element>();
  return {perdure_gives(detail::address_of(elements.first), sizeof(Element) * detail::product(elements.extents)), {}};
}
/// Nobody knows what the region does: all data is read, and may be written.
inline Access touches_all() { return {perdure_touches_all(), {}}; }

/// What a region is called, and where it stands: the function, so that a restart takes it for the same one after lines
/// were added above it.
struct RegionName {
  /// A text in the place of it.
  RegionName(const char* called, const char* in_file = __builtin_FILE(), const char* in_function = __builtin_FUNCTION())
      : text(called), file(in_file), function(in_function) {}
  /// The same, of a text that was put together.
  RegionName(const std::string& called, const char* in_file = __builtin_FILE(),
             const char* in_function = __builtin_FUNCTION())
      : RegionName(called.c_str(), in_file, in_function) {}
  const char* text;      ///< what it is called
  const char* file;      ///< that it stands in
  const char* function;  ///< that it stands in
};

}  // namespace tracked

/// When and where checkpoints are made.
struct TrackPolicy {
  std::string name = "track";       ///< of the checkpoints
  double every_s = 0;               ///< seconds; needs tick(). 0: not by time
  std::uint64_t every_regions = 0;  ///< so many regions; 0: not by their number
  std::string before{};             ///< only before regions of this name; "": where a checkpoint is smallest
  std::vector<std::string> only{};  ///< data that is saved, as a whole, and watched to be enough; {}: what is needed
  std::uint64_t learns = 0;         ///< regions that say where a checkpoint is smallest; 0: 2048
  std::string report{};             ///< a file for `perdure track`; "": none
  bool on_signals = false;          ///< signals ask for a checkpoint, and end the process, as perdure_track.h says
  double patience_s = 0;  ///< seconds that ranks wait for each other; 0: 1800; less than 0: as long as it takes
};

using TrackInfo = perdure_track_info;  ///< what checkpoints there were

/// A program that is tracked. Move-only; the destructor closes it, which has to happen before the Handle is closed.
/// Calls on a moved-from or closed Track give PERDURE_CLOSED. After a failure every call but close() gives the same
/// error.
class Track {
 public:
  /// A closed one.
  Track() = default;
  /// Takes over what perdure_track_open() made.
  explicit Track(perdure_track_t* native) noexcept : native_(native) {}
  /// `other` is closed afterwards.
  Track(Track&& other) noexcept
      : native_(std::exchange(other.native_, nullptr)), refusal_(std::exchange(other.refusal_, std::nullopt)) {}
  /// Closes what was open here; `other` is closed afterwards.
  Track& operator=(Track&& other) noexcept {
    if (this != &other) {
      (void)close();
      native_ = std::exchange(other.native_, nullptr);
      refusal_ = std::exchange(other.refusal_, std::nullopt);
    }
    return *this;
  }
  Track(const Track&) = delete;
  Track& operator=(const Track&) = delete;
  ~Track() { (void)close(); }

  /// A Track on a handle that has no protected regions, and gets none but by it. [local]
  static Result<Track> open(Handle& handle, const TrackPolicy& policy = {}) {
    std::vector<const char*> only;
    for (const std::string& name : policy.only) only.push_back(name.c_str());
    const perdure_track_policy native{policy.name.c_str(),
                                      policy.every_s,
                                      policy.every_regions,
                                      policy.before.empty() ? nullptr : policy.before.c_str(),
                                      only.empty() ? nullptr : only.data(),
                                      only.size(),
                                      policy.learns,
                                      policy.report.empty() ? nullptr : policy.report.c_str(),
                                      policy.on_signals ? 1 : 0,
                                      policy.patience_s};
    return detail::open_with<Track>([&](perdure_track_t** out, char* text, std::size_t bytes) {
      return perdure_track_open(handle.native(), &native, out, text, bytes);
    });
  }

  /// For calls of the C API; this Track still owns it.
  perdure_track_t* native() const noexcept { return native_; }
  /// True when it is open.
  explicit operator bool() const noexcept { return native_ != nullptr; }

  /// Declares an array, and what of it this rank owns, as in Handle::protect_global(): no element has two owners, none
  /// is without. [local] Before start(). It has a name of 1 to 56 characters, and 5 dimensions at most.
  template <class T>
  Result<tracked::Data> array(const Array& array, const std::vector<Box<T>>& boxes) {
    std::vector<perdure_box> owned;
    if (const auto why = detail::say_boxes(boxes, array.extents.size(), owned); !why.empty())
      return refused(object(array), why);
    return declared<T>(array, array.extents, [&](const perdure_array& native, int* number) {
      return perdure_track_array(native_, &native, owned.data(), owned.size(), number);
    });
  }
  /// The same, of boxes in braces.
  template <class T>
  Result<tracked::Data> array(const Array& array, std::initializer_list<Box<T>> boxes) {
    return this->array(array, std::vector<Box<T>>(boxes));
  }
  /// The same, of one box.
  template <class T>
  Result<tracked::Data> array(const Array& array, const Box<T>& box) {
    return this->array(array, std::vector<Box<T>>{box});
  }
  /// What is equal on all ranks: an object, an array, or what has data() and size(). [local] array.extents {}: those of
  /// the object. Regions read and write it as a whole.
  template <class T>
  Result<tracked::Data> replicated(const Array& array, T& content) {
    const auto elements = detail::elements_of(content);
    if (const auto why = detail::shape_refusal(array, elements.extents); !why.empty())
      return refused(object(array), why);
    using Element = std::remove_pointer_t<decltype(elements.first)>;
    const Index& extents = array.extents.empty() ? elements.extents : array.extents;
    return declared<Element>(array, extents, [&](const perdure_array& native, int* number) {
      return perdure_track_replicated(native_, &native, detail::address_of(elements.first), number);
    });
  }

  /// From here on regions count. Where there is a checkpoint of the policy's name, all data is filled from it, and the
  /// run goes on from there: regions up to it are skipped. [collective]
  Status start() {
    return done([&] { return perdure_track_start(native_); });
  }

  /// Runs `body`, or skips it in a restart. [collective] Regions do not lie within each other. The name, and the
  /// function that the call stands in, tell the region from others. Where `body` throws, the region ends there, and the
  /// exception passes on. To the tracker it has then done all that it says, so that what it left half done is what
  /// later checkpoints have: a program that goes on has to undo that by itself, and one that cannot closes the Track
  /// before the next region.
  template <class Body>
  Status region(const tracked::RegionName& name, const std::vector<tracked::Access>& accesses, Body&& body) {
    return run_region(name, accesses.data(), accesses.size(), std::forward<Body>(body));
  }
  /// The same, of accesses in braces.
  template <class Body>
  Status region(const tracked::RegionName& name, std::initializer_list<tracked::Access> accesses, Body&& body) {
    return run_region(name, accesses.begin(), accesses.size(), std::forward<Body>(body));
  }

  /// Two arrays of one type, extents and division exchange their content by exchanging their memory, as the program
  /// does with its pointers, in a restart, too. [collective]
  Status swap(const tracked::Data& data, const tracked::Data& other) {
    return done([&] { return perdure_track_swap(native_, data.number(), other.number()); });
  }
  /// What this rank owns of the array lies elsewhere from here on, with its content. [local] Not within a region.
  template <class T>
  Status moved(const tracked::Data& data, const std::vector<Box<T>>& boxes) {
    std::vector<perdure_box> owned;
    if (const auto why = detail::say_boxes(boxes, data.dimensions(), owned); !why.empty())
      return refused("data " + std::to_string(data.number()), why);
    if (sizeof(T) != data.element_bytes())
      return refused("data " + std::to_string(data.number()),
                     "its elements have " + std::to_string(data.element_bytes()) + " bytes, and where they lie now " +
                         std::to_string(sizeof(T)));
    return done([&] { return perdure_track_moved(native_, data.number(), owned.data(), owned.size()); });
  }
  /// The same, of one box.
  template <class T>
  Status moved(const tracked::Data& data, const Box<T>& box) {
    return moved(data, std::vector<Box<T>>{box});
  }

  /// Ranks agree on whether a checkpoint is due by time; once in a time step is enough. [collective]
  Status tick() {
    return done([&] { return perdure_track_tick(native_); });
  }
  /// A checkpoint at the next place, whatever the policy says. [local] All ranks say so, at the same region.
  Status trigger() {
    return done([&] { return perdure_track_trigger(native_); });
  }
  /// The program could begin here by `payload` alone, such as the number of its time step: regions before need not be
  /// skipped one by one. [local] True in a restart: `payload` has what the run that made the checkpoint said last, and
  /// the program goes there.
  template <class T>
  Result<bool> fast_forward(T& payload) {
    const auto elements = detail::elements_of(payload);
    using Element = std::remove_pointer_t<decltype(elements.first)>;
    detail::check_element<Element>();
    int jumped = 0;
    const Status code = done([&] {
      return perdure_track_fast_forward(native_, detail::address_of(elements.first),
                                        sizeof(Element) * detail::product(elements.extents), &jumped);
    });
    if (!code) return code.error();
    return jumped != 0;
  }

  /// What there was so far. [local]
  Result<TrackInfo> info() {
    TrackInfo info{};
    const Status code = done([&] { return perdure_track_get_info(native_, &info); });
    if (!code) return code.error();
    return info;
  }
  /// The oldest report of what went wrong with a checkpoint while the run went on; nothing when there is none. [local]
  Result<std::optional<std::string>> next_report() {
    std::string text(4096, '\0');
    bool none = false;
    const Status code = done([&] {
      const perdure_status taken = perdure_track_next_report(native_, text.data(), text.size());
      none = taken == PERDURE_NOT_FOUND;
      return none ? PERDURE_OK : taken;
    });
    if (!code) return code.error();
    return none ? std::optional<std::string>() : std::optional<std::string>(text.c_str());
  }

  /// Ends the tracker; before the program takes its results out of its data. PERDURE_MISMATCH: the run did not come to
  /// where it was to go on from, and its data is not what it computed. Nothing to do, and no error, when it is closed
  /// already.
  Status close() noexcept {
    refusal_.reset();
    if (native_ == nullptr) return {};
    char message[2048] = "";
    const perdure_status code = perdure_track_close(&native_, message, sizeof message);
    native_ = nullptr;
    if (code == PERDURE_OK) return {};
    return Error{code, message, detail::may_pass(code)};
  }

 private:
  // Does `call`, unless something was refused before; then that is the error.
  template <class Call>
  Status done(Call&& call) {
    if (native_ == nullptr) return Error{PERDURE_CLOSED, "track: closed (closed)", false};
    if (refusal_) return *refusal_;
    const perdure_status code = call();
    if (code == PERDURE_OK) return {};
    std::string text = perdure_track_error_text(native_);
    if (text.empty()) text = perdure_status_name(code);
    return Error{code, std::move(text), detail::may_pass(code)};
  }
  // What C is not asked ends the tracking all the same: other ranks may have gone on.
  Error refused(const std::string& object, const std::string& why) {
    if (const auto before = info(); !before) return before.error();
    refusal_ = Error{PERDURE_INVALID_ARGUMENT, object + ": " + why + " (invalid-argument)", false};
    return *refusal_;
  }
  static std::string object(const Array& array) { return "data '" + array.name + "'"; }

  template <class T, class Call>
  Result<tracked::Data> declared(const Array& array, const Index& extents, Call&& call) {
    perdure_array native{};
    if (const auto why = detail::say_array<T>(array, extents, native); !why.empty()) return refused(object(array), why);
    int number = -1;
    const Status code = done([&] { return call(native, &number); });
    if (!code) return code.error();
    return tracked::Data(number, extents.size(), sizeof(T));
  }

  template <class Body>
  Status run_region(const tracked::RegionName& name, const tracked::Access* accesses, std::size_t count, Body&& body) {
    static_assert(std::is_invocable_v<Body>, "the body of a region is called without arguments");
    int run = 0;
    Status begun = begin(name, accesses, count, run);
    if (!begun || run == 0) return begun;
    try {
      std::forward<Body>(body)();
    } catch (...) {
      (void)end();
      throw;
    }
    return end();
  }
  Status begin(const tracked::RegionName& name, const tracked::Access* accesses, std::size_t count, int& run) {
    std::vector<perdure_access> natives;
    natives.reserve(count);
    for (const tracked::Access* access = accesses; access != accesses + count; ++access) {
      natives.push_back(access->native);
      if (access->begin.empty() && access->end.empty()) continue;
      if (access->begin.size() != access->data.dimensions() || access->end.size() != access->data.dimensions())
        return refused(std::string("region '") + name.text + "'",
                       "what it accesses is within indices that have not as many dimensions as the array");
      natives.back() = perdure_within(access->native, access->begin.data(), access->end.data());
    }
    const std::string file = name.file;
    const std::string where = file.substr(file.find_last_of('/') + 1) + ":" + name.function;
    return done(
        [&] { return perdure_track_begin(native_, name.text, where.c_str(), natives.data(), natives.size(), &run); });
  }
  Status end() {
    return done([&] { return perdure_track_end(native_); });
  }

  perdure_track_t* native_ = nullptr;
  std::optional<Error> refusal_;  // of a call that did not reach C
};

}  // namespace perdure

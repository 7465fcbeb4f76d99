/// @file
/// This is a thin, header-only C++17 veneer over perdure_track.h, whose conventions hold. Programs say around each
/// piece of code what data it reads and writes. Link with libperdure_track. Results are those of perdure.hpp.
///
///     using namespace perdure::tracked;
///     auto track = perdure::Track::open(handle).value();
///     const Data now = track.array(field("temperature"), box_of(plate)).value();   // as in protect_global()
///     const Data next = track.array(field("other"), box_of(other)).value();
///     track.start().value();                                 // every start runs the code above
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

/// The data that regions of a Track read, write and give.
namespace tracked {

/// An array that a Track knows. Track::array() and Track::replicated() make it; it is valid as long as that Track.
class Data {
 public:
  /// Names no array; regions refuse it.
  Data() = default;
  /// Takes the number that perdure_track_array() gave, and the shape of the array.
  Data(int number, std::size_t dimensions, std::size_t element_bytes)
      : number_(number), dimensions_(dimensions), element_bytes_(element_bytes) {}
  /// For calls of the C API.
  int number() const noexcept { return number_; }
  /// The number of dimensions of the array.
  std::size_t dimensions() const noexcept { return dimensions_; }
  /// Bytes of an element.
  std::size_t element_bytes() const noexcept { return element_bytes_; }

 private:
  int number_ = -1;
  std::size_t dimensions_ = 0, element_bytes_ = 0;
};

/// Says how a region uses data; reads() and the functions below make it.
struct Access {
  perdure_access native{};  ///< all but its indices
  Data data{};              ///< the array; empty if there is none
  Index begin{};            ///< index in the array, by dimension; {}: all of it
  Index end{};              ///< behind the last, by dimension
};

/// The region reads the array.
inline Access reads(const Data& data) { return {perdure_reads(data.number()), data}; }
/// The region writes all of the array.
inline Access writes(const Data& data) { return {perdure_writes(data.number()), data}; }
/// The region reads the array and writes it, or some of it.
inline Access reads_writes(const Data& data) { return {perdure_reads_writes(data.number()), data}; }
/// Limits an access to elements `begin` to before `end`: within(reads(now), indices(0, 0), indices(1, columns)).
inline Access within(Access access, Index begin, Index end) {
  access.begin = std::move(begin);
  access.end = std::move(end);
  return access;
}
/// The region sets a value of the program, equal on all ranks: an object, an array, or the elements of a vector. It
/// stays where it is until the region has ended.
template <class T>
Access gives(T& value) {
  const auto elements = detail::elements_of(value);
  using Element = std::remove_pointer_t<decltype(elements.first)>;
  detail::check_element<Element>();
  return {perdure_gives(detail::address_of(elements.first), sizeof(Element) * detail::product(elements.extents)), {}};
}
/// The region's accesses are unknown: it reads all data, and may write all data.
inline Access touches_all() { return {perdure_touches_all(), {}}; }

/// The name and place of a region. The place is the function, so that a restart recognises the region after lines were
/// added above it.
struct RegionName {
  /// Takes a text, at the place where it stands.
  RegionName(const char* called, const char* in_file = __builtin_FILE(), const char* in_function = __builtin_FUNCTION())
      : text(called), file(in_file), function(in_function) {}
  /// Takes a text that was put together, at the place of the call.
  RegionName(const std::string& called, const char* in_file = __builtin_FILE(),
             const char* in_function = __builtin_FUNCTION())
      : RegionName(called.c_str(), in_file, in_function) {}
  const char* text;      ///< name of the region
  const char* file;      ///< file that it stands in
  const char* function;  ///< function that it stands in
};

}  // namespace tracked

/// Says when and where checkpoints are made.
struct TrackPolicy {
  std::string name = "track";       ///< name of the checkpoints
  double every_s = 0;               ///< seconds between checkpoints; needs tick(). 0: not by time
  std::uint64_t every_regions = 0;  ///< regions between checkpoints; 0: not by their number
  std::string before{};  ///< make checkpoints only before regions of this name; "": where a checkpoint is smallest
  std::vector<std::string>
      only{};  ///< data to save, as a whole; the tracker watches that it suffices; {}: the needed data
  std::uint64_t learns =
      0;                    ///< number of regions from which the tracker learns where a checkpoint is smallest; 0: 2048
  std::string report{};     ///< file for `perdure track`; "": none
  bool on_signals = false;  ///< signals ask for a checkpoint, and end the process, as perdure_track.h says
  double patience_s = 0;    ///< seconds that ranks wait for each other; 0: 1800; less than 0: as long as it takes
};

using TrackInfo = perdure_track_info;  ///< counts of checkpoints

/// A tracked program. Move-only. The destructor closes it, which has to happen before the Handle is closed. Calls on a
/// moved-from or closed Track give PERDURE_CLOSED. After a failure every call but close() gives the same error.
class Track {
 public:
  /// Makes a closed tracker.
  Track() = default;
  /// Takes over a tracker that perdure_track_open() made.
  explicit Track(perdure_track_t* native) noexcept : native_(native) {}
  /// `other` is closed afterwards.
  Track(Track&& other) noexcept
      : native_(std::exchange(other.native_, nullptr)), refusal_(std::exchange(other.refusal_, std::nullopt)) {}
  /// Closes the tracker that was open here; `other` is closed afterwards.
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

  /// Makes a Track on a handle that has no protected regions; only the Track may protect any. [local]
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

  /// Declares an array and this rank's elements of it, as in Handle::protect_global(): each element has exactly one
  /// owner. [local] The call comes before start(). The array has a name of 1 to 56 characters, and 5 dimensions at
  /// most.
  template <class T>
  Result<tracked::Data> array(const Array& array, const std::vector<Box<T>>& boxes) {
    std::vector<perdure_box> owned;
    if (const auto why = detail::say_boxes(boxes, array.extents.size(), owned); !why.empty())
      return refused(object(array), why);
    return declared<T>(array, array.extents, [&](const perdure_array& native, int* number) {
      return perdure_track_array(native_, &native, owned.data(), owned.size(), number);
    });
  }
  /// Declares it with boxes in braces.
  template <class T>
  Result<tracked::Data> array(const Array& array, std::initializer_list<Box<T>> boxes) {
    return this->array(array, std::vector<Box<T>>(boxes));
  }
  /// Declares it with one box.
  template <class T>
  Result<tracked::Data> array(const Array& array, const Box<T>& box) {
    return this->array(array, std::vector<Box<T>>{box});
  }
  /// Declares data that is equal on all ranks: an object, an array, or a type with data() and size(). [local]
  /// array.extents {}: those of the object. Regions read and write it as a whole.
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

  /// Begins the tracking: regions count from here on. If the policy's name has a checkpoint, this fills all data from
  /// it. The run goes on from there: regions up to it are skipped. [collective]
  Status start() {
    return done([&] { return perdure_track_start(native_); });
  }

  /// Runs `body`, or skips it in a restart. [collective] Regions do not lie within each other. The name, and the
  /// function that contains the call, tell the region from others. If `body` throws, the region ends there, and the
  /// exception passes on. To the tracker, the region has then done everything that it declared, so later checkpoints
  /// contain half-done data. A program that goes on has to undo it. One that cannot closes the Track before the next
  /// region.
  template <class Body>
  Status region(const tracked::RegionName& name, const std::vector<tracked::Access>& accesses, Body&& body) {
    return run_region(name, accesses.data(), accesses.size(), std::forward<Body>(body));
  }
  /// Takes accesses in braces.
  template <class Body>
  Status region(const tracked::RegionName& name, std::initializer_list<tracked::Access> accesses, Body&& body) {
    return run_region(name, accesses.begin(), accesses.size(), std::forward<Body>(body));
  }

  /// Swaps two arrays of one type, extents and division by exchanging their memory, as the program does with its
  /// pointers. [collective] The program calls it in a restart, too.
  Status swap(const tracked::Data& data, const tracked::Data& other) {
    return done([&] { return perdure_track_swap(native_, data.number(), other.number()); });
  }
  /// Tells the tracker that this rank's elements of the array lie elsewhere from here on, with their content. [local]
  /// Not within a region.
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
  /// Takes one box.
  template <class T>
  Status moved(const tracked::Data& data, const Box<T>& box) {
    return moved(data, std::vector<Box<T>>{box});
  }

  /// Lets ranks agree on whether a checkpoint is due by time; once in a time step is enough. [collective]
  Status tick() {
    return done([&] { return perdure_track_tick(native_); });
  }
  /// Asks for a checkpoint at the next place, whatever the policy says. [local] All ranks ask, at the same region.
  Status trigger() {
    return done([&] { return perdure_track_trigger(native_); });
  }
  /// Says that the program could begin here from `payload` alone, such as the number of its time step. [local] A
  /// restart then need not skip the regions before one by one. True in a restart: `payload` has the last content that
  /// the run of the checkpoint passed, and the program goes there.
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

  /// Gives the counts of this run so far. [local]
  Result<TrackInfo> info() {
    TrackInfo info{};
    const Status code = done([&] { return perdure_track_get_info(native_, &info); });
    if (!code) return code.error();
    return info;
  }
  /// Takes the oldest report of a checkpoint that went wrong while the run went on; empty when there is none. [local]
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

  /// Ends the tracker, before the program takes its results out of its data. PERDURE_MISMATCH: the restart never
  /// reached the place from which it was to go on, so its data is not the program's result. Does nothing, and returns
  /// no error, when it is closed already.
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
  // Calls `call`, unless something was refused before; then returns that error.
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
  // A refusal that never reaches C ends the tracking all the same: other ranks may have gone on.
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
  std::optional<Error> refusal_;  // refusal of a call that did not reach C
};

}  // namespace perdure

/// @file
/// Perdure for C++17 and later: a thin, header-only veneer over perdure.h, whose conventions and thread contract hold.
///
/// Every operation returns a Result. Both styles are the caller's choice, call by call:
///
///     if (auto done = handle.checkpoint("run", step); !done) std::cerr << done.error().text;   // errors as values
///     handle.checkpoint("run", step).value();                                                  // errors as exceptions
///
/// value() throws perdure::Failure when the Result holds an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "perdure/arrays.hpp"
#include "perdure/perdure.h"

/// Perdure for C++: open(), Handle, and Result with its Error.
namespace perdure {

/// What went wrong: the code of perdure.h, a text that names object, cause and remedy, and whether trying again can
/// help.
struct Error {
  perdure_status code = PERDURE_INTERNAL;  ///< of perdure.h; never PERDURE_OK
  std::string text;                        ///< for people: object, cause, remedy
  bool retryable = false;                  ///< true when it may go away by itself
};

/// What value() throws.
class Failure : public std::runtime_error {
 public:
  /// An exception whose what() is the error's text.
  explicit Failure(Error error) : std::runtime_error(error.text), error_(std::move(error)) {}
  /// What went wrong.
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

/// A value or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  /// A success.
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  /// A failure.
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}
  /// True when there is a value.
  bool ok() const noexcept { return content_.index() == 0; }
  /// ok().
  explicit operator bool() const noexcept { return ok(); }
  /// Throws Failure when there is an error.
  T& value() & { return require(), std::get<0>(content_); }
  /// Throws Failure when there is an error.
  const T& value() const& { return require(), std::get<0>(content_); }
  /// Throws Failure when there is an error.
  T&& value() && { return require(), std::get<0>(std::move(content_)); }
  /// The value, or `other` when there is an error.
  T value_or(T other) const& { return ok() ? std::get<0>(content_) : std::move(other); }
  /// Only when not ok().
  const Error& error() const { return std::get<1>(content_); }

 private:
  void require() const {
    if (!ok()) throw Failure(std::get<1>(content_));
  }
  std::variant<T, Error> content_;
};

/// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  /// A success.
  Result() = default;
  /// A failure.
  Result(Error error) : error_(std::move(error)) {}
  /// True when nothing went wrong.
  bool ok() const noexcept { return !error_; }
  /// ok().
  explicit operator bool() const noexcept { return ok(); }
  /// Throws Failure when there is an error.
  void value() const {
    if (error_) throw Failure(*error_);
  }
  /// Only when not ok().
  const Error& error() const { return error_.value(); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;  ///< of what gives nothing but success or an Error

/// How much a checkpoint survives by now; each level includes those before it.
enum class Level {
  none = PERDURE_LEVEL_NONE,        ///< nothing that could be restored
  process = PERDURE_LEVEL_PROCESS,  ///< the death of every process of the application and of the engines
  node = PERDURE_LEVEL_NODE,        ///< the loss of a node
  store = PERDURE_LEVEL_STORE       ///< the loss of everything but the store
};

inline constexpr std::int64_t latest = PERDURE_LATEST;  ///< in place of a version: the newest every rank can restore
inline constexpr double forever = PERDURE_FOREVER;      ///< in place of a timeout: as long as it takes

using RegionSize = perdure_region_size;     ///< bytes of an element, and the number of elements
using Progress = perdure_progress;          ///< the background work of this node, and what this handle did
using Communicator = perdure_communicator;  ///< a group of ranks of your own making

namespace detail {

// The version that vectors get their sizes from.
struct Stored {
  const std::string& name;
  std::int64_t version;
};

}  // namespace detail

/// An open Perdure. Move-only; the destructor closes it, which is [collective]. Calls on a moved-from or closed Handle
/// give PERDURE_CLOSED.
class Handle {
 public:
  /// A closed one.
  Handle() = default;
  /// Takes over what perdure_open*() made.
  explicit Handle(perdure_t* native) noexcept : native_(native) {}
  /// `other` is closed afterwards. Vectors that it had protected stay protected.
  Handle(Handle&& other) noexcept
      : native_(std::exchange(other.native_, nullptr)), resizable_(std::move(other.resizable_)) {}
  /// Closes what was open here [collective]; `other` is closed afterwards.
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      (void)close();
      native_ = std::exchange(other.native_, nullptr);
      resizable_ = std::move(other.resizable_);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { (void)close(); }

  /// For calls of the C API; this Handle still owns it.
  perdure_t* native() const noexcept { return native_; }
  /// True when it is open.
  explicit operator bool() const noexcept { return native_ != nullptr; }

  /// Registers `count` elements at `data`. [local] Again with the same id: re-protects.
  template <class T>
  Status protect(int id, T* data, std::size_t count) {
    detail::check_element<T>();
    resizable_.erase(id);
    return status(
        perdure_protect(native_, id, const_cast<void*>(static_cast<const volatile void*>(data)), sizeof(T), count));
  }

  /// Registers one object, an array, or the elements of a container or view with data() and size() (std::array,
  /// std::span, ...). [local] The elements, not the view, must stay where they are.
  template <class T>
  Status protect(int id, T&& object) {
    using Plain = std::remove_reference_t<T>;
    if constexpr (detail::HasData<Plain>::value) {
      if constexpr (std::is_lvalue_reference_v<T>) return protect(id, object.data(), object.size());
      // A temporary owner would take its elements with it; a temporary view gives writable elements even when const.
      else
        return protect(id, std::as_const(object).data(), object.size());
    } else {
      static_assert(std::is_lvalue_reference_v<T>, "a temporary cannot be protected");
      using Element = std::remove_all_extents_t<Plain>;
      return protect(id, reinterpret_cast<Element*>(&object), sizeof(Plain) / sizeof(Element));
    }
  }

  /// Registers the elements a vector has now. [local] After anything that moves or resizes them, protect again before
  /// the next checkpoint. restore_resizing() does so itself.
  template <class T, class Allocator>
  Status protect(int id, std::vector<T, Allocator>& vector) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no addressable elements");
    Status done = protect(id, vector.data(), vector.size());
    if (done)
      resizable_[id] = [id, &vector](Handle& handle, const detail::Stored& stored) {
        return handle.resize(id, vector, stored);
      };
    return done;
  }

  /// Registers several objects in one call: the first as region `first_id`, the next as `first_id` + 1, and so on.
  /// [local] Each is anything that protect() takes: an object, an array, a vector, a container or view. All or none:
  /// when one is refused, none of these ids is protected, and the error names it and its id. What these ids stood for
  /// before is given up, so the objects may have moved, changed their sizes or swapped their memory.
  template <class... Objects>
  Status protect_all(int first_id, Objects&&... objects) {
    constexpr int count = static_cast<int>(sizeof...(Objects));
    static_assert(count > 0, "name at least one object");
    if (first_id > std::numeric_limits<int>::max() - count)
      return Error{PERDURE_INVALID_ARGUMENT,
                   "protect_all: ids from " + std::to_string(first_id) + " on exceed int (invalid-argument)", false};
    for (int id = first_id; id < first_id + count; ++id) (void)unprotect(id);
    int id = first_id;
    Status done;
    (void)((done = protect(id, std::forward<Objects>(objects)), done.ok() ? (++id, true) : false) && ...);
    if (done) return done;
    Error error = done.error();  // undoing would replace it
    error.text = "object " + std::to_string(id - first_id + 1) + " of " + std::to_string(count) + " (id " +
                 std::to_string(id) + "): " + error.text;
    while (id-- > first_id) (void)unprotect(id);
    return error;
  }

  /// What people call a region that is registered, its unit and what they have to know of it; "": none. [local]
  Status describe(int id, const std::string& name, const std::string& unit = {}, const std::string& description = {}) {
    return status(perdure_describe(native_, id, name.c_str(), unit.c_str(), description.c_str()));
  }

  /// Registers this rank's boxes of an array. [local] All ranks declare the array, under the same id; every element has
  /// an owner, or several with the same value. Boxes without elements count as none, so that a rank that has nothing
  /// gives an empty one. The elements must stay where they are, as in protect().
  template <class T>
  Status protect_global(int id, const Array& array, const std::vector<Box<T>>& boxes) {
    std::vector<perdure_box> owned;
    if (const auto why = detail::say_boxes(boxes, array.extents.size(), owned); !why.empty()) return refused(id, why);
    return with_array<T>(id, array, array.extents, [&](const perdure_array& native) {
      return perdure_protect_global(native_, id, &native, owned.data(), owned.size());
    });
  }
  /// The same, of boxes in braces.
  template <class T>
  Status protect_global(int id, const Array& array, std::initializer_list<Box<T>> boxes) {
    return protect_global(id, array, std::vector<Box<T>>(boxes));
  }
  /// The same, of one box.
  template <class T>
  Status protect_global(int id, const Array& array, const Box<T>& box) {
    return protect_global(id, array, std::vector<Box<T>>{box});
  }

  /// This rank's block where the array is divided evenly. [local] `grid`: ranks in each dimension; {}: the most even.
  Result<Block> block(const Array& array, const Index& grid = {}) {
    const std::size_t dimensions = array.extents.size();
    Block block{Index(dimensions), Index(dimensions)};
    if (!grid.empty() && grid.size() != dimensions)
      return refused_error("block", "the grid has not as many dimensions as the array");
    const std::string type = array.type.empty() ? "v1" : array.type;
    const perdure_array native = detail::native_array(array, array.extents, type.c_str());
    const perdure_status code =
        perdure_block(native_, &native, grid.empty() ? nullptr : grid.data(), block.begin.data(), block.end.data());
    return result(code, std::move(block));
  }
  /// This rank's even part of `total` things: rows of a list, for instance. [local]
  Result<Share> share_of(std::uint64_t total) {
    const auto mine = block(Array{"", {total}});
    if (!mine) return mine.error();
    return Share{mine.value().begin[0], mine.value().end[0]};
  }

  /// Registers that block. [local] `first` is its first element, behind the ghosts. See protect_global().
  template <class T>
  Status protect_block(int id, const Array& array, T* first, const Index& grid = {}) {
    if (!grid.empty() && grid.size() != array.extents.size())
      return refused(id, "the grid has not as many dimensions as the array");
    return with_array<T>(id, array, array.extents, [&](const perdure_array& native) {
      return perdure_protect_block(native_, id, &native, grid.empty() ? nullptr : grid.data(),
                                   detail::address_of(first));
    });
  }
  /// The same, of a vector that has the block with the ghosts around it, from its first element on. [local]
  template <class T, class Allocator>
  Status protect_block(int id, const Array& array, std::vector<T, Allocator>& vector, const Index& grid = {}) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no addressable elements");
    const auto mine = block(array, grid);
    const std::size_t dimensions = array.extents.size();
    std::uint64_t stride = 1, offset = 0;  // of elements; stays so where the library refuses the block
    for (std::size_t d = mine ? dimensions : 0; d-- > 0;) {
      const std::uint64_t ghosts = array.ghosts.size() == dimensions ? array.ghosts[d] : 0;
      offset += ghosts * stride;
      stride *= mine.value().extent(d) + 2 * ghosts;
    }
    if (mine && mine.value().elements() > 0 && vector.size() < stride)
      return refused(id, "its vector has " + std::to_string(vector.size()) + " elements, and its block with ghosts " +
                             std::to_string(stride));
    return protect_block(id, array, vector.empty() ? vector.data() : vector.data() + offset, grid);
  }

  /// Registers the blocks of `lengths` that are dealt out to this rank in turn in each dimension (ScaLAPACK's
  /// distribution, from rank 0 on), which are one dense array at `first`, without ghosts. [local] See protect_global().
  template <class T>
  Status protect_block_cyclic(int id, const Array& array, const Index& lengths, T* first, const Index& grid = {}) {
    const std::size_t dimensions = array.extents.size();
    if (lengths.size() != dimensions || (!grid.empty() && grid.size() != dimensions))
      return refused(id, "its lengths or its grid have not as many dimensions as the array");
    return with_array<T>(id, array, array.extents, [&](const perdure_array& native) {
      return perdure_protect_block_cyclic(native_, id, &native, grid.empty() ? nullptr : grid.data(), lengths.data(),
                                          detail::address_of(first));
    });
  }

  /// Registers `rows` rows of a list at `first`, dense. [local] array.extents[0] is not looked at; {}: rows of one
  /// element. Ranks may have other numbers of rows at every checkpoint; a restore gives each as many as it has
  /// registered, which must together be all. share_of() divides them evenly.
  template <class T>
  Status protect_list(int id, const Array& array, T* first, std::uint64_t rows) {
    return with_array<T>(id, array, array.extents.empty() ? Index{rows} : array.extents,
                         [&](const perdure_array& native) {
                           return perdure_protect_list(native_, id, &native, detail::address_of(first), rows);
                         });
  }
  /// The same, of the rows that a vector has now. [local] After anything that moves or resizes them, protect again
  /// before the next checkpoint. restore_resizing() does so itself, and gives each rank an even share of the rows.
  template <class T, class Allocator>
  Status protect_list(int id, const Array& array, std::vector<T, Allocator>& vector) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no addressable elements");
    const std::uint64_t row = detail::product(array.extents, 1);
    if (row == 0 || vector.size() % row != 0)
      return refused(id, "its vector has " + std::to_string(vector.size()) + " elements, which are no rows of " +
                             std::to_string(row));
    Status done = protect_list(id, array, vector.data(), vector.size() / row);
    if (done)
      resizable_[id] = [id, array, &vector](Handle& handle, const detail::Stored& stored) {
        return handle.resize_list(id, array, vector, stored);
      };
    return done;
  }

  /// Registers what is equal on all ranks: an object, an array, or what has data() and size(). [local] It is stored
  /// once. array.extents {}: those of the object. All bytes are compared at every checkpoint, also those between the
  /// members of a structure. Lifetimes are those of protect().
  template <class T>
  Status protect_replicated(int id, const Array& array, T&& object) {
    const auto elements = detail::elements_of(std::forward<T>(object));
    return replicated(id, array, elements.first, elements.extents);
  }
  /// The same, of the elements that a vector has now; restore_resizing() gives it its stored size. [local]
  template <class T, class Allocator>
  Status protect_replicated(int id, const Array& array, std::vector<T, Allocator>& vector) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no addressable elements");
    Status done = replicated(id, array, vector.data(), Index{vector.size()});
    if (done && array.extents.empty())
      resizable_[id] = [id, array, &vector](Handle& handle, const detail::Stored& stored) {
        return handle.resize_replicated(id, array, vector, stored);
      };
    return done;
  }
  /// The same, with a name and nothing else to say.
  template <class T>
  Status protect_replicated(int id, const std::string& name, T&& object) {
    return protect_replicated(id, Array{name}, std::forward<T>(object));
  }

  /// What array `id` is in a stored checkpoint of any number of ranks, before restoring it. [collective]
  Result<StoredArray> stored_array(const std::string& name, std::int64_t version, int id) {
    perdure_array_info info{};
    const perdure_status code = perdure_stored_array(native_, name.c_str(), version, id, &info);
    if (code != PERDURE_OK) return error(code);
    return StoredArray{info.name, info.unit, info.type, Index(info.extents, info.extents + info.dimensions),
                       info.element_bytes};
  }

  /// Forgets a region. [local] PERDURE_NOT_FOUND when the id is not protected.
  Status unprotect(int id) {
    resizable_.erase(id);
    return status(perdure_unprotect(native_, id));
  }

  /// The calling thread is number `id` of this rank: a restore lets it run on the processors that the thread of this
  /// number had at the checkpoint. [local]
  Status protect_thread(int id) { return status(perdure_protect_thread(native_, id)); }

  /// Captures all protected regions; returns at level `process`. [collective]
  Status checkpoint(const std::string& name, std::int64_t version) {
    return status(perdure_checkpoint(native_, name.c_str(), version));
  }

  /// The newest version every rank can restore; nothing when there is none. [collective]
  Result<std::optional<std::int64_t>> latest_version(const std::string& name) {
    std::int64_t version = latest;
    const perdure_status code = perdure_latest(native_, name.c_str(), &version);
    if (code == PERDURE_NOT_FOUND) return std::optional<std::int64_t>();
    if (code != PERDURE_OK) return error(code);
    return std::optional<std::int64_t>(version);
  }

  /// The size of this rank's region `id` in a stored checkpoint, before restoring it. [collective]
  Result<RegionSize> stored_size(const std::string& name, std::int64_t version, int id) {
    RegionSize size{};
    const perdure_status code = perdure_stored_size(native_, name.c_str(), version, id, &size);
    return result(code, size);
  }

  /// Fills the protected regions and gives the version that was taken. [collective]
  Result<std::int64_t> restore(const std::string& name, std::int64_t version = latest) {
    return restored(perdure_restore(native_, name.c_str(), version));
  }

  /// The same for some regions. [collective]
  Result<std::int64_t> restore_regions(const std::string& name, const std::vector<int>& ids,
                                       std::int64_t version = latest) {
    static const int none = 0;
    return restored(
        perdure_restore_regions(native_, name.c_str(), version, ids.empty() ? &none : ids.data(), ids.size()));
  }

  /// restore() that first gives every protected std::vector the size it has in the checkpoint, and those of lists an
  /// even share of the list's rows. [collective] Every rank must have protected vectors under the same ids. Vectors are
  /// resized even when the restore itself then fails.
  Result<std::int64_t> restore_resizing(const std::string& name, std::int64_t version = latest) {
    if (version != latest) return resize_and_restore(name, version).second;
    std::int64_t wanted = latest;
    const perdure_status code = perdure_latest(native_, name.c_str(), &wanted);
    if (code != PERDURE_OK) return error(code);
    while (true) {
      auto [everywhere, done] = resize_and_restore(name, wanted);
      // What failed verification was set aside: then "latest" means an older version by now. All ranks decide alike,
      // because restore and latest give the same answer on all.
      std::int64_t older = wanted;
      if (everywhere || perdure_latest(native_, name.c_str(), &older) != PERDURE_OK || older == wanted) return done;
      wanted = older;
    }
  }

  /// Waits until the checkpoint has reached `level` on all ranks. [collective]
  Status wait(const std::string& name, std::int64_t version, Level level = Level::store, double timeout_s = forever) {
    return status(perdure_wait(native_, name.c_str(), version, static_cast<perdure_level>(level), timeout_s));
  }

  /// The level that the checkpoint has reached, as far as this rank's node knows. [local]
  Result<Level> level(const std::string& name, std::int64_t version) {
    perdure_level reached = PERDURE_LEVEL_NONE;
    const perdure_status code = perdure_level_reached(native_, name.c_str(), version, &reached);
    return result(code, static_cast<Level>(reached));
  }

  /// What the background is doing. [local]
  Result<Progress> progress() {
    Progress progress{};
    const perdure_status code = perdure_get_progress(native_, &progress);
    return result(code, progress);
  }

  /// The oldest report of the background that was not taken yet; nothing when there is none. [local]
  Result<std::optional<std::string>> next_report() {
    std::string text(4096, '\0');
    const perdure_status code = perdure_next_report(native_, text.data(), text.size());
    if (code == PERDURE_NOT_FOUND) return std::optional<std::string>();
    if (code != PERDURE_OK) return error(code);
    return std::optional<std::string>(text.c_str());
  }

  /// Gives up a version on purpose. [collective]
  Status retire(const std::string& name, std::int64_t version) {
    return status(perdure_retire(native_, name.c_str(), version));
  }

  /// Whether it is so on any rank. [collective]
  Result<bool> any(bool here) {
    int found = 0;
    const auto code = perdure_any(native_, here ? 1 : 0, &found);
    if (code != PERDURE_OK) return error(code);
    return found != 0;
  }

  /// Ends the handle; with an embedded engine, waits until what was captured is at the store or was given up.
  /// [collective] Nothing to do, and no error, when it is closed already.
  Status close() noexcept {
    if (native_ == nullptr) return {};
    resizable_.clear();
    const perdure_status code = perdure_close(&native_);
    native_ = nullptr;
    if (code == PERDURE_OK) return {};
    return Error{code, perdure_error_text(nullptr), perdure_error_retryable(nullptr) != 0};
  }

 private:
  using Resize = std::function<Status(Handle&, const detail::Stored&)>;

  Error error(perdure_status code) const {
    if (native_ == nullptr) return Error{PERDURE_CLOSED, "handle: closed (closed)", false};
    std::string text = perdure_error_text(native_);
    if (text.empty()) text = perdure_status_name(code);
    return Error{code, std::move(text), perdure_error_retryable(native_) != 0};
  }
  Status status(perdure_status code) const { return code == PERDURE_OK ? Status() : Status(error(code)); }
  template <class T>
  Result<T> result(perdure_status code, T value) const {
    if (code != PERDURE_OK) return error(code);
    return value;
  }
  Result<std::int64_t> restored(perdure_status code) {
    if (code != PERDURE_OK) return error(code);
    Progress progress{};
    (void)perdure_get_progress(native_, &progress);  // which version it was is known without the engine
    return progress.restored_version;
  }

  Error refused_error(const std::string& object, const std::string& why) const {
    if (native_ == nullptr) return error(PERDURE_CLOSED);
    return Error{PERDURE_INVALID_ARGUMENT, object + ": " + why + " (invalid-argument)", false};
  }
  Status refused(int id, const std::string& why) const { return refused_error("region " + std::to_string(id), why); }

  // Does `call` with the array as C knows it.
  template <class T, class Call>
  Status with_array(int id, const Array& array, const Index& extents, Call&& call) {
    resizable_.erase(id);
    perdure_array native{};
    if (const auto why = detail::say_array<T>(array, extents, native); !why.empty()) return refused(id, why);
    return status(call(native));
  }

  template <class T>
  Status replicated(int id, const Array& array, T* data, const Index& shape) {
    if (const auto why = detail::shape_refusal(array, shape); !why.empty()) return refused(id, why);
    return with_array<T>(id, array, array.extents.empty() ? shape : array.extents, [&](const perdure_array& native) {
      return perdure_protect_replicated(native_, id, &native, detail::address_of(data));
    });
  }

  template <class T, class Allocator>
  static Status set_size(int id, std::vector<T, Allocator>& vector, std::uint64_t count) {
    try {
      vector.resize(static_cast<std::size_t>(count));
    } catch (const std::exception& cause) {
      return Error{PERDURE_NO_SPACE, "region " + std::to_string(id) + ": cannot be resized: " + cause.what(), false};
    }
    return {};
  }
  // These are [collective]. What does not fit in another way than by its size is the restore's to refuse.
  template <class T, class Allocator>
  Status resize(int id, std::vector<T, Allocator>& vector, const detail::Stored& stored) {
    const auto size = stored_size(stored.name, stored.version, id);
    if (!size) return size.error();
    if (size.value().element_bytes != sizeof(T) || size.value().count == vector.size()) return {};
    Status done = set_size(id, vector, size.value().count);
    return done ? protect(id, vector) : done;
  }
  template <class T, class Allocator>
  Status resize_list(int id, const Array& array, std::vector<T, Allocator>& vector, const detail::Stored& stored) {
    const auto list = stored_array(stored.name, stored.version, id);
    if (!list) return list.error();
    const std::uint64_t row = detail::product(array.extents, 1);
    if (list.value().element_bytes != sizeof(T) || list.value().extents.empty() ||
        detail::product(list.value().extents, 1) != row)
      return {};
    const auto share = share_of(list.value().extents[0]);
    if (!share) return share.error();
    if (share.value().size() * row == vector.size()) return {};
    Status done = set_size(id, vector, share.value().size() * row);
    return done ? protect_list(id, array, vector) : done;
  }
  template <class T, class Allocator>
  Status resize_replicated(int id, const Array& array, std::vector<T, Allocator>& vector,
                           const detail::Stored& stored) {
    const auto found = stored_array(stored.name, stored.version, id);
    if (!found) return found.error();
    const Index& extents = found.value().extents;
    if (found.value().element_bytes != sizeof(T) || extents.size() != 1 || extents[0] == vector.size()) return {};
    Status done = set_size(id, vector, extents[0]);
    return done ? protect_replicated(id, array, vector) : done;
  }

  // A rank whose resize fails must not leave the others alone in a collective call. It keeps the old size, so the
  // restore is refused with PERDURE_MISMATCH on all ranks; the rank's own error is the one that it reports. Returns
  // whether the restore succeeded (the same on all ranks), and this rank's result.
  std::pair<bool, Result<std::int64_t>> resize_and_restore(const std::string& name, std::int64_t version) {
    Status local;
    const auto resizable = resizable_;
    for (const auto& [id, resize_region] : resizable) {
      Status done = resize_region(*this, {name, version});
      if (!done && local) local = std::move(done);
    }
    auto done = restore(name, version);
    const bool everywhere = done.ok();
    if (!everywhere && !local) done = local.error();
    return {everywhere, std::move(done)};
  }

  perdure_t* native_ = nullptr;
  std::map<int, Resize> resizable_;
};

namespace detail {

// Whether trying again can help, of what could not be asked.
inline bool may_pass(perdure_status code) {
  return code == PERDURE_UNAVAILABLE || code == PERDURE_BUSY || code == PERDURE_TIMEOUT;
}

template <class Opened = Handle, class Open>
Result<Opened> open_with(Open&& call) {
  decltype(std::declval<const Opened&>().native()) native = nullptr;
  std::string message(2048, '\0');
  const perdure_status code = call(&native, message.data(), message.size());
  if (code == PERDURE_OK) return Opened(native);
  return Error{code, message.c_str(), may_pass(code)};
}

}  // namespace detail

/// Opens for a single process. `options` as in perdure_open().
inline Result<Handle> open(const std::string& options = {}) {
  return detail::open_with(
      [&](perdure_t** out, char* text, std::size_t bytes) { return perdure_open(options.c_str(), out, text, bytes); });
}

/// Opens for a group of ranks of your own making. [collective] For MPI include perdure/perdure_mpi.hpp.
inline Result<Handle> open(const Communicator& communicator, const std::string& options = {}) {
  return detail::open_with([&](perdure_t** out, char* text, std::size_t bytes) {
    return perdure_open_communicator(&communicator, options.c_str(), out, text, bytes);
  });
}

}  // namespace perdure

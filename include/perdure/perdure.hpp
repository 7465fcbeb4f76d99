/// @file
/// Perdure for C++17 and later is a thin, header-only veneer over perdure.h, whose conventions and thread contract
/// hold.
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
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "perdure/arrays.hpp"
#include "perdure/owners.hpp"
#include "perdure/perdure.h"

/// Perdure for C++: open(), Handle, and Result with its Error.
namespace perdure {

/// A failure: the code of perdure.h, a text that names object, cause and remedy, and whether trying again can help.
struct Error {
  perdure_status code = PERDURE_INTERNAL;  ///< a code of perdure.h; never PERDURE_OK
  std::string text;                        ///< for people: object, cause, remedy
  bool retryable = false;                  ///< true when it may go away by itself
};

/// value() throws this exception.
class Failure : public std::runtime_error {
 public:
  /// Makes an exception whose what() is the error's text.
  explicit Failure(Error error) : std::runtime_error(error.text), error_(std::move(error)) {}
  /// The error that caused it.
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

using Status = Result<void>;  ///< result of a call that gives nothing but success or an Error

/// How much a checkpoint survives by now; each level includes those before it.
enum class Level {
  none = PERDURE_LEVEL_NONE,        ///< no rank could restore anything
  process = PERDURE_LEVEL_PROCESS,  ///< the death of every process of the application and of the engines
  node = PERDURE_LEVEL_NODE,        ///< the loss of a node
  store = PERDURE_LEVEL_STORE       ///< the loss of everything but the store
};

inline constexpr std::int64_t latest = PERDURE_LATEST;  ///< in place of a version: the newest every rank can restore
inline constexpr double forever = PERDURE_FOREVER;      ///< in place of a timeout: as long as it takes

using RegionSize = perdure_region_size;     ///< bytes of an element, and the number of elements
using Progress = perdure_progress;          ///< the background work of this node, and what this handle did
using Communicator = perdure_communicator;  ///< a group of ranks of your own making

/// A version that is newer than the one that a restore took.
struct PassedOver {
  std::int64_t version = 0;      ///< its number
  std::uint64_t created_ns = 0;  ///< when its checkpoint was begun, since 1970
  std::string why;               ///< why it was not taken
};
/// Describes the version that a restore took; see perdure_restored_info.
struct Restored {
  std::string name;                     ///< name of the checkpoint
  std::int64_t version = 0;             ///< its number
  std::string branch;                   ///< "3f9a12"
  std::uint64_t created_ns = 0;         ///< when its checkpoint was begun, since 1970
  double age_s = 0;                     ///< since then, by this machine's clock
  int source = 0;                       ///< as Progress::restore_source
  std::vector<PassedOver> passed_over;  ///< the same on all ranks
};

namespace detail {

// The version that vectors get their sizes from, and their former content.
struct Stored {
  const std::string& name;
  std::int64_t version;
  Kept& kept;
};

}  // namespace detail

/// An open Perdure. Move-only. The destructor closes it, which is [collective]. If MPI_Finalize or the end of the
/// program came first, these have closed it, and the destructor calls nothing. Calls on a moved-from or closed Handle
/// give PERDURE_CLOSED.
class Handle {
 public:
  /// Makes a closed handle.
  Handle() = default;
  /// Takes over a handle that perdure_open*() made.
  explicit Handle(perdure_t* native) noexcept : native_(native) {}
  /// `other` is closed afterwards. Vectors that it had protected stay protected.
  Handle(Handle&& other) noexcept
      : native_(std::exchange(other.native_, nullptr)),
        resizable_(std::move(other.resizable_)),
        growing_(std::move(other.growing_)),
        asked_(std::move(other.asked_)) {}
  /// Closes the handle that was open here [collective]; `other` is closed afterwards.
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      (void)close();
      native_ = std::exchange(other.native_, nullptr);
      resizable_ = std::move(other.resizable_);
      growing_ = std::move(other.growing_);
      asked_ = std::move(other.asked_);
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

  /// Registers `count` elements at `data`. [local] A second call with the same id re-protects.
  template <class T>
  Status protect(int id, T* data, std::size_t count) {
    detail::check_element<T>();
    if (Status taken = of_container(id); !taken) return taken;
    forget(id);
    return protect_owned(id, {detail::address_of(data), sizeof(T), count, detail::memory_type<T>(), nullptr, nullptr});
  }

  /// Registers one object, an array, or the elements of a container or view with data() and size() (std::array,
  /// std::span, ...). [local] A container that has its elements itself (OwnsElements) is followed: see follow().
  /// Otherwise the elements, not the view, must stay where they are.
  template <class T>
  Status protect(int id, T&& object) {
    using Plain = std::remove_reference_t<T>;
    if constexpr (detail::HasData<Plain>::value) {
      if constexpr (std::is_lvalue_reference_v<T>) {
        detail::check_owner<Plain>();
        const Status done = protect(id, object.data(), static_cast<std::size_t>(object.size()));
        return done ? follow_owner(id, object) : done;
      } else {
        // A temporary owner would take its elements with it; a temporary view gives writable elements even when const.
        return protect(id, std::as_const(object).data(), static_cast<std::size_t>(object.size()));
      }
    } else {
      static_assert(std::is_lvalue_reference_v<T>, "a temporary cannot be protected");
      using Element = std::remove_all_extents_t<Plain>;
      return protect(id, reinterpret_cast<Element*>(&object), sizeof(Plain) / sizeof(Element));
    }
  }

  /// Registers the elements of a vector and follows it: each checkpoint and restore takes its current address and
  /// number of elements. [local] See follow(). restore_resizing() gives it its stored size.
  template <class T, class Allocator>
  Status protect(int id, std::vector<T, Allocator>& vector) {
    detail::check_owner<std::vector<T, Allocator>>();
    Status done = protect(id, vector.data(), vector.size());
    if (done) done = follow(id, vector);
    if (done)
      resizable_[id] = [id, &vector, empty = vector.empty()](Handle& handle, const detail::Stored& stored) {
        return handle.resize(id, vector, empty, stored);
      };
    return done;
  }

  /// Registers the `count` elements of an array that a pointer owns. [local] Each checkpoint and restore takes the
  /// current pointer and count. Pointer and `count`, which is any integer, stay where they are, and live, as owners do
  /// (follow()).
  template <class T, class Deleter, class Count>
  Status protect(int id, std::unique_ptr<T[], Deleter>& memory, Count& count) {
    static_assert(std::is_integral_v<Count>, "how many elements there are is an integer that goes with the pointer");
    return protect_where(id, [&memory, &count] { return std::pair(memory.get(), static_cast<std::size_t>(count)); });
  }

  /// Registers the elements that `where()` gives, which is called at once, and at each checkpoint and restore. [local]
  /// It returns a type with data() and size(), a reference to one, or a pair of an address and a number. It must not
  /// call Perdure with this handle. An exception that it throws later is an error of the call. It is kept until the id
  /// is unprotected or protected again (also if that is refused), or this is closed.
  template <class Where>
  Status protect_where(int id, Where where) {
    using Asked = detail::Asked<Where>;
    detail::check_element<typename Asked::Value>();
    if (Status taken = of_container(id); !taken) return taken;
    const auto asked = std::make_shared<Asked>(Asked{std::move(where)});
    auto&& said = asked->where();
    const detail::Owned owned{detail::address_of(detail::said_address(said)),
                              sizeof(typename Asked::Value),
                              detail::said_count(said),
                              detail::memory_type<typename Asked::Value>(),
                              Asked::locate,
                              asked.get()};
    forget(id);
    asked_[id] = asked;
    Status done = protect_owned(id, owned);
    if (!done) asked_.erase(id);
    return done;
  }

  /// Registers the elements of a container: the first as region `first_id`, the next as `first_id` + 1, and so on.
  /// [local] They are vectors, or other types with data() and size(). Their number may change at every checkpoint and
  /// restore, so nobody else may use the ids from `first_id` on that they could reach. If such a container is a member
  /// of the element, `member` names it: protect_elements(100, patches, &Patch::cells). `member` may also be a function
  /// that gives a reference to it. Both are followed (follow()), and restore_resizing() gives both their stored sizes.
  /// unprotect(first_id) forgets all of them. So does another protect of `first_id`, also if that is refused. Ids of
  /// the other elements cannot be protected meanwhile (PERDURE_INVALID_ARGUMENT). Registers all or none, as
  /// protect_all().
  template <class Outer, class Member = detail::WholeElement>
  Status protect_elements(int first_id, Outer& outer, Member member = {}) {
    if (native_ == nullptr) return error(PERDURE_CLOSED);
    if (Status taken = of_container(first_id); !taken) return taken;
    (void)unprotect(first_id);
    auto& growing = growing_[first_id];
    growing.elements = std::make_shared<detail::ElementsOf<Outer, Member>>(outer, std::move(member));
    growing.count = 0;
    const Status done = find_elements(first_id, growing);
    if (!done) (void)unprotect(first_id);  // `done` has the reason, which this replaces in the handle
    return done;
  }

  /// Makes a registered region follow `owner`, which has data() and size(), at each checkpoint and restore. [local] See
  /// perdure_follow(). protect() and the like do so for types of OwnsElements. Call it for others: a class of your own,
  /// or a vector whose parts are the boxes of protect_global(). `owner` itself stays where it is, and lives, until the
  /// id is unprotected, protected again, or this is closed.
  template <class Container>
  Status follow(int id, Container& owner) {
    static_assert(detail::HasData<Container>::value, "it has no data() and size(), which say where its elements are");
    return status(perdure_follow(native_, id, detail::locate<Container>, &owner));
  }

  /// Registers several objects in one call: the first as region `first_id`, the next as `first_id` + 1, and so on.
  /// [local] Each is anything that protect() takes: an object, an array, a vector, a container or view. When one is
  /// refused, none of these ids is protected, and the error names it and its id. The former regions of these ids are
  /// given up, but keep their names and descriptions. So the objects may have moved, changed their sizes or swapped
  /// their memory.
  template <class... Objects>
  Status protect_all(int first_id, Objects&&... objects) {
    constexpr int count = static_cast<int>(sizeof...(Objects));
    static_assert(count > 0, "name at least one object");
    if (first_id > std::numeric_limits<int>::max() - count)
      return Error{PERDURE_INVALID_ARGUMENT,
                   "protect_all: ids from " + std::to_string(first_id) + " on exceed int (invalid-argument)", false};
    if (Status taken = of_container(first_id); !taken) return taken;  // later ids replace containers as a whole
    // Regions without memory keep their descriptions: names, and that they may be absent.
    for (int id = first_id; id < first_id + count; ++id) (void)perdure_protect(native_, id, nullptr, 1, 0);
    int id = first_id;
    Status done;
    (void)((done = protect(id, std::forward<Objects>(objects)), done.ok() ? (++id, true) : false) && ...);
    if (done) return done;
    Error error = done.error();  // undoing would replace it
    error.text = "object " + std::to_string(id - first_id + 1) + " of " + std::to_string(count) + " (id " +
                 std::to_string(id) + "): " + error.text;
    for (id = first_id; id < first_id + count; ++id) (void)unprotect(id);
    return error;
  }

  /// Gives a registered region a name, a unit and a description for people; "": none. [local]
  Status describe(int id, const std::string& name, const std::string& unit = {}, const std::string& description = {}) {
    return status(perdure_describe(native_, id, name.c_str(), unit.c_str(), description.c_str()));
  }

  /// Says whether a restore may find that a region is not stored. [local] An absent one stays as it is, and
  /// was_restored() says so.
  Status set_optional(int id, bool optional = true) {
    return status(perdure_set_presence(native_, id, optional ? PERDURE_OPTIONAL : PERDURE_REQUIRED));
  }
  /// Tells whether the last successful restore filled a region. [local]
  Result<bool> was_restored(int id) {
    int restored = 0;
    const auto code = perdure_was_restored(native_, id, &restored);
    return result(code, restored != 0);
  }
  /// Declares that the stored region called `before` is the protected one called `now`. [local] See perdure_renamed().
  Status renamed(const std::string& before, const std::string& now) {
    return status(perdure_renamed(native_, before.c_str(), now.c_str()));
  }
  /// Declares that the program no longer needs a stored region; "*": any region that it does not protect. [local]
  Status pass_over(const std::string& region) { return status(perdure_pass_over(native_, region.c_str())); }

  /// Registers this rank's boxes of an array. [local] All ranks declare the array, under the same id. Every element has
  /// an owner, or several with the same value. Boxes without elements count as none, so a rank without elements gives
  /// an empty one. The elements must stay where they are, as in protect().
  template <class T>
  Status protect_global(int id, const Array& array, const std::vector<Box<T>>& boxes) {
    std::vector<perdure_box> owned;
    if (const auto why = detail::say_boxes(boxes, array.extents.size(), owned); !why.empty()) return refused(id, why);
    return with_array<T>(id, array, array.extents, [&](const perdure_array& native) {
      return perdure_protect_global(native_, id, &native, owned.data(), owned.size());
    });
  }
  /// Registers boxes in braces.
  template <class T>
  Status protect_global(int id, const Array& array, std::initializer_list<Box<T>> boxes) {
    return protect_global(id, array, std::vector<Box<T>>(boxes));
  }
  /// Registers one box.
  template <class T>
  Status protect_global(int id, const Array& array, const Box<T>& box) {
    return protect_global(id, array, std::vector<Box<T>>{box});
  }

  /// Gives this rank's block if the array is divided evenly. [local] `grid`: ranks in each dimension; {}: the most
  /// even.
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
  /// Gives this rank's even part of `total` things: rows of a list, for instance. [local]
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
  /// Registers that block in a vector, or another container that OwnsElements, which is followed (follow()). [local]
  /// The container has the block with the ghosts around it, from its first element on.
  template <class Container, class = std::enable_if_t<OwnsElements<Container>::value>>
  Status protect_block(int id, const Array& array, Container& vector, const Index& grid = {}) {
    detail::check_owner<Container>();
    const auto mine = block(array, grid);
    const std::size_t dimensions = array.extents.size();
    std::uint64_t stride = 1, offset = 0;  // in elements; both stay so if the library refuses the block
    for (std::size_t d = mine ? dimensions : 0; d-- > 0;) {
      const std::uint64_t ghosts = array.ghosts.size() == dimensions ? array.ghosts[d] : 0;
      offset += ghosts * stride;
      stride *= mine.value().extent(d) + 2 * ghosts;
    }
    const auto count = static_cast<std::uint64_t>(vector.size());
    if (mine && mine.value().elements() > 0 && count < stride)
      return refused(id, "its vector has " + std::to_string(count) + " elements, and its block with ghosts " +
                             std::to_string(stride));
    const Status done = protect_block(id, array, count == 0 ? vector.data() : vector.data() + offset, grid);
    return done ? follow(id, vector) : done;
  }

  /// Registers the blocks of `lengths` that are dealt out to this rank in turn in each dimension. [local] (ScaLAPACK's
  /// distribution, from rank 0 on.) The blocks are one dense array at `first`, without ghosts. See protect_global().
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

  /// Registers `rows` rows of a list at `first`, dense. [local] array.extents[0] is ignored; {}: rows of one element.
  /// Each rank may have another number of rows at every checkpoint. A restore gives each rank as many as it has
  /// registered; together these must be all. share_of() divides them evenly.
  template <class T>
  Status protect_list(int id, const Array& array, T* first, std::uint64_t rows) {
    return with_array<T>(id, array, array.extents.empty() ? Index{rows} : array.extents,
                         [&](const perdure_array& native) {
                           return perdure_protect_list(native_, id, &native, detail::address_of(first), rows);
                         });
  }
  /// Registers the rows of a vector, or another container that OwnsElements, and follows it (follow()). [local] Each
  /// checkpoint and restore takes its current rows. restore_resizing() gives each rank's vector an even share of the
  /// rows.
  template <class Container, class = std::enable_if_t<OwnsElements<Container>::value>>
  Status protect_list(int id, const Array& array, Container& vector) {
    detail::check_owner<Container>();
    const std::uint64_t row = detail::product(array.extents, 1), count = static_cast<std::uint64_t>(vector.size());
    if (row == 0 || count % row != 0)
      return refused(
          id, "its vector has " + std::to_string(count) + " elements, which are no rows of " + std::to_string(row));
    Status done = protect_list(id, array, vector.data(), count / row);
    if (done) done = follow(id, vector);
    if constexpr (detail::is_vector<Container>) {
      if (done)
        resizable_[id] = [id, array, &vector, empty = vector.empty()](Handle& handle, const detail::Stored& stored) {
          return handle.resize_list(id, array, vector, empty, stored);
        };
    }
    return done;
  }

  /// Registers data that is equal on all ranks: an object, an array, or a type with data() and size(). [local] It is
  /// stored once. array.extents {}: those of the object. Each checkpoint compares all bytes, also those between the
  /// members of a structure. Following and lifetimes are as with protect().
  template <class T>
  Status protect_replicated(int id, const Array& array, T&& object) {
    const auto elements = detail::elements_of(std::forward<T>(object));
    const Status done = replicated(id, array, elements.first, elements.extents);
    if constexpr (std::is_lvalue_reference_v<T>)
      return done ? follow_owner(id, object) : done;
    else
      return done;
  }
  /// Registers the elements of a vector, which may move (follow()); restore_resizing() gives it its stored size.
  /// [local]
  template <class T, class Allocator>
  Status protect_replicated(int id, const Array& array, std::vector<T, Allocator>& vector) {
    detail::check_owner<std::vector<T, Allocator>>();
    Status done = replicated(id, array, vector.data(), Index{vector.size()});
    if (done) done = follow(id, vector);
    if (done && array.extents.empty())
      resizable_[id] = [id, array, &vector, empty = vector.empty()](Handle& handle, const detail::Stored& stored) {
        return handle.resize_replicated(id, array, vector, empty, stored);
      };
    return done;
  }
  /// Registers an array that has only a name.
  template <class T>
  Status protect_replicated(int id, const std::string& name, T&& object) {
    return protect_replicated(id, Array{name}, std::forward<T>(object));
  }

  /// Describes array `id` in a stored checkpoint of any number of ranks, before restoring it. [collective]
  Result<StoredArray> stored_array(const std::string& name, std::int64_t version, int id) {
    perdure_array_info info{};
    const perdure_status code = perdure_stored_array(native_, name.c_str(), version, id, &info);
    if (code != PERDURE_OK) return error(code);
    return StoredArray{info.name, info.unit, info.type, Index(info.extents, info.extents + info.dimensions),
                       info.element_bytes};
  }

  /// Forgets a region. [local] PERDURE_NOT_FOUND when the id is not protected. If it is an element of a container, all
  /// elements that protect_elements() registered are forgotten.
  Status unprotect(int id) {
    const bool of_nothing = forget(id);
    const perdure_status code = perdure_unprotect(native_, id);
    return of_nothing && code == PERDURE_NOT_FOUND ? Status() : status(code);
  }

  /// Registers the calling thread as number `id` of this rank. [local] A restore lets it run on the processors that the
  /// thread of this number had at the checkpoint.
  Status protect_thread(int id) { return status(perdure_protect_thread(native_, id)); }

  /// Captures all protected regions; returns at level `process`. [collective]
  Status checkpoint(const std::string& name, std::int64_t version) {
    const Status found = find_elements();
    Status done = status(perdure_checkpoint(native_, name.c_str(), version));
    return found ? done : found;
  }

  /// Gives the newest version that every rank can restore; empty when there is none. [collective]
  Result<std::optional<std::int64_t>> latest_version(const std::string& name) {
    std::int64_t version = latest;
    const perdure_status code = perdure_latest(native_, name.c_str(), &version);
    if (code == PERDURE_NOT_FOUND) return std::optional<std::int64_t>();
    if (code != PERDURE_OK) return error(code);
    return std::optional<std::int64_t>(version);
  }

  /// Gives the size of this rank's region `id` in a stored checkpoint, before restoring it. [collective]
  Result<RegionSize> stored_size(const std::string& name, std::int64_t version, int id) {
    RegionSize size{};
    const perdure_status code = perdure_stored_size(native_, name.c_str(), version, id, &size);
    return result(code, size);
  }

  /// Fills the protected regions and gives the version that was taken. [collective]
  Result<std::int64_t> restore(const std::string& name, std::int64_t version = latest) {
    const Status found = find_elements();
    auto done = restored(perdure_restore(native_, name.c_str(), version));
    return found ? done : found.error();
  }

  /// Restores from branch `branch` and the line it went on from, whichever branch is the current one. [collective]
  /// `branch` is written as in `perdure ls` ("3f9a12"). The next checkpoint goes on from there.
  Result<std::int64_t> restore_branch(const std::string& name, const std::string& branch,
                                      std::int64_t version = latest) {
    const Status found = find_elements();
    auto done = restored(perdure_restore_branch(native_, name.c_str(), branch.c_str(), version));
    return found ? done : found.error();
  }

  /// Describes the version that the last restore of this handle took; empty when there was none. [local]
  Result<std::optional<Restored>> last_restored() {
    perdure_restored_info info{};
    const perdure_status code = perdure_restored(native_, &info);
    if (code == PERDURE_NOT_FOUND) return std::optional<Restored>();
    if (code != PERDURE_OK) return error(code);
    Restored taken{info.name, info.version, info.branch, info.created_ns, info.age_s, info.source, {}};
    for (unsigned i = 0; i < info.passed_over; ++i) {
      perdure_passed_over_info passed{};
      const perdure_status told = perdure_passed_over(native_, i, &passed);
      if (told != PERDURE_OK) return error(told);
      taken.passed_over.push_back({passed.version, passed.created_ns, passed.why});
    }
    return std::optional<Restored>(std::move(taken));
  }

  /// Restores some regions only; else as restore(). [collective]
  Result<std::int64_t> restore_regions(const std::string& name, const std::vector<int>& ids,
                                       std::int64_t version = latest) {
    static const int none = 0;
    const Status found = find_elements();
    auto done =
        restored(perdure_restore_regions(native_, name.c_str(), version, ids.empty() ? &none : ids.data(), ids.size()));
    return found ? done : found.error();
  }

  /// Resizes containers to their stored sizes, then restores. [collective] Every protected std::vector gets its stored
  /// size, and those of lists an even share of the list's rows. Containers of protect_elements() get as many elements
  /// as are stored. Every rank must have protected vectors and such containers under the same ids, of which each may
  /// have another number of elements. If the call fails on any rank, everything that it had resized is given back.
  /// Vectors get the memory that they had, which is kept until then, and other containers their elements. A container
  /// of which no rank has stored an element stays as it is. It is a PERDURE_MISMATCH unless it is empty, as any region
  /// that is not stored.
  Result<std::int64_t> restore_resizing(const std::string& name, std::int64_t version = latest) {
    if (version != latest) return resize_and_restore(name, version).second;
    std::int64_t wanted = latest;
    const perdure_status code = perdure_latest(native_, name.c_str(), &wanted);
    if (code != PERDURE_OK) return error(code);
    while (true) {
      auto [everywhere, done] = resize_and_restore(name, wanted);
      // A version that failed verification was set aside: "latest" means an older version by now. All ranks decide
      // alike, because restore and latest give the same answer on all.
      std::int64_t older = wanted;
      if (everywhere || perdure_latest(native_, name.c_str(), &older) != PERDURE_OK || older == wanted) return done;
      wanted = older;
    }
  }

  /// Waits until the checkpoint has reached `level` on all ranks. [collective]
  Status wait(const std::string& name, std::int64_t version, Level level = Level::store, double timeout_s = forever) {
    return status(perdure_wait(native_, name.c_str(), version, static_cast<perdure_level>(level), timeout_s));
  }

  /// Gives the level that the checkpoint has reached, as far as this rank's node knows. [local]
  Result<Level> level(const std::string& name, std::int64_t version) {
    perdure_level reached = PERDURE_LEVEL_NONE;
    const perdure_status code = perdure_level_reached(native_, name.c_str(), version, &reached);
    return result(code, static_cast<Level>(reached));
  }

  /// Tells about the background work. [local]
  Result<Progress> progress() {
    Progress progress{};
    const perdure_status code = perdure_get_progress(native_, &progress);
    return result(code, progress);
  }

  /// Takes the oldest report of the background that no call has taken yet; empty when there is none. [local]
  Result<std::optional<std::string>> next_report() {
    std::string text(4096, '\0');
    const perdure_status code = perdure_next_report(native_, text.data(), text.size());
    if (code == PERDURE_NOT_FOUND) return std::optional<std::string>();
    if (code != PERDURE_OK) return error(code);
    return std::optional<std::string>(text.c_str());
  }

  /// Retires a version on purpose. [collective]
  Status retire(const std::string& name, std::int64_t version) {
    return status(perdure_retire(native_, name.c_str(), version));
  }

  /// Tells whether `here` is true on any rank. [collective]
  Result<bool> any(bool here) {
    int found = 0;
    const auto code = perdure_any(native_, here ? 1 : 0, &found);
    if (code != PERDURE_OK) return error(code);
    return found != 0;
  }

  /// Tells whether a checkpoint is due, and why: bits of perdure_due_reason, the same on all ranks. [collective]
  Result<unsigned> due() {
    unsigned reasons = 0;
    const auto code = perdure_due(native_, &reasons);
    if (code != PERDURE_OK) return error(code);
    return reasons;
  }

  /// Ends the handle. [collective] With an embedded engine, waits until all captured data is at the store or was
  /// abandoned. Does nothing, and returns no error, when it is closed already.
  Status close() noexcept {
    if (native_ == nullptr) return {};
    resizable_.clear();
    growing_.clear();
    const perdure_status code = perdure_close(&native_);
    native_ = nullptr;
    asked_.clear();
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
    (void)perdure_get_progress(native_, &progress);  // the version is known without the engine
    return progress.restored_version;
  }

  Error refused_error(const std::string& object, const std::string& why) const {
    if (native_ == nullptr) return error(PERDURE_CLOSED);
    return Error{PERDURE_INVALID_ARGUMENT, object + ": " + why + " (invalid-argument)", false};
  }
  Status refused(int id, const std::string& why) const { return refused_error("region " + std::to_string(id), why); }

  // Elements of a container, except the first, are not replaced: that would give up all others without notice.
  Status of_container(int id) const {
    const auto after = growing_.lower_bound(id);
    if (after == growing_.begin()) return {};
    const auto& [first, growing] = *std::prev(after);
    if (id - first >= growing.count) return {};
    const std::string at = std::to_string(first);
    return refused(
        id, "it is an element of the container at " + at + "; unprotect " + at + " first, which gives up all elements");
  }

  // Replaces the registration of the id; other elements of the same container are given up with it. True: it was a
  // container without elements.
  bool forget(int id) {
    resizable_.erase(id);
    if (const auto asked = asked_.find(id); asked != asked_.end()) {
      (void)perdure_protect(native_, id, nullptr, 1, 0);  // it must not follow an object that is gone
      asked_.erase(asked);
    }
    auto found = growing_.upper_bound(id);
    if (found == growing_.begin()) return false;
    const auto& [first, growing] = *--found;
    if (id != first && id - first >= growing.count) return false;
    for (int i = 0; i < growing.count; ++i)
      if (first + i != id) (void)perdure_unprotect(native_, first + i);
    // It must not follow an object that is gone, even if its replacement is refused.
    if (growing.count > 0) (void)perdure_protect(native_, id, nullptr, 1, 0);
    const bool of_nothing = growing.count == 0;
    growing_.erase(found);
    return of_nothing;
  }

  Status protect_owned(int id, const detail::Owned& owned) {
    Status done = status(perdure_protect(native_, id, owned.address, owned.element_bytes, owned.count));
    if (done) done = status(perdure_describe_elements(native_, id, owned.type, 0, nullptr));
    if (done && owned.locate != nullptr) done = status(perdure_follow(native_, id, owned.locate, owned.owner));
    return done;
  }

  // Makes a protected object followed, if it has its elements itself.
  template <class T>
  Status follow_owner(int id, T& owner) {
    if constexpr (OwnsElements<T>::value)
      return follow(id, owner);
    else
      return {};
  }

  bool is_protected(int id) const {
    int restored = 0;
    return perdure_was_restored(native_, id, &restored) == PERDURE_OK;
  }

  // Protects the elements that a container has now, and unprotects those that it had before.
  Status find_elements(int first, detail::ElementOwner& growing) {
    const std::size_t now = growing.elements->count();
    while (static_cast<std::size_t>(growing.count) > now) (void)perdure_unprotect(native_, first + --growing.count);
    while (static_cast<std::size_t>(growing.count) < now) {
      if (first > std::numeric_limits<int>::max() - growing.count)
        return refused(first, "ids of its elements exceed int");
      const int id = first + growing.count;
      if (is_protected(id))
        return refused(id, "an element of the container at " + std::to_string(first) +
                               " would be it, and it is protected already; leave ids free behind those of elements");
      Status done;
      try {
        done = protect_owned(id, growing.elements->owned(static_cast<std::size_t>(growing.count)));
      } catch (const std::exception& cause) {  // the other ranks must not be left waiting
        done =
            Error{PERDURE_NO_SPACE, "region " + std::to_string(id) + ": cannot be protected: " + cause.what(), false};
      }
      if (!done) {
        (void)perdure_unprotect(native_, id);
        return done;
      }
      ++growing.count;
    }
    return {};
  }
  // Does so for all containers. If it fails, the call that follows fails on all ranks.
  Status find_elements() {
    for (auto& [first, growing] : growing_)
      if (Status found = find_elements(first, growing); !found) {
        (void)perdure_refuse_next(native_, first, "an element of its container cannot be protected");
        return found;
      }
    return {};
  }

  // Calls `call` with the array as C knows it.
  template <class T, class Call>
  Status with_array(int id, const Array& array, const Index& extents, Call&& call) {
    if (Status taken = of_container(id); !taken) return taken;
    forget(id);
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

  // Protects the vector again by `again`. A vector that is given back without elements, and had some when it was
  // protected, is not protected anew. The next checkpoint asks whether it was moved or cleared.
  template <class Vector, class Again>
  static Status set_size(int id, Vector& vector, std::uint64_t count, bool empty, const detail::Stored& stored,
                         Again again) {
    try {
      if (count != vector.size()) {
        stored.kept.add([&vector, empty, again] {
          if (empty || !vector.empty()) (void)again();
        });
        detail::resize_kept([&vector]() -> Vector& { return vector; }, static_cast<std::size_t>(count), stored.kept);
      }
    } catch (const std::exception& cause) {
      return Error{PERDURE_NO_SPACE, "region " + std::to_string(id) + ": cannot be resized: " + cause.what(), false};
    }
    return again();
  }
  // These are [collective]. They pass over everything but sizes: the restore refuses other mismatches and absent
  // regions, and names all of them. `empty`: the vector was empty when it was protected.
  static Status unless_unlike(const Error& error) { return error.code == PERDURE_MISMATCH ? Status() : Status(error); }
  template <class Vector>
  Status resize(int id, Vector& vector, bool empty, const detail::Stored& stored) {
    const auto size = stored_size(stored.name, stored.version, id);
    if (!size) return unless_unlike(size.error());
    if (size.value().element_bytes != sizeof(typename Vector::value_type)) return {};
    if (size.value().count == vector.size() && !vector.empty()) return {};  // it is followed
    return set_size(id, vector, size.value().count, empty, stored, [this, id, &vector] { return protect(id, vector); });
  }
  template <class Vector>
  Status resize_list(int id, const Array& array, Vector& vector, bool empty, const detail::Stored& stored) {
    const auto list = stored_array(stored.name, stored.version, id);
    if (!list) return unless_unlike(list.error());
    const std::uint64_t row = detail::product(array.extents, 1);
    if (list.value().element_bytes != sizeof(typename Vector::value_type) || list.value().extents.empty() ||
        detail::product(list.value().extents, 1) != row)
      return {};
    const auto share = share_of(list.value().extents[0]);
    if (!share) return share.error();
    return set_size(id, vector, share.value().size() * row, empty, stored,
                    [this, id, array, &vector] { return protect_list(id, array, vector); });
  }
  template <class Vector>
  Status resize_replicated(int id, const Array& array, Vector& vector, bool empty, const detail::Stored& stored) {
    const auto found = stored_array(stored.name, stored.version, id);
    if (!found) return unless_unlike(found.error());
    const Index& extents = found.value().extents;
    if (found.value().element_bytes != sizeof(typename Vector::value_type) || extents.size() != 1) return {};
    return set_size(id, vector, extents[0], empty, stored,
                    [this, id, array, &vector] { return protect_replicated(id, array, vector); });
  }

  // [collective] Gives the container the stored elements of this rank, each of its stored size. If no rank has stored
  // any, the container may have come after the checkpoint; the restore refuses that.
  Status resize_elements(int first, detail::ElementOwner& growing, const detail::Stored& stored) {
    Status outcome;
    std::size_t found = 0;
    bool stored_anywhere = false;
    for (int id = first;; ++id) {
      const auto size = stored_size(stored.name, stored.version, id);
      if (!size && size.error().code != PERDURE_MISMATCH) return size.error();  // on all ranks
      const bool of_another = id - first >= growing.count && is_protected(id);
      const bool mine = found == static_cast<std::size_t>(id - first) && size && !of_another;
      const auto more = any(mine && id < std::numeric_limits<int>::max());
      if (!more) return more.error();
      if (!more.value()) break;
      stored_anywhere = true;
      if (!mine) continue;
      Status done = resize_element(first, found, growing, size.value(), stored.kept);
      if (!done && outcome) outcome = std::move(done);
      ++found;
    }
    try {
      if (stored_anywhere) growing.elements->truncate(found, stored.kept);
    } catch (const std::exception& cause) {
      if (outcome) outcome = Error{PERDURE_NO_SPACE, std::string("elements cannot be kept: ") + cause.what(), false};
    }
    return outcome;
  }
  Status resize_element(int first, std::size_t index, detail::ElementOwner& growing, const RegionSize& size,
                        detail::Kept& kept) {
    const int id = first + static_cast<int>(index);
    detail::Owners& elements = *growing.elements;
    // Also protects an element that is empty now, which would not be followed.
    const auto again = [this, id, index, &elements, &growing] {
      return index < static_cast<std::size_t>(growing.count) ? protect_owned(id, elements.owned(index)) : Status();
    };
    try {
      if (!elements.reach(index, kept) || size.element_bytes != elements.element_bytes()) return {};
      kept.add([again] { (void)again(); });
      elements.resize(index, size.count, kept);
      return again();
    } catch (const std::exception& cause) {
      return Error{PERDURE_NO_SPACE, "region " + std::to_string(id) + ": cannot be resized: " + cause.what(), false};
    }
  }

  // A rank whose resize fails must not leave the others alone in a collective call. It keeps the old size, so the
  // restore is refused with PERDURE_MISMATCH on all ranks; the rank's own error is the one that it reports. Returns
  // whether the restore succeeded (the same on all ranks), and this rank's result.
  std::pair<bool, Result<std::int64_t>> resize_and_restore(const std::string& name, std::int64_t version) {
    Status local;
    detail::Kept kept;
    const detail::Stored stored{name, version, kept};
    const auto resizable = resizable_;
    for (const auto& [id, resize_region] : resizable) {
      Status done = resize_region(*this, stored);
      if (!done && local) local = std::move(done);
    }
    for (auto& [first, growing] : growing_) {
      Status done = resize_elements(first, growing, stored);
      if (!done && local) local = std::move(done);
    }
    auto done = restore(name, version);
    const bool everywhere = done.ok();
    if (!everywhere) {
      kept.give_back();
      for (auto& [first, growing] : growing_)
        (void)find_elements(first, growing);  // otherwise the next call says why not
    }
    if (!everywhere && !local) done = local.error();
    return {everywhere, std::move(done)};
  }

  perdure_t* native_ = nullptr;
  std::map<int, Resize> resizable_;
  std::map<int, detail::ElementOwner> growing_;  // by the first id
  std::map<int, std::shared_ptr<void>> asked_;   // owners of protect_where()
};

namespace detail {

// Says whether trying again can help, for a handle that could not be asked.
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

/// Opens a handle for a single process. `options` as in perdure_open().
inline Result<Handle> open(const std::string& options = {}) {
  return detail::open_with(
      [&](perdure_t** out, char* text, std::size_t bytes) { return perdure_open(options.c_str(), out, text, bytes); });
}

/// Opens a handle for a group of ranks of your own making. [collective] For MPI include perdure/perdure_mpi.hpp.
inline Result<Handle> open(const Communicator& communicator, const std::string& options = {}) {
  return detail::open_with([&](perdure_t** out, char* text, std::size_t bytes) {
    return perdure_open_communicator(&communicator, options.c_str(), out, text, bytes);
  });
}

}  // namespace perdure

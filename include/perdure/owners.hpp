/// @file
/// This header asks containers whose elements are protected, and which may move them, where these are. perdure.hpp
/// includes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "perdure/arrays.hpp"
#include "perdure/perdure.h"

namespace perdure {

namespace detail {

template <class T, class = void>
struct HasSize : std::false_type {};
template <class T>
struct HasSize<T, std::void_t<decltype(std::declval<T&>().resize(std::size_t{}))>> : std::true_type {};

}  // namespace detail

/// Says whether a T, which has data() and size(), has its elements itself. A region of a T that does follows it, and
/// the T has to live as long. It is true for std::vector, and for types that can be resized and have a destructor of
/// their own; views have none. Specialise it for containers of your own if that is wrong for them.
template <class T, class = void>
struct OwnsElements : std::bool_constant<detail::HasData<T>::value && detail::HasSize<T>::value &&
                                         !std::is_trivially_destructible_v<T>> {};
/// Each vector has its elements itself.
template <class T, class Allocator>
struct OwnsElements<std::vector<T, Allocator>> : std::true_type {};

namespace detail {

template <class T>
inline constexpr bool is_vector = false;
template <class T, class Allocator>
inline constexpr bool is_vector<std::vector<T, Allocator>> = true;
template <class T>
inline constexpr bool is_vector_of_bool = false;
template <class Allocator>
inline constexpr bool is_vector_of_bool<std::vector<bool, Allocator>> = true;

template <class Container>
constexpr void check_owner() {
  static_assert(!is_vector_of_bool<Container>, "std::vector<bool> has no addressable elements");
  if constexpr (HasData<Container>::value) {
    using Value = std::remove_pointer_t<decltype(std::declval<Container&>().data())>;
    if constexpr (HasData<Value>::value)
      static_assert(std::is_trivially_copyable_v<Value>, "its elements are containers: see protect_elements()");
  }
}

// The perdure_locate of types with data() and size().
template <class Container>
int locate(void* owner, void** address, std::size_t* count) noexcept {
  Container& container = *static_cast<Container*>(owner);
  *address = address_of(container.data());
  *count = static_cast<std::size_t>(container.size());
  return 0;
}

// Reads the result of a function that locates elements: a type with data() and size(), or an address and a number.
template <class Said>
auto said_address(Said& said) {
  if constexpr (HasData<Said>::value)
    return said.data();
  else
    return said.first;
}
template <class Said>
std::size_t said_count(Said& said) {
  if constexpr (HasData<Said>::value)
    return static_cast<std::size_t>(said.size());
  else
    return static_cast<std::size_t>(said.second);
}

// Such a function as an owner.
template <class Where>
struct Asked {
  using Answer = std::invoke_result_t<Where&>;
  using Said = std::remove_reference_t<Answer>;
  using Value = std::remove_pointer_t<decltype(said_address(std::declval<Said&>()))>;
  static_assert(std::is_reference_v<Answer> || !OwnsElements<Said>::value,
                "it gives a copy of the container, which is gone at once: let it give a reference");

  Where where;
  static int locate(void* owner, void** address, std::size_t* count) noexcept {
    try {
      auto&& said = static_cast<Asked*>(owner)->where();
      *address = address_of(said_address(said));
      *count = said_count(said);
      return 0;
    } catch (...) {
      return 1;
    }
  }
};

// The containers that a restore has resized, until it succeeds. If it fails, their content is given back, the last
// first.
class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  // Called before the change that `takes_back` undoes.
  void add(std::function<void()> takes_back) { changes_.push_back(std::move(takes_back)); }
  void give_back() noexcept {
    while (!changes_.empty()) {
      try {
        changes_.back()();
      } catch (...) {  // no memory: the others still get theirs back
      }
      changes_.pop_back();
    }
  }

 private:
  std::vector<std::function<void()>> changes_;
};

// Resizes `container()`, which may move. A vector can get its memory back, another container its elements.
template <class Access>
void resize_kept(Access container, std::size_t count, Kept& kept) {
  using Container = std::remove_reference_t<std::invoke_result_t<Access&>>;
  if constexpr (is_vector<Container>) {
    auto old = std::make_shared<Container>(container().get_allocator());
    Container made(container().get_allocator());
    made.resize(count);
    kept.add([old, container]() mutable { container().swap(*old); });
    old->swap(container());
    container().swap(made);
  } else {
    using Value = std::remove_pointer_t<decltype(container().data())>;
    const auto* const first = container().data();
    auto old = std::make_shared<std::vector<Value>>(first, first + container().size());
    kept.add([old, container]() mutable {
      container().resize(static_cast<decltype(container().size())>(old->size()));
      std::copy(old->begin(), old->end(), container().data());
    });
    container().resize(static_cast<decltype(container().size())>(count));
  }
}

// Memory of one region, and its owner, which knows where it is.
struct Owned {
  void* address = nullptr;
  std::size_t element_bytes = 0, count = 0;
  const char* type = nullptr;  // NULL: not known
  perdure_locate locate = nullptr;
  void* owner = nullptr;
};

// The elements of a container, whatever their types. They are containers themselves, and each is a region.
class Owners {
 public:
  Owners() = default;
  Owners(const Owners&) = delete;
  Owners& operator=(const Owners&) = delete;
  virtual ~Owners() = default;
  // The number of elements now.
  virtual std::size_t count() const = 0;
  virtual std::size_t element_bytes() const = 0;
  // The element `index`, which exists.
  virtual Owned owned(std::size_t index) = 0;
  // Makes sure that element `index` exists, if the container can be resized.
  virtual bool reach(std::size_t index, Kept& kept) = 0;
  // Gives element `index`, which exists, so many elements, if it can be resized.
  virtual void resize(std::size_t index, std::uint64_t elements, Kept& kept) = 0;
  // Removes all but the first `count`, if the container can be resized.
  virtual void truncate(std::size_t count, Kept& kept) = 0;
};

// A pointer, or a class that acts as one: a new one made by resizing would point nowhere.
template <class T, class = void>
struct IsPointer : std::is_pointer<T> {};
template <class T>
struct IsPointer<T, std::void_t<decltype(std::declval<T&>().operator->())>> : std::true_type {};

// Stands in for a member: the element itself.
struct WholeElement {
  template <class Element>
  Element& operator()(Element& element) const {
    return element;
  }
};

template <class T, class = void>
struct HasKeys : std::false_type {};
template <class T>
struct HasKeys<T, std::void_t<typename T::mapped_type>> : std::true_type {};

template <class Outer, class Member>
class ElementsOf : public Owners {
  using Element = std::remove_reference_t<decltype(std::declval<Outer&>()[std::size_t{}])>;
  using Inner = std::remove_reference_t<std::invoke_result_t<Member&, Element&>>;
  static_assert(HasData<Inner>::value,
                "its elements have no data() and size(): name the member that has, as in protect_elements(first_id, "
                "patches, &Patch::cells)");
  static_assert(!HasKeys<Outer>::value, "a map's elements have keys and no places: protect each of them");
  using Value = std::remove_pointer_t<decltype(std::declval<Inner&>().data())>;

 public:
  ElementsOf(Outer& outer, Member member) : outer_(outer), member_(std::move(member)) { check_element<Value>(); }
  std::size_t count() const override { return static_cast<std::size_t>(outer_.size()); }
  std::size_t element_bytes() const override { return sizeof(Value); }
  Owned owned(std::size_t index) override {
    while (places_.size() <= index) places_.push_back({this, places_.size()});
    Inner& inner = at(index);
    return {address_of(inner.data()), sizeof(Value), static_cast<std::size_t>(inner.size()),
            memory_type<Value>(),     locate_one,    &places_[index]};
  }
  bool reach(std::size_t index, Kept& kept) override {
    if constexpr (kResizes) {
      if (index >= count()) {
        kept.add([this, before = count()] { outer_.resize(before); });
        outer_.resize(index + 1);
      }
    }
    return index < count();
  }
  void resize(std::size_t index, std::uint64_t elements, Kept& kept) override {
    if constexpr (HasSize<Inner>::value) {
      if (static_cast<std::uint64_t>(at(index).size()) == elements) return;
      const auto inner = [this, index]() -> Inner& { return at(index); };
      resize_kept(inner, static_cast<std::size_t>(elements), kept);
    }
  }
  void truncate(std::size_t count, Kept& kept) override {
    if constexpr (kResizes) {
      if (count >= this->count()) return;
      if constexpr (std::is_nothrow_move_constructible_v<Element> && std::is_move_assignable_v<Element>) {
        auto cut = std::make_shared<std::vector<Element>>();
        cut->reserve(this->count() - count);
        kept.add([this, cut, count] {
          outer_.resize(count + cut->size());
          for (std::size_t i = 0; i < cut->size(); ++i) outer_[count + i] = std::move((*cut)[i]);
        });
        for (std::size_t i = count; i < this->count(); ++i) cut->push_back(std::move(outer_[i]));
      }
      outer_.resize(count);
    }
  }

 private:
  static constexpr bool kResizes =
      HasSize<Outer>::value && std::is_default_constructible_v<Element> && !IsPointer<Element>::value;
  struct Place {
    ElementsOf* elements;
    std::size_t index;
  };
  Inner& at(std::size_t index) { return std::invoke(member_, outer_[index]); }
  static int locate_one(void* owner, void** address, std::size_t* count) noexcept {
    const Place& place = *static_cast<Place*>(owner);
    if (place.index >= place.elements->count()) return 1;
    return locate<Inner>(&place.elements->at(place.index), address, count);
  }

  Outer& outer_;
  Member member_;
  std::deque<Place> places_;  // the place of each element: these are the owners of regions
};

struct ElementOwner {
  std::shared_ptr<Owners> elements;
  int count = 0;  // number of protected elements
};

}  // namespace detail

}  // namespace perdure

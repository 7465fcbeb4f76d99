/// @file
/// Containers whose elements are protected, and which may move them: what perdure.hpp, which includes this, asks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "perdure/arrays.hpp"
#include "perdure/perdure.h"

namespace perdure::detail {

// perdure_locate of what has data() and size().
template <class Container>
int locate(void* owner, void** address, std::size_t* count) noexcept {
  Container& container = *static_cast<Container*>(owner);
  *address = address_of(container.data());
  *count = static_cast<std::size_t>(container.size());
  return 0;
}

// Memory of one region, and who says where it is.
struct Owned {
  void* address = nullptr;
  std::size_t element_bytes = 0, count = 0;
  const char* type = nullptr;  // NULL: not known
  perdure_locate locate = nullptr;
  void* owner = nullptr;
};

// The elements of a container, which are containers, and a region each; whatever types they have.
class Owners {
 public:
  Owners() = default;
  Owners(const Owners&) = delete;
  Owners& operator=(const Owners&) = delete;
  virtual ~Owners() = default;
  // How many there are now.
  virtual std::size_t count() const = 0;
  virtual std::size_t element_bytes() const = 0;
  // Of one that is there.
  virtual Owned owned(std::size_t index) = 0;
  // There is one of that number, where the container can be resized.
  virtual bool reach(std::size_t index) = 0;
  // One that is there has so many elements, where it can be resized.
  virtual void resize(std::size_t index, std::uint64_t elements) = 0;
  // There are no more than these, where the container can be resized.
  virtual void truncate(std::size_t count) = 0;
};

template <class T, class = void>
struct HasSize : std::false_type {};
template <class T>
struct HasSize<T, std::void_t<decltype(std::declval<T&>().resize(std::size_t{}))>> : std::true_type {};

// A pointer, or a class that is one: made by resizing, it would point nowhere.
template <class T, class = void>
struct IsPointer : std::is_pointer<T> {};
template <class T>
struct IsPointer<T, std::void_t<decltype(std::declval<T&>().operator->())>> : std::true_type {};

// In place of a member: the element itself.
struct WholeElement {
  template <class Element>
  Element& operator()(Element& element) const {
    return element;
  }
};

template <class Outer, class Member>
class ElementsOf : public Owners {
  using Element = std::remove_reference_t<decltype(std::declval<Outer&>()[std::size_t{}])>;
  using Inner = std::remove_reference_t<std::invoke_result_t<Member&, Element&>>;
  static_assert(HasData<Inner>::value,
                "its elements have no data() and size(): name the member that has, as in protect_elements(first_id, "
                "patches, &Patch::cells)");
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
  bool reach(std::size_t index) override {
    if constexpr (kResizes)
      if (count() <= index) outer_.resize(index + 1);
    return index < count();
  }
  void resize(std::size_t index, std::uint64_t elements) override {
    if constexpr (HasSize<Inner>::value) at(index).resize(static_cast<std::size_t>(elements));
  }
  void truncate(std::size_t count) override {
    if constexpr (kResizes)
      if (count < this->count()) outer_.resize(count);
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
  std::deque<Place> places_;  // each where it is: owners of regions
};

struct ElementOwner {
  std::shared_ptr<Owners> elements;
  int count = 0;  // that are protected
};

}  // namespace perdure::detail

#include "base/json.hpp"

#include <iterator>
#include <memory>
#include <utility>

#ifdef PERDURE_JSON_GOES_WITHOUT_MEMORY
namespace {

using nlohmann::json;

bool has_children(const json& value) { return value.is_structured() && !value.empty(); }

json& first_child(json& value) {
  return value.is_array() ? value.get_ref<json::array_t&>().front() : value.get_ref<json::object_t&>().begin()->second;
}

json take_last_child(json& value) {
  if (value.is_array()) {
    auto& array = value.get_ref<json::array_t&>();
    json child = std::move(array.back());
    array.pop_back();
    return child;
  }
  auto& object = value.get_ref<json::object_t&>();
  const auto last = std::prev(object.end());
  json child = std::move(last->second);
  object.erase(last);
  return child;
}

// Takes all children out of `value`, with neither memory nor recursion, at any depth. Before it descends into a child,
// it swaps the parent into the place of the child's first element. That element is taken last, and leads back to the
// parent.
void take_apart(json& value) {
  while (has_children(value)) {
    json child = take_last_child(value);
    while (has_children(child)) {
      if (!has_children(value)) {
        value = std::move(child);
        child = take_last_child(value);
        continue;
      }
      json first = std::exchange(first_child(child), std::move(value));
      value = std::move(child);
      child = std::move(first);
    }
  }
}

template <class Part>
void destroy_part(Part* part) {
  std::allocator<Part> allocator;
  std::destroy_at(part);
  allocator.deallocate(part, 1);
}

}  // namespace

template <>
void nlohmann::basic_json<>::json_value::destroy(nlohmann::detail::value_t type) {
  using nlohmann::detail::value_t;
  if (type == value_t::array && array != nullptr) {
    for (json& child : *array) take_apart(child);
    destroy_part(array);
  } else if (type == value_t::object && object != nullptr) {
    for (auto& child : *object) take_apart(child.second);
    destroy_part(object);
  } else if (type == value_t::string) {
    destroy_part(string);
  } else if (type == value_t::binary) {
    destroy_part(binary);
  }
}

#endif

template class nlohmann::basic_json<>;

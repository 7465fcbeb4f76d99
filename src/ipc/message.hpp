#pragma once
// Every message between ranks and engines declares its own properties. It is declared once, in the header of its
// family: fields, name, whether it is answered, and its reply. The list at the end of that header enrols it. An
// engine's handler for it is in src/engine/serve.
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "base/fields.hpp"

namespace perdure::ipc {

enum class Kind : std::uint8_t {
  one_way,   ///< never answered, so sending it costs its sender nothing
  answered,  ///< answered at once
  may_wait,  ///< answered when possible, or when the time in its field `timeout_ns`, if it has one, is over
};

template <class M>
concept Message = std::same_as<decltype(M::kKind), const Kind> && std::convertible_to<decltype(M::kName), const char*>;
template <class M>
concept OneWay = Message<M> && M::kKind == Kind::one_way;
/// It has a reply, M::Reply.
template <class M>
concept Answered = Message<M> && M::kKind != Kind::one_way&& requires {
  typename M::Reply;
};
template <class M>
concept HasTimeout = requires(const M& message) {
  { message.timeout_ns } -> std::convertible_to<std::uint64_t>;
};

/// The reply that confirms success and has no content.
struct Done {
  PERDURE_FIELDS()
};

/// A list of messages.
template <Message... M>
struct Messages {
  static constexpr std::size_t kCount = sizeof...(M);
  /// Calls visit(std::type_identity<M>()) for each message.
  template <class Visit>
  static void for_each(Visit&& visit) {
    (visit(std::type_identity<M>()), ...);
  }
  template <class Wanted>
  static constexpr std::size_t position() {
    static_assert((... || std::same_as<M, Wanted>), "the message is enrolled in no list");
    std::size_t at = 0;
    (void)(... || (std::same_as<M, Wanted> ? true : (++at, false)));
    return at;
  }
};

template <class... M, class... N>
Messages<M..., N...> operator+(Messages<M...>, Messages<N...>);

}  // namespace perdure::ipc

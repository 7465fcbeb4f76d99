#pragma once
// Checks keys of options in the code against the table at compile time.
#include <string_view>

#include "config/options.hpp"

namespace perdure::config {

/// It is not constant: a key that reaches it does not compile, and the compiler's message names it.
inline void there_is_no_option_with_this_key_and_type() {}

/// The key of an option that has one of these types. It is made from a literal only.
template <Type... kTypes>
class Key {
 public:
  consteval Key(const char* name) : option_(find_option(name)) {  // NOLINT(google-explicit-constructor)
    if (option_ == nullptr || !((option_->type == kTypes) || ...)) there_is_no_option_with_this_key_and_type();
  }
  const Option& option() const { return *option_; }

 private:
  const Option* option_;
};

using AnyKey = Key<Type::text, Type::list, Type::boolean, Type::integer, Type::real, Type::bytes, Type::choice>;

}  // namespace perdure::config

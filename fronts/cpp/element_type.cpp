// Defines a structure whose members are PERDURE_TEXT. CMakeLists.txt says which texts must not compile.
#include "perdure/perdure.hpp"

struct Body {
  double mass;
  int kind;
};
template <>
struct perdure::ElementType<Body> {
  static constexpr const char* text = PERDURE_TEXT;
};

int main() { return perdure::type_of<Body>() == perdure::ElementType<Body>::text ? 0 : 1; }

// Reads one option by the key in PERDURE_KEY, as product code does. tests/CMakeLists.txt says which keys must not
// compile.
#include "config/key.hpp"

bool read(perdure::config::Key<perdure::config::Type::bytes> key) { return key.option().engine; }

int main() { return read(PERDURE_KEY) ? 0 : 1; }

// Prints docs/configuration.md; see tools/generate_configuration.
#include <cstdio>

#include "config/config.hpp"

int main() { return std::fputs(perdure::config::markdown().c_str(), stdout) < 0 ? 1 : 0; }

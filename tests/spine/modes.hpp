#pragma once
// Runs suites in several modes: with embedded engines or daemons, and both with checkpoints that copy on write.
#include <gtest/gtest.h>

#include <string>

#include "scenario.hpp"

namespace perdure::test_support {

inline std::string mode_name(const ::testing::TestParamInfo<const char*>& mode) { return mode.param; }

/// A test in the mode that is its parameter.
class InAMode : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (lacks_protection(GetParam())) GTEST_SKIP() << kNoProtection;
  }
};

}  // namespace perdure::test_support

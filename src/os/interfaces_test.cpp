#include "os/interfaces.hpp"

#include <gtest/gtest.h>

namespace perdure::os {
namespace {

TEST(Interfaces, TheLoopbackHasItsAddress) { EXPECT_EQ(address_of_interface("lo"), "127.0.0.1"); }

TEST(Interfaces, WhatIsNoNameOfOneHasNoAddress) {
  for (const char* name : {"", "127.0.0.1", "no-such-0", "lo "})
    EXPECT_EQ(address_of_interface(name), std::nullopt) << name;
}

TEST(Interfaces, ThoseOfIPv4ComeFirstAndNoneIsOfOneLinkOnly) {
  const auto all = interfaces();
  ASSERT_FALSE(all.empty());
  bool six = false;
  for (const auto& one : all) {
    EXPECT_FALSE(one.name.empty());
    EXPECT_EQ(one.address.rfind("fe80", 0), std::string::npos) << one.address;
    const bool is_six = one.address.find(':') != std::string::npos;
    EXPECT_FALSE(six && !is_six) << one.address << " comes late";
    six = is_six;
  }
}

}  // namespace
}  // namespace perdure::os

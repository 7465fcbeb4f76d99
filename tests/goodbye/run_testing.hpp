#pragma once
// Runs programs under `perdure run` that leave data on their node.
#include "left_testing.hpp"
#include "support/eventually.hpp"

namespace perdure::test_support {

/// A program that ends without closing, under `perdure run`.
class RunOfAProgram : public testing::Test {
 protected:
  /// Returns the command line `perdure VERB` with the program's directories.
  std::string perdure(const std::string& verb, const std::string& more = {}) const {
    return "PERDURE_ENGINE_DAEMON_PATH=" PERDURED_PATH " " PERDURE_PROGRAM " " + verb +
           " --set store.path=" + (left_ / "store") + " --set node.path=" + (left_ / "node") +
           " --set tier.file.path=" + (left_ / "file") + " " + more;
  }
  std::string run(const std::string& more = {}, const std::string& program = PERDURE_LEAVER) const {
    return perdure("run", "--restarts 0 " + more + " -- " + program);
  }
  void is_ready() {
    EXPECT_TRUE(eventually("the program waits", [&] { return left_.said().find("ready") != std::string::npos; }))
        << left_.said();
  }
  std::string answer(const std::string& command) const {
    const std::string file = left_ / "answer";
    EXPECT_EQ(std::system((command + " >" + file + " 2>&1").c_str()), 0) << command;
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  Left left_;
};

}  // namespace perdure::test_support

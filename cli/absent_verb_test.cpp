// A program that is built for `run` alone reports that other verbs are missing, whatever their arguments are.
#include "cli/absent_verb.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/verb_testing.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;

TEST(AbsentVerb, SaysThatItIsMissingAndHowToGetIt) {
  CLI::App app;
  const Action action = absent_verb(*app.add_subcommand("show", "Shows a checkpoint"));
  app.parse("show heat2d@300 --ranks --store /somewhere");
  char* text = nullptr;
  std::size_t bytes = 0;
  Terminal terminal;
  terminal.err = open_memstream(&text, &bytes);
  EXPECT_EQ(action(terminal), kCannot);
  std::fclose(terminal.err);
  const std::string said(text, bytes);
  std::free(text);
  EXPECT_THAT(said, HasSubstr("perdure show: this program was built for `perdure run` alone"));
  EXPECT_THAT(said, HasSubstr("make build"));
}

}  // namespace
}  // namespace perdure::cli

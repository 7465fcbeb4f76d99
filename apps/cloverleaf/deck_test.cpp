// Tests the values of a deck, and the refusal of wrong ones.
#include "deck.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace clover {
namespace {

using testing::HasSubstr;

Deck deck_of(const std::string& text, unsigned dimensions = 2) {
  std::istringstream stream(text);
  return read_deck(stream, "a.in", dimensions);
}

std::string refusal(const std::string& text, unsigned dimensions = 2) {
  try {
    deck_of(text, dimensions);
  } catch (const DeckError& error) {
    return error.what();
  }
  return "";
}

// Makes a deck of lines 1 to 4, of which each test changes one.
std::string with(const std::string& line) {
  return "*clover\nstate 1 density=0.2 energy=1\n" + line + "\n*endclover\n";
}

TEST(Decks, ThatSayLittleHaveDefaults) {
  const Deck flat = deck_of(with(""));
  EXPECT_EQ(flat.cells[0], 10);
  EXPECT_EQ(flat.cells[1], 10);
  EXPECT_EQ(flat.high[1], 100);
  EXPECT_EQ(flat.initial_timestep, 0.1);
  EXPECT_EQ(flat.max_timestep, 1);
  EXPECT_EQ(flat.timestep_rise, 1.5);
  EXPECT_EQ(flat.end_time, 10);
  EXPECT_EQ(flat.end_step, 640000);
  EXPECT_EQ(flat.summary_frequency, 10);
  EXPECT_EQ(flat.test_problem, 0);
  EXPECT_EQ(deck_of(with(""), 3).timestep_rise, 1.05) << "in three dimensions";
}

TEST(Decks, TakeBlanksForEqualSigns) {
  for (const char* line : {"x_cells=20 ymax=5", "  x_cells 20  ymax 5.0", "x_cells = 20 ! 30\nymax= 5 # ymin=7"}) {
    const Deck deck = deck_of(with(line));
    EXPECT_EQ(deck.cells[0], 20) << line;
    EXPECT_EQ(deck.high[1], 5) << line;
    EXPECT_EQ(deck.low[1], 0) << line;
  }
}

TEST(Decks, KnowWhatConcernsTheOriginalProgramsOnly) {
  EXPECT_EQ(refusal(with("profiler_on\nprofiler_on=1\ntiles_per_chunk=4 use_c_kernels visit_frequency 0")), "");
}

TEST(Decks, HaveTheTextAroundThemIgnored) {
  EXPECT_EQ(deck_of("x_cells=7\n" + with("y_cells=4") + "y_cells=9\n").cells[1], 4);
}

TEST(States, ButTheFirstAreShrunkByAHundredthOfACell) {
  const Deck deck =
      deck_of(with("x_cells=10 xmax=10\nstate 2 density 1 energy=2.5 xvel=3 geometry=rectangle xmin=1 xmax=5 ymax 20"));
  ASSERT_EQ(deck.states.size(), 2U);
  const State& state = deck.states[1];
  EXPECT_EQ(state.geometry, State::Geometry::box);
  EXPECT_EQ(state.velocity[0], 3);
  EXPECT_DOUBLE_EQ(state.low[0], 1.01);
  EXPECT_DOUBLE_EQ(state.high[0], 4.99);
  EXPECT_DOUBLE_EQ(state.high[1], 19.9);
}

TEST(States, HaveGeometriesOfTheirDimensions) {
  const std::string any = "state 2 density=1 energy=1 radius=2 geometry=";
  EXPECT_EQ(deck_of(with(any + "circle")).states[1].geometry, State::Geometry::ball);
  EXPECT_EQ(deck_of(with(any + "sphere"), 3).states[1].geometry, State::Geometry::ball);
  EXPECT_EQ(deck_of(with(any + "cuboid"), 3).states[1].geometry, State::Geometry::box);
  EXPECT_EQ(deck_of(with(any + "point")).states[1].geometry, State::Geometry::point);
  EXPECT_THAT(refusal(with(any + "cuboid")), HasSubstr("line 3: geometry: 'cuboid' is none of rectangle, circle"));
  EXPECT_THAT(refusal(with(any + "circle"), 3), HasSubstr("line 3: geometry: 'circle' is none of cuboid, sphere"));
}

TEST(WrongDecks, AreRefusedWithLineAndKey) {
  EXPECT_EQ(refusal(with("x_cell=10")), "a.in: line 3: x_cell: there is no such key");
  EXPECT_EQ(refusal(with("z_cells=10")), "a.in: line 3: z_cells: there is no such key");
  EXPECT_EQ(refusal(with("x_cells=many")), "a.in: line 3: x_cells: 'many' is no number");
  EXPECT_EQ(refusal(with("x_cells=1.5")), "a.in: line 3: x_cells: '1.5' is no number");
  EXPECT_EQ(refusal(with("end_time=")), "a.in: line 3: end_time: its value is missing");
  EXPECT_EQ(refusal(with("\nx_cells=0")), "a.in: line 4: x_cells: there must be one at least");
  EXPECT_EQ(refusal(with("x_cells=3 ymin=100")), "a.in: ymax: it must be greater than ymin") << "it is in no line";
  EXPECT_EQ(refusal(with("timestep_rise=0")), "a.in: line 3: timestep_rise: it must be greater than 0");
  EXPECT_EQ(refusal(with("max_timestep=inf")), "a.in: line 3: max_timestep: 'inf' is no number");
  EXPECT_EQ(refusal(with("test_problem 6")), "a.in: line 3: test_problem: 0 is none, and the last one is 5");
}

TEST(WrongStates, AreRefusedWithLineAndKey) {
  EXPECT_EQ(refusal(with("state 1 density=1 energy=1")), "a.in: line 3: state: there is a number 1 already");
  EXPECT_EQ(refusal(with("state 0 density=1")),
            "a.in: line 3: state: the first one is 1, and the last one at most 1000");
  EXPECT_EQ(refusal(with("state 2 density=1 energy=1")), "a.in: line 3: state: its geometry is missing");
  EXPECT_EQ(refusal(with("state 2 colour=1")), "a.in: line 3: colour: a state has no such key");
  EXPECT_EQ(refusal(with("state 2 zvel=1")), "a.in: line 3: zvel: a state has no such key");
  EXPECT_EQ(refusal(with("state 2 energy=1 geometry=point")), "a.in: line 3: density: a state has more than 0");
  EXPECT_EQ(refusal(with("state 3 density=1 energy=1 geometry=point")),
            "a.in: there is a state 3, and none of the number before");
}

TEST(WrongDecks, ThatAreNoneAreRefused) {
  EXPECT_EQ(refusal("x_cells=3\n"), "a.in: there is no line *clover");
  EXPECT_EQ(refusal("*clover\nstate 1 density=1 energy=1\n"), "a.in: there is no line *endclover");
  EXPECT_EQ(refusal("*clover\n*endclover\n"), "a.in: there is no state 1, which fills what no other one does");
  EXPECT_THROW(read_deck("/nowhere/a.in", 2), DeckError);
}

}  // namespace
}  // namespace clover

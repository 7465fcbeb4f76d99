// Tests every state of a slot with every event.
#include "engine/ledger/slots.hpp"

#include <gtest/gtest.h>

#include <array>

#include "engine/ledger/node_state_testing.hpp"

namespace perdure::engine {

std::ostream& operator<<(std::ostream& out, const SlotOutcome& outcome) {
  return out << "holder " << static_cast<int>(outcome.state.holder) << ", reading "
             << static_cast<int>(outcome.state.reading) << (outcome.release ? ", released" : "");
}

namespace {

using Holder = SlotHolder;
using Reading = SlotReading;
using SlotRow = std::array<std::optional<SlotOutcome>, 3>;  // by reading: no, yes, yes_then_free

constexpr auto kNone = std::nullopt;
constexpr SlotOutcome slot_idle(Holder holder) { return {{holder, Reading::no}, false}; }
constexpr SlotOutcome slot_read(Holder holder) { return {{holder, Reading::yes}, false}; }
constexpr SlotOutcome slot_read_then_free(Holder holder) { return {{holder, Reading::yes_then_free}, false}; }
constexpr SlotOutcome slot_released(Holder holder = Holder::nobody) { return {{holder, Reading::no}, true}; }

/// For each event, in the order of declaration, the outcomes of a slot with this holder.
struct SlotTable {
  Holder holder;
  std::array<SlotRow, 9> rows;
};

SlotRow slot_whose_holder_is(Holder after) { return {slot_idle(after), slot_read(after), slot_read_then_free(after)}; }
SlotRow slot_read_begins(Holder holder) { return {slot_read(holder), slot_read(holder), kNone}; }
SlotRow slot_read_ends(Holder holder) { return {kNone, slot_idle(holder), slot_released(holder)}; }
SlotRow slot_freed() {
  return {slot_released(), slot_read_then_free(Holder::nobody), slot_read_then_free(Holder::nobody)};
}
constexpr SlotRow slot_refused = {kNone, kNone, kNone};

const std::array<SlotTable, 5> kSlotTables = {{
    {Holder::nobody,
     {SlotRow{slot_idle(Holder::rank), kNone, kNone}, slot_refused, slot_refused,
      SlotRow{slot_idle(Holder::redundancy), kNone, kNone}, slot_refused, slot_refused,
      slot_read_begins(Holder::nobody), slot_read_ends(Holder::nobody), slot_freed()}},
    {Holder::rank,
     {slot_refused, slot_whose_holder_is(Holder::written), slot_whose_holder_is(Holder::nobody), slot_refused,
      slot_refused, slot_refused, slot_read_begins(Holder::rank), slot_read_ends(Holder::rank), slot_freed()}},
    {Holder::written,
     {slot_refused, slot_refused, slot_whose_holder_is(Holder::nobody), slot_refused, slot_refused, slot_refused,
      slot_read_begins(Holder::written), slot_read_ends(Holder::written), slot_freed()}},
    {Holder::redundancy,
     {slot_refused, slot_refused, slot_refused, slot_refused, slot_whose_holder_is(Holder::nobody),
      slot_whose_holder_is(Holder::guest), slot_read_begins(Holder::redundancy), slot_read_ends(Holder::redundancy),
      slot_freed()}},
    {Holder::guest,
     {slot_refused, slot_refused, slot_refused, slot_refused, slot_refused, slot_refused,
      slot_read_begins(Holder::guest), slot_read_ends(Holder::guest), slot_freed()}},
}};

TEST(SlotStates, EveryStateWithEveryEventIsWhatTheTableSays) {
  for (const SlotTable& table : kSlotTables)
    for (std::size_t event = 0; event < table.rows.size(); ++event)
      for (std::size_t reading = 0; reading < 3; ++reading) {
        const auto after = next({table.holder, static_cast<Reading>(reading)}, static_cast<SlotEvent>(event));
        EXPECT_EQ(after, table.rows[event][reading])
            << "holder " << static_cast<int>(table.holder) << ", event " << event << ", reading " << reading;
      }
}

class SlotsTest : public NodeStateFixture {
 protected:
  void SetUp() override {
    open({4});
    slots = std::make_unique<Slots>(core->tiers());
  }
  SlotKey acquire() { return {0, *core->tiers()[0]->acquire(kChunk, 1)}; }
  std::unique_ptr<Slots> slots;
};

TEST_F(SlotsTest, ASlotIsFreeWhenNobodyNeedsItAndNoFlushReadsIt) {
  const SlotKey slot = acquire();
  slots->grant(slot, {1, id(1), kChunk, 0, 0, false});
  EXPECT_TRUE(slots->happens(slot, SlotEvent::write));
  EXPECT_FALSE(slots->happens(slot, SlotEvent::write)) << "it was told already";
  EXPECT_TRUE(slots->happens(slot, SlotEvent::read_begins));
  EXPECT_TRUE(slots->happens(slot, SlotEvent::free));
  EXPECT_EQ(used(0), 1u);
  EXPECT_TRUE(slots->any_free_after_read([](std::uint32_t tier) { return tier == 0; }));
  EXPECT_FALSE(slots->any_free_after_read([](std::uint32_t tier) { return tier == 1; }));
  EXPECT_TRUE(slots->happens(slot, SlotEvent::read_ends));
  EXPECT_EQ(used(0), 0u);
}

TEST_F(SlotsTest, WhatIsInTheCatalogIsNobodysUntilItIsFreed) {
  const SlotKey slot = acquire();
  slots->grant(slot, {1, id(1), kChunk, 0, 0, false});
  EXPECT_TRUE(slots->happens(slot, SlotEvent::settle));
  EXPECT_EQ(slots->granted(slot), nullptr);
  EXPECT_EQ(used(0), 1u);
  EXPECT_TRUE(slots->happens(slot, SlotEvent::free));
  EXPECT_EQ(used(0), 0u);
}

TEST_F(SlotsTest, ARanksSlotsAreFoundByVersionOrAltogether) {
  const SlotKey first = acquire(), second = acquire(), other = acquire(), reserved = acquire();
  slots->grant(first, {1, id(1), kChunk, 0, 0, false});
  slots->grant(second, {1, id(2), kChunk, 0, 0, false});
  slots->grant(other, {2, id(1), kChunk, 0, 0, false});
  slots->happens(reserved, SlotEvent::reserve);
  const auto version = id(1);
  EXPECT_EQ(slots->granted_to(1, &version), std::vector<SlotKey>{first});
  EXPECT_EQ(slots->granted_to(1, nullptr), (std::vector<SlotKey>{first, second}));
  EXPECT_EQ(slots->granted(reserved), nullptr);
}

}  // namespace
}  // namespace perdure::engine

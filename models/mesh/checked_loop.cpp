#include "mesh/checked_loop.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace perdure::mesh {
namespace {

using Mode = track::Access::Mode;

std::size_t bytes_of(const Dataset& set) {
  return static_cast<std::size_t>(set.local().elements()) * set.element_bytes();
}

std::byte* memory_of(const Dataset& set) { return set.address(set.local().begin); }

// Read as doubles: a NaN, and a number that most operations change.
constexpr std::byte kFillings[] = {std::byte{0xff}, std::byte{0x3f}};

template <class Take>
void each_index(const Box& box, const Take& take) {
  if (box.empty()) return;
  Index at = box.begin;
  for (;;) {
    take(at);
    unsigned d = 0;
    while (d < box.dimensions && ++at[d] == box.end[d]) at[d] = box.begin[d], ++d;
    if (d == box.dimensions) return;
  }
}

std::string text_of(const Index& at, unsigned dimensions) {
  std::string text = "[";
  for (unsigned d = 0; d < dimensions; ++d) text += (d == 0 ? "" : ", ") + std::to_string(at[d]);
  return text + "]";
}

bool lies_in(const Index& at, const Box& box) {
  for (unsigned d = 0; d < box.dimensions; ++d)
    if (at[d] < box.begin[d] || at[d] >= box.end[d]) return false;
  return true;
}

// Returns the first element that differs between the current memory and `other`, which has the same layout.
template <class Skip>
std::optional<Index> first_difference(const Dataset& set, const std::vector<std::byte>& other, const Skip& skip) {
  const std::byte* now = memory_of(set);
  if (std::memcmp(now, other.data(), other.size()) == 0) return std::nullopt;
  std::optional<Index> found;
  std::size_t at = 0;
  each_index(set.local(), [&](const Index& index) {
    if (!found && std::memcmp(now + at, other.data() + at, set.element_bytes()) != 0 && !skip(index)) found = index;
    at += set.element_bytes();
  });
  return found;
}

}  // namespace

CheckedLoop::CheckedLoop(std::string name, const Box& mine, std::span<const Use> uses,
                         std::initializer_list<Reduction*> reductions)
    : name_(std::move(name)), mine_(mine), uses_(uses) {
  for (const Use& use : uses) {
    if (std::any_of(copies_.begin(), copies_.end(), [&](const Copy& copy) { return copy.set == use.set; })) continue;
    const std::byte* memory = memory_of(*use.set);
    copies_.push_back({use.set, {memory, memory + bytes_of(*use.set)}, {}});
  }
  for (Reduction* reduction : reductions)
    if (reduction != nullptr) reductions_.emplace_back(reduction, reduction->slot(0));
}

void CheckedLoop::refuse(const Dataset& set, const std::string& why) const {
  throw std::runtime_error("mesh: loop '" + name_ + "' does not keep to what it says of data set '" + set.name() +
                           "': " + why);
}

void CheckedLoop::strays(const Dataset& set, std::int64_t dx, std::int64_t dy, std::int64_t dz) {
  refuse(set, "its kernel asks for the element at offset " + text_of({dx, dy, dz}, set.block().dimensions()) +
                  ", which is not in its stencil");
}

void CheckedLoop::put_back() {
  for (const Copy& copy : copies_) std::memcpy(memory_of(*copy.set), copy.before.data(), copy.before.size());
  for (auto& [reduction, slot] : reductions_) reduction->slot(0) = slot;
}

// An element that another argument reads keeps its value.
void CheckedLoop::fill(std::byte filling) {
  for (const Use& use : uses_) {
    if (use.mode != Mode::write) continue;
    if (std::any_of(uses_.begin(), uses_.end(),
                    [&](const Use& other) { return other.set == use.set && other.mode != Mode::write; }))
      continue;
    each_index(mine_, [&](const Index& at) {
      std::memset(use.set->address(at), std::to_integer<int>(filling), use.set->element_bytes());
    });
  }
}

void CheckedLoop::compare_outside() {
  for (const Copy& copy : copies_) {
    const bool writes = std::any_of(uses_.begin(), uses_.end(),
                                    [&](const Use& use) { return use.set == copy.set && use.mode != Mode::read; });
    const auto at =
        first_difference(*copy.set, copy.before, [&](const Index& index) { return writes && lies_in(index, mine_); });
    if (!at) continue;
    refuse(*copy.set,
           "element " + text_of(*at, mine_.dimensions) +
               (writes ? " is written, and the loop's range is " + mine_.text() : " is written, and it is only read"));
  }
}

// An element that equals the filling both times was not written. Any other difference shows that the kernel read an
// element that it only declared to write.
void CheckedLoop::expect_the_same() {
  for (const Copy& copy : copies_) {
    const auto at = first_difference(*copy.set, copy.after, [](const Index&) { return false; });
    if (!at) continue;
    const std::vector<std::byte> filled(copy.set->element_bytes(), kFillings[1]);
    const bool untouched = std::memcmp(copy.set->address(*at), filled.data(), filled.size()) == 0;
    refuse(*copy.set,
           "element " + text_of(*at, mine_.dimensions) +
               (untouched ? " is not written (a kernel that leaves elements as they are has to read them, too)"
                          : " depends on what was there before of something that is only written"));
  }
}

void CheckedLoop::run(const std::function<void()>& loop) {
  for (const std::byte filling : kFillings) {
    put_back();
    fill(filling);
    loop();
    compare_outside();
    if (filling != kFillings[0]) return expect_the_same();
    for (Copy& copy : copies_) copy.after.assign(memory_of(*copy.set), memory_of(*copy.set) + copy.before.size());
  }
}

}  // namespace perdure::mesh

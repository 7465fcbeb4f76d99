#pragma once
// Runs lives of a program on a mesh. Each life may be killed anywhere. The next one resumes from its checkpoints, on
// another number of ranks, with garbage in all elements that were written and not saved.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <utility>

#include "mesh/protection.hpp"
#include "mesh/random_loops_testing.hpp"
#include "mesh/rows.hpp"
#include "mesh/stored_mesh.hpp"
#include "mesh/thread_ranks_testing.hpp"
#include "track/place_codec.hpp"

namespace perdure::mesh {

struct Died : std::runtime_error {
  Died() : std::runtime_error("died") {}
};

/// Holds the versions that all ranks of all lives see.
struct SharedVersions {
  struct Version {
    std::vector<std::byte> place;
    std::map<std::pair<std::size_t, std::uint64_t>, std::vector<std::byte>> elements;
    std::uint64_t expected = 0;
    bool whole = false, retired = false;
  };
  std::mutex mutex;
  std::vector<Version> versions;
  int dies_in_write = -1;
  int written = 0;
};

class MemoryStore final : public automatic::CheckpointStore {
 public:
  MemoryStore(SharedVersions& shared, Mesh& mesh) : shared_(shared), mesh_(mesh) {}
  std::optional<std::vector<std::byte>> newest() override {
    std::lock_guard guard(shared_.mutex);
    for (std::size_t i = shared_.versions.size(); i-- > 0;)
      if (shared_.versions[i].whole && !shared_.versions[i].retired) {
        newest_ = i;
        return shared_.versions[i].place;
      }
    return std::nullopt;
  }
  bool restore(std::span<const automatic::SavedBox> boxes) override {
    std::lock_guard guard(shared_.mutex);
    const auto& version = shared_.versions[newest_];
    spoil(*track::decode_place(version.place));
    for (const automatic::SavedBox& saved : boxes)
      each_element(saved, [&](std::uint64_t place, std::byte* address) {
        const auto& bytes = version.elements.at({saved.number, place});
        std::memcpy(address, bytes.data(), bytes.size());
      });
    return true;
  }
  tl::expected<void, std::string> write(std::span<const std::byte> place,
                                        std::span<const automatic::SavedBox> boxes) override {
    barrier();
    if (mesh_.ranks().rank() == 0) {
      std::lock_guard guard(shared_.mutex);
      shared_.versions.push_back({{place.begin(), place.end()}, {}, 0, false, false});
      for (const automatic::SavedBox& saved : boxes) shared_.versions.back().expected += saved.box.elements();
    }
    barrier();
    {
      std::lock_guard guard(shared_.mutex);
      auto& version = shared_.versions.back();
      if (!std::equal(place.begin(), place.end(), version.place.begin(), version.place.end()))
        throw std::logic_error("the place differs between ranks");
      for (const automatic::SavedBox& saved : boxes)
        each_element(saved, [&](std::uint64_t at, const std::byte* address) {
          if (!version.elements.emplace(std::pair(saved.number, at), std::vector(address, address + 8)).second)
            throw std::logic_error("two have an element");
        });
    }
    barrier();
    if (shared_.dies_in_write == shared_.written) throw Died();
    barrier();
    if (mesh_.ranks().rank() == 0) {
      std::lock_guard guard(shared_.mutex);
      if (shared_.versions.back().elements.size() != shared_.versions.back().expected)
        throw std::logic_error("there are holes");
      shared_.versions.back().whole = true;
      ++shared_.written;
    }
    barrier();
    return {};
  }
  tl::expected<void, std::string> refuse(const std::string& why) override { return tl::unexpected(why); }
  void retire_written() override { retire_from(shared_.versions.size() - 1); }
  void retire_restored() override { retire_from(newest_); }
  automatic::Met meet(const automatic::Meeting&, bool here) override { return {here, {}}; }
  tl::expected<void, std::string> finish() override { return {}; }

 private:
  void retire_from(std::size_t first) {
    barrier();
    std::lock_guard guard(shared_.mutex);
    for (std::size_t i = first; i < shared_.versions.size(); ++i) shared_.versions[i].retired = true;
  }
  void barrier() {
    double nothing = 0;
    mesh_.ranks().combine(std::span(&nothing, 1), Ranks::Combine::sum);
  }
  template <class Use>
  static void each_element(const automatic::SavedBox& saved, const Use& use) {
    for (const auto& part : saved.parts)
      each_row(part.box, [&](Index at) {
        for (; at[0] < part.box.end[0]; ++at[0]) {
          std::uint64_t place = 0;
          std::int64_t offset = 0;
          for (unsigned d = part.box.dimensions; d-- > 0;) {
            place = place * static_cast<std::uint64_t>(saved.box.end[d] - saved.box.begin[d]) +
                    static_cast<std::uint64_t>(at[d] - saved.box.begin[d]);
            offset += (at[d] - part.box.begin[d]) * part.strides[d];
          }
          use(place, part.address + offset);
        }
      });
  }
  // Also spoils the ghosts.
  void spoil(const track::Place& place) {
    for (std::size_t set = 0; set < place.written.size(); ++set)
      for (const Box& box : place.written[set].boxes()) {
        const Dataset& data = *mesh_.datasets()[set];
        const Box here = intersection(box, data.local());
        if (here.empty()) continue;
        each_row(here, [&](Index at) {
          for (; at[0] < here.end[0]; ++at[0]) std::memset(data.address(at), 0xa5, data.element_bytes());
        });
      }
  }

  SharedVersions& shared_;
  Mesh& mesh_;
  std::size_t newest_ = 0;
};

struct Told {
  std::mutex mutex;
  std::vector<std::string> said;
  std::vector<Taken> taken;
  bool restarted = false;
};

/// The results of a program.
struct End {
  std::vector<double> answers;
  Content content;
  friend bool operator==(const End&, const End&) = default;
};

/// Runs one life of a program on `ranks` ranks, which dies before loop number `dies`. Returns nothing if it died.
template <class Program>
std::optional<End> live(const Program& program, int ranks, const Policy& policy, SharedVersions& shared,
                        std::uint64_t dies, Told& told) {
  std::optional<End> end;
  Content content;
  std::mutex mutex;
  try {
    on_ranks(ranks, [&](std::unique_ptr<Ranks> one) {
      Protection* protection = nullptr;
      std::uint64_t loops = 0;
      const bool first = one->rank() == 0;
      Hooks hooks;
      hooks.initialised = [&](Mesh& mesh) {
        protection = &protect(mesh, std::make_unique<MemoryStore>(shared, mesh), policy, [&](const std::string& said) {
          std::lock_guard guard(told.mutex);
          told.said.push_back(said);
        });
      };
      hooks.before_loop = [&] {
        if (loops++ == dies) throw Died();
        if (!first) return;
        std::lock_guard guard(told.mutex);
        told.taken = protection->taken();
        told.restarted = protection->restarted();
      };
      auto mine = program.run(std::move(one), {1, true, false}, content, mutex, hooks);
      std::lock_guard guard(mutex);
      if (end && end->answers != mine) throw std::logic_error("ranks have other answers");
      end = End{std::move(mine), {}};
    });
  } catch (const std::logic_error&) {
    throw;
  } catch (const std::runtime_error& why) {
    const std::string text = why.what();
    if (text != "died" && text != "another rank has died" && text.find("it was given up") == std::string::npos) throw;
    return std::nullopt;
  }
  end->content = std::move(content);
  return end;
}

/// Returns the result of an undisturbed run, and its number of loops.
template <class Program>
std::pair<End, std::uint64_t> undisturbed(const Program& program) {
  std::mutex mutex;
  End end;
  std::uint64_t loops = 0;
  Hooks counting;
  counting.before_loop = [&] { ++loops; };
  end.answers = program.run(one_rank(), {1, true, false}, end.content, mutex, counting);
  return {std::move(end), loops};
}

/// Counts events over all lives of some programs.
struct Lives {
  std::size_t restarts = 0, foreseen = 0, aside = 0, given_up = 0;
  std::map<std::string, std::size_t> before;  ///< checkpoints before each loop
};

/// Runs lives that are killed at random, six at most, until one ends. `places`: loops before which the policy now and
/// then wants all checkpoints.
template <class Program>
void expect_the_undisturbed_end(const Program& program, std::uint64_t seed, Lives& lives,
                                std::span<const char* const> places = {}) {
  const auto [expected, loops] = undisturbed(program);
  std::mt19937_64 random(seed);
  SharedVersions shared;
  Told told;
  std::optional<End> end;
  for (int life = 0; !end; ++life) {
    ASSERT_LT(life, 40);
    Policy policy;
    policy.every_loops = 5 + random() % 40;
    policy.learns = 20 + random() % 60;
    policy.foresees = random() % 4 != 0;
    policy.decides = random() % 3 == 0 ? 10 : 20000;
    if (!places.empty() && random() % 2 == 0) policy.before = places[random() % places.size()];
    const int ranks = 1 + static_cast<int>(random() % 4);
    if (!program.fits(ranks)) continue;
    shared.dies_in_write = random() % 4 == 0 ? shared.written + static_cast<int>(random() % 3) : -1;
    const std::uint64_t dies = life < 6 ? random() % (loops + 20) : ~std::uint64_t{0};
    if (life >= 6) shared.dies_in_write = -1;
    end = live(program, ranks, policy, shared, dies, told);
    lives.restarts += told.restarted ? 1 : 0;
    for (const Taken& taken : told.taken)
      ++(taken.foreseen ? lives.foreseen : lives.aside), ++lives.before[taken.before];
    told.taken.clear();
    told.restarted = false;
  }
  lives.given_up += told.said.size();
  EXPECT_EQ(end->answers, expected.answers);
  EXPECT_TRUE(end->content == expected.content);
}

}  // namespace perdure::mesh

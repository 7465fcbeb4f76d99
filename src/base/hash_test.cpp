#include "base/hash.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <vector>

#include "base/hash_kernels.hpp"

namespace perdure::base {
namespace {

std::vector<std::byte> random_bytes(std::size_t bytes, std::mt19937_64& random) {
  std::vector<std::byte> data(bytes);
  for (std::byte& b : data) b = static_cast<std::byte>(random());
  return data;
}

Hash128 hash_in_pieces(ConstByteSpan data, std::mt19937_64& random) {
  Hasher hasher;
  while (!data.empty()) {
    const std::size_t piece = 1 + random() % data.size();
    hasher.update(data.first(piece));
    data = data.subspan(piece);
  }
  return hasher.digest();
}

TEST(Hash, IsTheOneThatXxhashPublishes) {
  // XXH3 of no bytes, as `xxhsum -H2` and `xxhsum -H3` print it. Other programs must be able to verify our segments.
  EXPECT_EQ(hash128({}).hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash64({}), 0x2d06800538d394c2U);
}

TEST(Hash, DoesNotDependOnHowTheDataIsCut) {
  std::mt19937_64 random(1);
  for (std::size_t bytes : {0, 1, 16, 17, 128, 129, 240, 241, 255, 256, 257, 1024, 65535, 65536, 65537, 200'000}) {
    const auto data = random_bytes(bytes, random);
    EXPECT_EQ(hash_in_pieces(data, random), hash128(data)) << bytes;
  }
}

TEST(Hash, ChangesWithEveryFlippedBit) {
  std::mt19937_64 random(2);
  auto data = random_bytes(100'000, random);
  const Hash128 before = hash128(data);
  for (std::size_t at : {std::size_t{0}, std::size_t{63}, std::size_t{65'536}, data.size() - 1}) {
    data[at] ^= std::byte{0x10};
    EXPECT_NE(hash128(data), before) << at;
    data[at] ^= std::byte{0x10};
  }
  EXPECT_EQ(hash128(data), before);
}

TEST(Hasher, BeginsAnewAfterReset) {
  std::mt19937_64 random(3);
  const auto data = random_bytes(5000, random);
  Hasher hasher;
  hasher.update(data);
  hasher.reset();
  EXPECT_EQ(hasher.digest(), hash128({}));
  hasher.update(data);
  EXPECT_EQ(hasher.digest(), hash128(data));
  EXPECT_EQ(hasher.digest(), hash128(data)) << "a digest must not change the state";
}

TEST(Hash128, ComesBackFromItsCanonicalForm) {
  const Hash128 hash{0x0123456789abcdefU, 0xfedcba9876543210U};
  EXPECT_EQ(hash.hex(), "fedcba98765432100123456789abcdef");
  EXPECT_EQ(hash.bytes()[0], std::byte{0xfe});
  EXPECT_EQ(Hash128::from_bytes(hash.bytes()), hash);
}

// Makes one copy between odd addresses, in two calls. The bytes around the target must stay as they were.
void check_one_copy(std::size_t bytes, std::mt19937_64& random) {
  constexpr std::size_t kMargin = 256;
  constexpr std::byte kUntouched{0xA5};
  const std::size_t source_shift = random() % 130;
  const std::size_t target_shift = random() % 130;
  const auto source = random_bytes(bytes + source_shift, random);
  std::vector<std::byte> target(bytes + 2 * kMargin, kUntouched);
  std::byte* to = target.data() + target_shift;
  const std::byte* from = source.data() + source_shift;
  const std::size_t split = bytes == 0 ? 0 : random() % bytes;

  Hasher fast;
  copy_and_hash(to, from, split, fast);
  copy_and_hash(to + split, from + split, bytes - split, fast);
  EXPECT_EQ(fast.digest(), hash128({from, bytes})) << bytes;
  EXPECT_TRUE(std::equal(from, from + bytes, to)) << bytes;
  EXPECT_TRUE(std::all_of(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(target_shift),
                          [](std::byte b) { return b == kUntouched; }));
  EXPECT_TRUE(std::all_of(target.begin() + static_cast<std::ptrdiff_t>(target_shift + bytes), target.end(),
                          [](std::byte b) { return b == kUntouched; }));

  Hasher reference;
  std::vector<std::byte> plain(bytes);
  copy_then_hash(plain.data(), from, bytes, reference);
  EXPECT_EQ(fast.digest(), reference.digest());
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), to));
}

TEST(CopyAndHash, EqualsCopyThenHashAndTheOneShotHash) {
  std::mt19937_64 random(4);
  for (std::size_t bytes : {0, 1, 63, 64, 65, 4096, 65'536, 262'143, 262'144, 262'145, 327'680, 1'048'576})
    check_one_copy(bytes, random);
  for (int round = 0; round < 40; ++round) check_one_copy(random() % (MiB + 1), random);
}

TEST(CopyPastCaches, IsExactWhereverItBeginsAndEnds) {
  std::mt19937_64 random(3);
  const auto source = random_bytes(20'000, random);
  for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 4096U, 4200U, 19'000U})
    for (const std::size_t shift : {0U, 1U, 32U, 63U, 64U}) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes to " + std::to_string(shift));
      std::vector<std::byte> target(source.size(), std::byte{0xee}), expected = target;
      copy_past_caches(target.data() + shift, source.data() + 7, bytes);
      std::copy_n(source.begin() + 7, bytes, expected.begin() + static_cast<std::ptrdiff_t>(shift));
      ASSERT_TRUE(target == expected);
    }
}

void check_streamed(const kernels::Set& by, std::mt19937_64& random) {
  const std::size_t bytes = random() % 100'000, shift = random() % 65, most = 1 + random() % 50'000;
  const auto source = random_bytes(bytes, random);
  std::vector<std::byte> target(bytes + 2 * 65, std::byte{7});
  Hasher hasher;
  StreamedCopy copy(target.data() + shift, hasher, by);
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t piece = std::min(bytes - at, random() % 3 == 0 ? most : random() % (most + 1));
    copy.append({source.data() + at, piece});
    at += piece;
  }
  copy.finish();
  ASSERT_EQ(hasher.digest(), hash128(source));
  auto* const to = target.data() + shift;
  ASSERT_TRUE(std::equal(source.begin(), source.end(), to));
  ASSERT_TRUE(std::all_of(target.data(), to, [](std::byte b) { return b == std::byte{7}; }));
  ASSERT_TRUE(std::all_of(to + bytes, to + bytes + 65, [](std::byte b) { return b == std::byte{7}; }));
}

TEST(StreamedCopy, IsOneCopyWhateverThePieces) {
  std::mt19937_64 random(5);
  const kernels::Set sets[] = {kernels::baseline(), kernels::widest(), kernels::best()};
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(check_streamed(sets[round % 3], random));
  }
}

// Imitates a slot that somebody writes to during its restore. The writer is another process, so that this one has no
// race.
TEST(CopyAndHash, HashesWhatTheTargetGotWhoeverWritesToTheSourceMeanwhile) {
  constexpr std::size_t kSource = MiB, kRounds = 20;
  void* shared = ::mmap(nullptr, 2 * kSource, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* source = static_cast<std::byte*>(shared);
  auto* turns = reinterpret_cast<std::atomic<std::uint64_t>*>(source + kSource);
  const pid_t writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    for (std::uint64_t turn = 0;; turns->store(++turn))
      for (std::size_t at = turn % 512; at < kSource; at += 512) source[at] ^= std::byte{1};
  }
  std::vector<std::byte> target(kSource);
  std::uint64_t seen = 0;
  for (std::size_t round = 0; round < kRounds;) {
    Hasher hasher;
    copy_and_hash(target.data(), source, kSource, hasher);
    EXPECT_EQ(hasher.digest(), hash128(target));
    if (HasFailure()) break;
    round += turns->load() != seen ? 1 : 0;  // only rounds beside the writer count
    seen = turns->load();
  }
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
  ::munmap(shared, 2 * kSource);
}

TEST(HashKernels, OfThisProcessorCopyLikeTheBaseline) {
  std::mt19937_64 random(7);
  constexpr std::size_t kAlignment = 64;
  for (std::size_t lines : {0, 1, 2, 3, 1000}) {
    const std::size_t bytes = lines * kAlignment;
    const auto source = random_bytes(bytes + 1, random);
    for (const kernels::Set& set : {kernels::baseline(), kernels::widest()}) {
      std::vector<std::byte> room(bytes + 2 * kAlignment, std::byte{0}), beside = room;
      const auto aligned = [](std::vector<std::byte>& in) {
        const auto address = reinterpret_cast<std::uintptr_t>(in.data());
        return in.data() + (kAlignment - address % kAlignment) % kAlignment;
      };
      set.stream_and_keep(aligned(room), aligned(beside), source.data() + 1, bytes);
      std::vector<std::byte> again(room.size(), std::byte{0});
      set.stream_and_keep(aligned(again), aligned(beside), aligned(beside), bytes);  // once more, from the kept copy
      EXPECT_TRUE(std::equal(source.begin() + 1, source.end(), aligned(again)));
      for (const std::byte* copy : {aligned(room), aligned(beside)}) {
        EXPECT_TRUE(std::equal(source.begin() + 1, source.end(), copy));
        EXPECT_EQ(copy[bytes], std::byte{0});
      }
    }
  }
}

}  // namespace
}  // namespace perdure::base

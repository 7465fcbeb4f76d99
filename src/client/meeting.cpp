#include "client/meeting.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "comm/patience.hpp"

namespace perdure::client {
namespace {

using PlaceText = std::array<char, 160>;

// Gives the place of rank `root`, in its words.
base::Result<std::string> place_of(comm::Communicator& comm, const std::string& mine, std::size_t root) {
  PlaceText text{};
  mine.copy(text.data(), text.size() - 1);
  PERDURE_CHECK(comm.broadcast(std::as_writable_bytes(std::span(text)), static_cast<int>(root)));
  return std::string(text.data());
}

// [collective] Gives a bit for each rank that is where the greatest mark is. No rank brings another's bit, so that the
// sum of words has all of them.
base::Result<std::vector<std::uint64_t>> ranks_there(comm::Communicator& comm, bool here) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  std::vector<std::uint64_t> bits((static_cast<std::size_t>(comm.size()) + 63) / 64);
  if (here) bits[rank / 64] |= std::uint64_t{1} << rank % 64;
  PERDURE_CHECK(comm.allreduce(bits, comm::Reduce::sum));
  return bits;
}

// [collective] Gives two places; the second is that of the lowest rank that is not at the first.
base::Status places_of_all(comm::Communicator& comm, const std::string& mine, bool at_first) {
  PERDURE_TRY(const auto bits, ranks_there(comm, at_first));
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto is_there = [&](std::size_t rank) { return (bits[rank / 64] >> rank % 64 & 1U) != 0; };
  const auto is_not = [&](std::size_t rank) { return !is_there(rank); };
  std::size_t first = 0, other = 0;
  while (first + 1 < ranks && !is_there(first)) ++first;
  while (other + 1 < ranks && is_there(other)) ++other;
  PERDURE_TRY(std::string one, place_of(comm, mine, first));
  PERDURE_TRY(std::string two, place_of(comm, mine, other));
  std::string who_one = comm::ranks_text(ranks, is_there), who_two = comm::ranks_text(ranks, is_not);
  if (other < first) std::swap(one, two), std::swap(who_one, who_two);
  return base::fail(PERDURE_MISMATCH, "ranks", who_one + ": " + one + "; " + who_two + ": " + two,
                    "make the same calls, in the same order, on all ranks");
}

}  // namespace

base::Error late_at(const MeetingPlace& at, base::Error error) {
  if (error.code == PERDURE_TIMEOUT) error.cause += " (" + at.text + ")";
  return error;
}

base::Result<bool> meet_at(Job& job, const MeetingPlace& at, bool here) {
  Opening opening;
  opening.operation = Operation::meet;
  opening.mark = at.mark;
  opening.here = here;
  const auto opened = job.exchange(opening, {});
  if (!opened) return base::fail(late_at(at, opened.error()));
  if (opened->greatest_mark == opened->least_mark) return opened->any_here;
  if (at.apart != nullptr) *at.apart = true;
  return base::fail(places_of_all(job.comm(), at.text, opened->greatest_mark == at.mark).error());
}

}  // namespace perdure::client

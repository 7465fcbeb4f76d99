// These programs check their memory page by page while pages may be missing: `missing DIRECTORY looks|uses [huge]`.
// Each makes the directory DIRECTORY/ready when it may be captured.
// `looks` checks all of its memory again and again, and makes DIRECTORY/lie if a page is wrong. With a file
// DIRECTORY/fork it forks once; the child makes DIRECTORY/forked and checks too. With DIRECTORY/end it ends with 7.
// `uses` drops, moves, shares, reads and writes memory when there is a file DIRECTORY/go, and then makes
// DIRECTORY/used. With DIRECTORY/end it checks the rest, reports failures, and ends.
// `huge` requests huge pages for memory that is aligned for them.
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

constexpr std::size_t kPage = 4096, kWords = kPage / sizeof(std::uint64_t);
constexpr std::size_t kHugePage = std::size_t{2} << 20;
std::string directory;
bool huge = false;
unsigned wrong = 0;

void judge(bool good, const char* what) {
  if (good) return;
  ++wrong;
  std::printf("wrong: %s\n", what);
}

void pause_us(long us) {
  timespec left{0, us * 1000};
  while (nanosleep(&left, &left) != 0) {  // wait: it is captured meanwhile
  }
}
bool is_there(const char* name) {
  struct stat status {};
  return stat((directory + "/" + name).c_str(), &status) == 0;
}
void make(const char* name) { mkdir((directory + "/" + name).c_str(), 0700); }
void wait_for(const char* name) {
  while (!is_there(name)) pause_us(1000);
}

/// Memory whose words depend on their position.
class Memory {
 public:
  explicit Memory(std::size_t pages, std::uint64_t key) : pages_(pages), key_(key) {
    at_ = huge ? map_huge(pages * kPage) : map(pages * kPage);
    if (at_ == MAP_FAILED) _exit(98);
    for (std::size_t page = 0; page < pages; ++page)
      for (std::size_t word = 0; word < kWords; ++word) words(at_, page)[word] = value(page, word);
  }
  char* at() const { return at_; }
  char* at(std::size_t page) const { return at_ + page * kPage; }
  std::size_t bytes() const { return pages_ * kPage; }
  std::size_t pages() const { return pages_; }
  /// Returns whether page `page` has its words, where the memory is now at `at`.
  bool right(std::size_t page, const char* at) const {
    for (std::size_t word = 0; word < kWords; ++word)
      if (words(at, page)[word] != value(page, word)) return false;
    return true;
  }
  bool right(std::size_t begin, std::size_t end, const char* at) const {
    bool all = true;
    for (std::size_t page = begin; page < end; ++page) all = right(page, at) && all;
    return all;
  }
  bool right() const { return right(0, pages_, at_); }

 private:
  static char* map(std::size_t bytes) {
    return static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  static char* map_huge(std::size_t bytes) {
    char* room = map(bytes + kHugePage);
    if (room == MAP_FAILED) return room;
    room += (kHugePage - reinterpret_cast<std::uintptr_t>(room) % kHugePage) % kHugePage;
    return madvise(room, bytes, MADV_HUGEPAGE) == 0 ? room : static_cast<char*>(MAP_FAILED);
  }
  static std::uint64_t* words(const char* at, std::size_t page) {
    return reinterpret_cast<std::uint64_t*>(const_cast<char*>(at) + page * kPage);
  }
  std::uint64_t value(std::size_t page, std::size_t word) const {
    return (page * kWords + word + 1) * 0x9e3779b97f4a7c15 + key_;
  }
  char* at_;
  std::size_t pages_;
  std::uint64_t key_;
};

bool zeros(const char* at, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (at[i] != 0) return false;
  return true;
}

// A test that must know that all memory was checked since the resume makes "watch" before. The capture may have been
// near the end of a round.
[[noreturn]] void look(const Memory& memory, bool forks) {
  for (;;) {
    const bool watched = is_there("watch");
    for (std::size_t page = 0; page < memory.pages(); ++page) {
      if (!memory.right(page, memory.at())) {
        make("lie");
        _exit(99);
      }
      if (page % 64 == 0) pause_us(200);
      if (forks && page % 16 == 0 && is_there("fork")) {
        forks = false;
        if (fork() == 0) make("forked");
      }
    }
    if (watched) make("looked");
    if (is_there("end")) _exit(7);
  }
}

void drop_and_move(const Memory& dropped, const Memory& moved, const Memory& replaced) {
  judge(madvise(dropped.at(4), 8 * kPage, MADV_DONTNEED) == 0, "MADV_DONTNEED");
  judge(zeros(dropped.at(4), 8 * kPage), "dropped pages are not zeros");
  judge(dropped.right(0, 4, dropped.at()) && dropped.right(12, dropped.pages(), dropped.at()),
        "pages beside dropped ones");
  // To a free place, with more length, and then a part of it once more.
  char* place = static_cast<char*>(mmap(nullptr, 4 * moved.bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char* at = static_cast<char*>(
      mremap(moved.at(), moved.bytes(), moved.bytes() + 4 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, place));
  judge(at == place, "mremap");
  judge(moved.right(3, at) && zeros(at + moved.bytes(), 4 * kPage), "moved pages");
  char* again = static_cast<char*>(
      mremap(at + 8 * kPage, 8 * kPage, 8 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, place + 3 * moved.bytes()));
  judge(moved.right(8, 16, again - 8 * kPage), "pages that were moved twice");
  judge(moved.right(0, 8, at) && moved.right(16, moved.pages(), at), "pages beside those that were moved twice");
  char* left = static_cast<char*>(mremap(replaced.at(), replaced.bytes(), 16 * kPage, 0));
  judge(left == replaced.at() && replaced.right(0, 16, left), "pages of memory that was made shorter");
  judge(munmap(replaced.at(2), 2 * kPage) == 0, "munmap");
  char* fresh = static_cast<char*>(
      mmap(replaced.at(2), 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  judge(fresh == replaced.at(2) && zeros(fresh, 2 * kPage), "fresh memory where there was other");
}

void let_the_kernel(const Memory& memory) {
  std::array<int, 2> ends{};
  judge(pipe(ends.data()) == 0, "pipe");
  judge(write(ends[1], memory.at(5) + 100, kPage) == static_cast<ssize_t>(kPage), "write of missing pages");
  std::array<char, kPage> got{};
  judge(read(ends[0], got.data(), kPage) == static_cast<ssize_t>(kPage), "read");
  judge(memory.right(5, memory.at()) && memcmp(got.data(), memory.at(5) + 100, kPage) == 0, "what was written");
  judge(write(ends[1], "seven", 5) == 5 && read(ends[0], memory.at(9) + 8, 5) == 5, "read to a missing page");
  judge(memcmp(memory.at(9) + 8, "seven", 5) == 0, "what was read");
  std::uint64_t first = 0;
  memcpy(&first, memory.at(9), sizeof first);
  judge(first == (9 * kWords + 1) * 0x9e3779b97f4a7c15 + 3, "the page beside what was read");
}

void share_with_children(const Memory& memory) {
  const pid_t child = fork();
  if (child == 0) {
    bool good = memory.right(0, 8, memory.at());
    good = madvise(memory.at(8), 8 * kPage, MADV_DONTNEED) == 0 && zeros(memory.at(8), 8 * kPage) && good;
    char* place = static_cast<char*>(mremap(memory.at(16), 8 * kPage, 16 * kPage, MREMAP_MAYMOVE));
    good = memory.right(16, 24, place - 16 * kPage) && good;
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(memory.right(24, 32, memory.at()) ? 5 : 1);
    int status = 0;
    good = waitpid(grandchild, &status, 0) == grandchild && WIFEXITED(status) && WEXITSTATUS(status) == 5 && good;
    _exit(good ? 4 : 1);
  }
  judge(memory.right(0, 32, memory.at()), "pages of a parent");
  int status = 0;
  judge(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 4, "pages of a child");
  std::array<char, 5> name = {'t', 'r', 'u', 'e', 0};
  std::array<char*, 2> arguments = {name.data(), nullptr};
  pid_t other = 0;
  judge(posix_spawn(&other, "/bin/true", nullptr, nullptr, arguments.data(), nullptr) == 0 &&
            waitpid(other, &status, 0) == other && status == 0,
        "another program");
}

void use() {
  const Memory dropped(64, 0), moved(64, 1), replaced(64, 2), kernels(64, 3), shared(64, 4), split(64, 5), rest(256, 6),
      together(16, 7);
  make("ready");
  wait_for("go");
  drop_and_move(dropped, moved, replaced);
  let_the_kernel(kernels);
  share_with_children(shared);
  judge(mprotect(split.at(8), 8 * kPage, PROT_READ) == 0, "mprotect");
  const auto look_at = [&] { judge(together.right(), "pages that two threads look at"); };
  std::thread one(look_at), other(look_at);
  one.join();
  other.join();
  make("used");
  wait_for("end");
  judge(split.right() && rest.right() && shared.right(32, 64, shared.at()), "pages that nobody has waited for");
  std::printf("wrong %u\n", wrong);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  directory = arguments[1];
  huge = count > 3 && arguments[3] == std::string("huge");
  if (arguments[2] == std::string("looks")) {
    const Memory memory(2048, 0);
    make("ready");
    look(memory, true);
  }
  use();
  return wrong == 0 ? 0 : 1;
}

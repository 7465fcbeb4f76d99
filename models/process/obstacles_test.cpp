#include "process/obstacles.hpp"

#include <arpa/inet.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <fstream>

#include "process/descriptors_testing.hpp"
#include "process/proc_text.hpp"
#include "process/read_descriptors.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using test_support::TemporaryDirectory;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Obstacle> of_files(pid_t process, const std::set<int>& left_out = {}) {
  auto seen = look_at_files(process);
  EXPECT_TRUE(seen) << seen.error().text();
  if (!seen) return {};
  settle(*seen, left_out);
  return obstacles_of_files(*seen);
}

auto names(const std::string& what, const std::string& drop) {
  return AllOf(testing::Field(&Obstacle::what, HasSubstr(what)), testing::Field(&Obstacle::drop, drop));
}

TEST(Obstacles, AreDescriptorsOfKindsThatAreNotCaptured) {
  DescriptorChild child([]() -> std::string {
    PERDURE_EXPECT(::socket(AF_INET, SOCK_STREAM, 0) == 3 && ::socket(AF_INET6, SOCK_DGRAM, 0) == 4);
    PERDURE_EXPECT(::socket(AF_NETLINK, SOCK_RAW, 0) == 5 && ::inotify_init1(0) == 6);
    PERDURE_EXPECT(::syscall(SYS_pidfd_open, ::getpid(), 0) == 7);
    PERDURE_EXPECT(::dup2(3, 8) == 8 && ::open("/dev/ptmx", O_RDWR | O_NOCTTY) == 9);
    PERDURE_EXPECT(::open("/proc/self/ns/net", O_RDONLY) == 10);
    return "";
  });
  ASSERT_EQ(child.said(), "");
  const std::vector<testing::Matcher<Obstacle>> all = {names("descriptors 3, 8, a TCP socket", "fd:3"),
                                                       names("descriptor 4, a UDP socket", "fd:4"),
                                                       names("descriptor 5, a netlink socket", "fd:5"),
                                                       names("descriptor 6, inotify", "fd:6"),
                                                       names("descriptor 7, a reference to a process", "fd:7"),
                                                       names("descriptor 9, the maker's side", "fd:9"),
                                                       names("descriptor 10, 'net:[", "fd:10")};
  EXPECT_THAT(of_files(child.process()), testing::ElementsAreArray(all));
  EXPECT_THAT(of_files(child.process(), {3, 4, 5, 6, 7, 9, 10}), IsEmpty());
  EXPECT_THAT(of_files(child.process(), {8, 4, 5, 6, 7, 9}), SizeIs(1)) << "by any of its numbers";
  const auto error = refused(child.process(), of_files(child.process()));
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, PERDURE_UNSUPPORTED);
  EXPECT_THAT(error.error().text(), AllOf(HasSubstr("a TCP socket"), HasSubstr("--force-without fd:3")));
}

TEST(Obstacles, ThatAreManyAreCountedBehindTheFirst) {
  std::vector<Obstacle> many;
  for (int number = 1; number <= 14; ++number)
    many.push_back({"descriptor " + std::to_string(number), "no", "", "fd:" + std::to_string(number)});
  const auto error = refused(7, many);
  ASSERT_FALSE(error);
  EXPECT_THAT(error.error().text(),
              AllOf(HasSubstr("descriptor 12 (no); and 2 more"), HasSubstr("fd:12"), testing::Not(HasSubstr("fd:13"))));
}

TEST(Obstacles, AreRingsThatMayHaveOperationsUnderWay) {
  DescriptorChild child([]() -> std::string {
    io_uring_params params{};
    return ::syscall(SYS_io_uring_setup, 4, &params) == 3 ? "" : "refused";
  });
  if (child.said() != "") GTEST_SKIP() << "this system has no io_uring";
  EXPECT_THAT(of_files(child.process()), ElementsAre(names("descriptor 3, io_uring", "fd:3")));
}

TEST(Obstacles, AreSocketsThatAreNoPairWithin) {
  const TemporaryDirectory directory;
  const std::string path = directory / "socket";
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  DescriptorChild child(
      [&]() -> std::string {
        ::close(ends[0]);
        ::dup2(ends[1], 900);
        const int null = ::open("/dev/null", O_RDWR);
        for (const int one : {0, 1, 2}) ::dup2(null, one);
        ::close_range(3, 899, 0);
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        path.copy(name.sun_path, sizeof name.sun_path - 1);
        PERDURE_EXPECT(::socket(AF_UNIX, SOCK_STREAM, 0) == 3 &&
                       ::bind(3, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
        PERDURE_EXPECT(::listen(3, 5) == 0 && ::socket(AF_UNIX, SOCK_STREAM, 0) == 4);
        PERDURE_EXPECT(::connect(4, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0 &&
                       ::accept(3, nullptr, nullptr) == 5);
        PERDURE_EXPECT(::socket(AF_UNIX, SOCK_DGRAM, 0) == 6);
        int pair[2];
        PERDURE_EXPECT(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        iovec bytes{const_cast<char*>("x"), 1};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        msghdr message{};
        message.msg_iov = &bytes;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        *reinterpret_cast<int*>(CMSG_DATA(header)) = 0;
        PERDURE_EXPECT(::sendmsg(7, &message, 0) == 1);
        PERDURE_EXPECT(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && ::write(9, "x", 1) == 1 && ::close(10) == 0);
        return "";
      },
      {}, false);
  ASSERT_EQ(child.said(), "");
  const auto all = of_files(child.process());
  std::map<std::string, Obstacle> by_drop;
  for (const auto& one : all) by_drop[one.drop] = one;
  EXPECT_FALSE(by_drop.contains("fd:3")) << "it listens, and comes back so";
  EXPECT_THAT(by_drop["fd:5"].what, HasSubstr("with a name"));
  EXPECT_THAT(by_drop["fd:6"].what, HasSubstr("connected with none"));
  EXPECT_FALSE(by_drop.contains("fd:7"));
  EXPECT_THAT(by_drop["fd:8"].why, HasSubstr("descriptors are on their way"));
  EXPECT_THAT(by_drop["fd:9"].why, HasSubstr("an error waits"));
  EXPECT_THAT(by_drop["fd:900"].what + by_drop["fd:900"].why, HasSubstr("socket:["));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Obstacles, AreOtherProcessesThatHaveTheSame) {
  int outer[2];
  ASSERT_EQ(::pipe2(outer, O_CLOEXEC), 0);
  DescriptorChild child(
      [&]() -> std::string {
        ::dup2(outer[0], 900);
        ::dup2(outer[1], 901);
        const int null = ::open("/dev/null", O_RDWR);
        for (const int one : {0, 1, 2}) ::dup2(null, one);
        ::close_range(3, 899, 0);
        PERDURE_EXPECT(::eventfd(0, 0) == 3 && ::memfd_create("shared", 0) == 4 && ::eventfd(0, 0) == 5);
        return "";
      },
      []() -> std::string {
        if (::fork() != 0) return "";
        ::close(5);
        for (;;) ::pause();
      },
      false);
  ASSERT_EQ(child.said(), "");
  const auto mine = "process " + std::to_string(::getpid()) + " has open, too";
  EXPECT_THAT(of_files(child.process()), ElementsAre(names(mine, "fd:900"), names(mine, "fd:901")));
  ASSERT_EQ(child.go_on(), "");
  std::vector<pid_t> children;
  ASSERT_TRUE(test_support::eventually("the grandchild has closed one",
                                       [&] { return of_files(child.process()).size() == 4U; }));
  const auto facts = read_facts(child.process());
  ASSERT_TRUE(facts);
  ASSERT_THAT(facts->children, SizeIs(1));
  const auto grandchild = std::to_string(facts->children[0]);
  EXPECT_THAT(of_files(child.process()), ElementsAre(names(grandchild, "fd:3"), names(grandchild, "fd:4"),
                                                     names(grandchild, "fd:900"), names(grandchild, "fd:901")));
  LookChoices together;
  together.inside = {facts->children[0]};
  auto seen = look_at_files(child.process(), together);
  ASSERT_TRUE(seen);
  EXPECT_THAT(obstacles_of_files(*seen), ElementsAre(names(mine, "fd:900"), names(mine, "fd:901")));
  // The second look does not search other processes again.
  LookChoices again;
  again.before = &*seen;
  EXPECT_EQ(obstacles_of_files(*look_at_files(child.process(), again)), obstacles_of_files(*seen));
  ::kill(facts->children[0], SIGKILL);
  ::close(outer[0]);
  ::close(outer[1]);
}

TEST(Obstacles, AreFilesWhoseNamesLeadElsewhere) {
  const TemporaryDirectory directory;
  const std::string path = directory / "one", other = directory / "other";
  std::ofstream(path) << "x";
  DescriptorChild child([&]() -> std::string {
    PERDURE_EXPECT(::open(path.c_str(), O_RDONLY) == 3 && ::link(path.c_str(), other.c_str()) == 0);
    PERDURE_EXPECT(::unlink(path.c_str()) == 0 && ::open("/proc/self/status", O_RDONLY) == 4);
    PERDURE_EXPECT(::open(other.c_str(), O_RDWR) == 5 && ::fcntl(5, F_SETOWN, ::getppid()) == 0);
    return "";
  });
  ASSERT_EQ(child.said(), "");
  EXPECT_THAT(of_files(child.process()),
              ElementsAre(names("one", "fd:3"), names("/status", "fd:4"), names("other", "fd:5")));
}

TEST(Obstacles, AreMapsOfWhatIsNotCaptured) {
  SeenFiles files;
  const auto map = [](const std::string& name, bool shared) {
    return MemoryMap{0x1000, 0x2000, true, true, false, shared, 0, 0, 1, 77, name};
  };
  const auto of = [&](const std::string& name, bool shared = true) {
    return obstacles_of_maps({map(name, shared)}, files);
  };
  for (const std::string name : {"/usr/lib/x.so", "/dev/shm/x", "[heap]", "", "/dev/zero (deleted)", "/dev/zero",
                                 "/memfd:perdure-shared (deleted)", "[anon_shmem:mine]"})
    EXPECT_THAT(of(name), IsEmpty()) << name;
  for (const std::string name : {"/SYSV00000000 (deleted)", "anon_inode:[io_uring]", "/[aio] (deleted)", "socket:[5]",
                                 "/dev/nvidia0", "/dev/dri/card0", "/dev/mem", "/dev/infiniband/uverbs0",
                                 "/anon_hugepage (deleted)", "/dev/hugepages/x", "anon_inode:[perf_event]"})
    EXPECT_THAT(of(name), SizeIs(1)) << name;
  EXPECT_THAT(of("/tmp/gone (deleted)", false), IsEmpty()) << "its pages are captured";
  EXPECT_THAT(of("/memfd:x (deleted)"), SizeIs(1));
  files.files.emplace_back();
  files.files[0].link = "/memfd:x (deleted)";
  files.files[0].inode = 77;
  files.files[0].file.what = MemoryFile{"x", 0};
  EXPECT_THAT(of("/memfd:x (deleted)"), IsEmpty()) << "a descriptor has it";
  EXPECT_THAT(obstacles_of_maps({map("/dev/mem", true), map("/dev/mem", true)}, files), SizeIs(1)) << "said once";
}

ProcessFacts plain() {
  ProcessFacts facts;
  facts.process = 50;
  facts.threads.resize(2);
  facts.threads[0].status.process = facts.threads[1].status.process = 50;
  facts.root = "/";
  facts.namespaces = facts.namespaces_here = {{"mnt", "mnt:[1]"}, {"cgroup", "cgroup:[1]"}};
  return facts;
}

TEST(Obstacles, AreFactsAboutTheProcess) {
  EXPECT_THAT(obstacles_of_facts(plain()), IsEmpty());
  const auto with = [](auto change) {
    auto facts = plain();
    change(facts);
    const auto all = obstacles_of_facts(facts);
    return all.size() == 1 ? all[0].what : std::to_string(all.size()) + " obstacles";
  };
  EXPECT_THAT(with([](auto& facts) { facts.is_64_bits = false; }), HasSubstr("32 bits"));
  EXPECT_THAT(with([](auto& facts) { facts.root = "/jail"; }), HasSubstr("'/jail'"));
  EXPECT_THAT(with([](auto& facts) { facts.personality = 8; }), HasSubstr("personality"));
  EXPECT_EQ(with([](auto& facts) { facts.personality = 0x0040000; }), "0 obstacles") << "addresses are not random";
  EXPECT_THAT(with([](auto& facts) { facts.namespaces["mnt"] = "mnt:[2]"; }), HasSubstr("mnt name space"));
  EXPECT_EQ(with([](auto& facts) { facts.namespaces["cgroup"] = "cgroup:[2]"; }), "0 obstacles");
  EXPECT_THAT(with([](auto& facts) { facts.threads[1].status.seccomp = 2; }), HasSubstr("seccomp"));
  EXPECT_THAT(with([](auto& facts) { facts.threads[1].status.tracer = 9; }), HasSubstr("process 9 traces it"));
  EXPECT_THAT(with([](auto& facts) { facts.threads[0].status.state = 'Z'; }), HasSubstr("first thread has ended"));
  EXPECT_THAT(with([](auto& facts) { facts.threads[1].status.users[1] = 1; }), HasSubstr("different users"));
  EXPECT_THAT(with([](auto& facts) {
                for (auto& thread : facts.threads) thread.status.users[1] = 1000;
              }),
              HasSubstr("setuid"));
  EXPECT_THAT(with([](auto& facts) { facts.children = {7}; }), HasSubstr("children that are not captured: 7"));
  EXPECT_THAT(with([](auto& facts) { facts.children = facts.sharing = {7}; }), HasSubstr("have its memory"));
  EXPECT_THAT(with([](auto& facts) { facts.threads.clear(); }), HasSubstr("has ended"));
}

}  // namespace
}  // namespace perdure::process

// SPDX-License-Identifier: BSD-3-Clause
// A file is complete or not there: the failures of a disk, each leaving the old file and no litter behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "echelon/base/error.hpp"
#include "echelon/base/file_output.hpp"

namespace echelon {
namespace {

namespace fs = std::filesystem;

class FileOutputTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {})); }
  static std::string content(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder = fs::path(testing::TempDir()) / ("echelon_file_output_" + std::to_string(::getpid()));
};

Error failure(const std::string& path, std::string_view content) {
  try {
    write_file(path, content);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::internal, path + " was written");
}

bool says(const Error& error, const std::string& words) {
  return std::string(error.what()).find(words) != std::string::npos;
}

TEST_F(FileOutputTest, WritesAndReplaces) {
  const auto name = path("a");
  const std::string old("old\0bytes", 9);
  write_file(name, old);
  EXPECT_EQ(content(name), old);
  fs::permissions(name, fs::perms::owner_read | fs::perms::owner_write);
  write_file(name, "");
  EXPECT_EQ(content(name), "");
  EXPECT_EQ(fs::status(name).permissions(), fs::perms::owner_read | fs::perms::owner_write) << "permissions are kept";
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileOutputTest, FollowsLinks) {
  write_file(path("real"), "old");
  fs::create_symlink("real", path("link"));
  write_file(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("real")), "new");
}

TEST_F(FileOutputTest, WithoutCommitTheOldFileStays) {
  write_file(path("a"), "old");
  {
    FileOutput file(path("a"));
    file.write("half of the n");
    EXPECT_EQ(files(), 2u);
  }
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileOutputTest, KilledInTheMiddleOfAWriteTheOldFileStays) {
  write_file(path("a"), "old");
  const pid_t child = ::fork();
  if (child == 0) {
    FileOutput file(path("a"));
    file.write("half of the n");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(content(path("a")), "old");
  write_file(path("a"), "new");
  EXPECT_EQ(content(path("a")), "new") << "the unfinished file is in nobody's way";
}

TEST_F(FileOutputTest, DiskFull) {
  const auto error = failure("/dev/full", "12345");
  EXPECT_EQ(error.code(), ErrorCode::write_failed);
  EXPECT_EQ(error.where(), "/dev/full");
  EXPECT_TRUE(says(error, "No space left") && says(error, "5 bytes are needed")) << error.what();
}

// A quota by RLIMIT_FSIZE: the write stops in the middle of a real file. Its signal is left as it is, which ends a process.
TEST_F(FileOutputTest, ShortWriteLeavesTheOldFileAndNoLitter) {
  write_file(path("a"), "old");
  const auto child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto error = failure(path("a"), std::string(300000, 'x'));
    sigset_t blocked, pending;
    ::sigpending(&pending);
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    const bool as_before = sigismember(&pending, SIGXFSZ) == 0 && sigismember(&blocked, SIGXFSZ) == 0;
    ::_exit(error.code() == ErrorCode::write_failed && says(error, "300000 bytes are needed") && says(error, "are free") &&
                    says(error, "ulimit -f") && as_before
                ? 0
                : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileOutputTest, NoSuchFolderADirectoryOrNoName) {
  EXPECT_TRUE(says(failure(path("no/such/folder"), "x"), "No such file or directory"));
  EXPECT_TRUE(says(failure(folder.string(), "x"), "Is a directory"));
  EXPECT_EQ(failure("", "x").code(), ErrorCode::write_failed);
  EXPECT_EQ(files(), 0u);
}

TEST_F(FileOutputTest, ReadOnlyFolderAndReadOnlyFile) {
  write_file(path("a"), "old");
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::others_read);
  fs::permissions(folder, fs::perms::all);
  const auto child = ::fork();
  if (child == 0) {  // root may write everywhere, nobody may not
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(7);
    ::_exit(failure(path("a"), "new").code() == ErrorCode::write_failed ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "a file that may not be written, in a folder that may";
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const auto second = ::fork();
  if (second == 0) {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(7);
    ::_exit(says(failure(path("b"), "new"), "Permission denied") ? 0 : 1);
  }
  ASSERT_EQ(::waitpid(second, &status, 0), second);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content(path("a")), "old");
}

TEST_F(FileOutputTest, SpecialFilesAreWrittenDirectly) {
  write_file("/dev/null", "x");
  struct stat status {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode)) << "not replaced by a plain file";

  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = content(path("pipe")); });
  write_file(path("pipe"), "through a pipe");
  reader.join();
  EXPECT_EQ(got, "through a pipe");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(FileOutputTest, AReaderThatLeavesHasWhatItWanted) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::signal(SIGPIPE, SIG_IGN);
  std::string got(4, ' ');
  std::thread reader([&] { std::ifstream(path("pipe")).read(got.data(), 4); });
  write_file(path("pipe"), std::string(1'000'000, 'x'));  // more than a pipe holds
  reader.join();
  std::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(got, "xxxx");
}

TEST_F(FileOutputTest, APipeIsOpenedAtTheFirstWrite) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  { FileOutput unused(path("pipe")); }
  std::atomic<bool> stop = false;
  int asked = 0;
  FileOutput file(path("pipe"), 0, [&] {
    ++asked;
    return stop.load();
  });
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    stop = true;
  });
  try {
    file.write("for nobody");
    ADD_FAILURE() << "nobody reads it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::write_failed);
    EXPECT_TRUE(says(error, "nobody opened it to read")) << error.what();
  }
  later.join();
  EXPECT_TRUE(file.given_up());
  EXPECT_GT(asked, 1);
}

TEST_F(FileOutputTest, AReaderThatTakesNothingCanBeGivenUp) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  FileOutput file(path("pipe"), 0, [] { return true; });
  EXPECT_THROW(file.write(std::string(1'000'000, 'x')), Error);
  EXPECT_TRUE(file.given_up());
  ::close(reader);
}

TEST_F(FileOutputTest, WhoLeavesAtOnceLeavesNoLitter) {
  write_file(path("a"), "old");
  const pid_t child = ::fork();
  if (child == 0) {
    FileOutput one(path("a")), other(path("b"));
    one.write("half of the n");
    if (::fork() == 0) {  // a child's child owns none of them
      remove_unfinished_files();
      ::_exit(0);
    }
    int ended = 0;
    ::wait(&ended);
    if (files() != 3) ::_exit(7);
    remove_unfinished_files();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(content(path("a")), "old");
}

TEST_F(FileOutputTest, ManyAtATimeAndOneAfterTheOther) {
  for (int round = 0; round < 40; ++round) {
    FileOutput a(path("a")), b(path("b"));
    a.write("1");
    b.write("2");
    if (round % 2 == 0) a.commit();
    b.commit();
  }
  EXPECT_EQ(files(), 2u);
}

TEST_F(FileOutputTest, AnOpenDescriptorIsWrittenAndStaysOpen) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    FileOutput file(ends[1], "standard output");
    file.write("bytes");
    file.commit();
  }
  EXPECT_EQ(::write(ends[1], "!", 1), 1);
  char got[8] = {};
  EXPECT_EQ(::read(ends[0], got, sizeof got), 6);
  EXPECT_STREQ(got, "bytes!");
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace echelon

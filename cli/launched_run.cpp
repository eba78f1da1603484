// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launched_run.hpp"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/console.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/version.hpp"
#include "echelon/comm/agreement.hpp"
#include "echelon/comm/launcher.hpp"
#include "echelon/comm/message_table.hpp"
#include "echelon/comm/ranks.hpp"

namespace echelon::cli {
namespace {

const Communicator* of_this_run = nullptr;

[[noreturn]] void refuse_without_mpi(const Launch& launch) {
  const auto number =
      launch.size > 0 ? fmt::format("one of {} processes", launch.size) : std::string("one of several processes");
  throw Error(ErrorCode::bad_option,
              fmt::format("a launcher started this program as {} ({} is set), and it has no MPI: libechelon_mpi.so is not "
                          "beside it, nor in ../lib",
                          number, launch.variable));
}

/// Launchers end all processes when the first has ended badly, so rank 0, which has the sentence, goes first.
void let_rank_zero_go_first(const Launch& launch) {
  if (launch.rank > 0) sleep(2);
}

/// MPI from its beginning to its end.
class Job {
 public:
  explicit Job(const MpiModule& mpi) : mpi_(mpi), ranks_(std::make_unique<Ranks>(mpi.messages, mpi.begin())) {
    of_this_run = ranks_.get();
    if (ranks_->rank() > 0) keep_silent();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() {
    // The launcher ends the others when it sees the first end badly; by then all have said what they had to say.
    std::signal(SIGTERM, SIG_IGN);
    of_this_run = nullptr;
    ranks_.reset();
    mpi_.end();
  }
  const Ranks& ranks() const { return *ranks_; }
  /// A launcher that ends the job, as after Ctrl-C, answers MPI's end no longer, and a second later kills who waits for it.
  static void end_soon() {
    constexpr timeval half_a_second{0, 500'000};
    std::signal(SIGALRM, [](int) { _exit(exit_interrupted); });
    const itimerval once{{}, half_a_second};
    std::fflush(stdout);
    setitimer(ITIMER_REAL, &once, nullptr);
  }
  [[noreturn]] void give_up(const RanksLost& lost) {
    if (ranks_->rank() == lost.rank()) std::fputs(fmt::format("echelon: {}\n", lost.what()).c_str(), stderr);
    mpi_.abort(exit_status(ErrorCode::device));
    _exit(exit_status(ErrorCode::device));
  }

 private:
  const MpiModule& mpi_;
  std::unique_ptr<Ranks> ranks_;
};

/// Words of a line with ends that no word has in it.
std::string joined(const Arguments& arguments) {
  std::string all;
  for (const auto& word : arguments) all += word + '\0';
  return all;
}

int run_on(const Communicator& all, const Arguments& arguments, const Run& run) {
  int status = exit_done;
  all_or_none(all, [&] {
    require_same(all, version(), "version of the program");
    require_same(all, joined(arguments), "command line");
    status = run();
  });
  return static_cast<int>(all.largest(status));
}

}  // namespace

const Communicator& ranks() { return of_this_run ? *of_this_run : serial(); }

void require_ranks_are_known(const Command& command) {
  if (command.takes_ranks || ranks().size() == 1) return;
  throw Error(ErrorCode::bad_option, fmt::format("{} runs as one process, and the launcher started {}; start it without the "
                                                 "launcher, or with -n 1",
                                                 command.name, ranks().size()));
}

int run_as_launched(const Arguments& arguments, const Run& run, const std::function<int(const Run&)>& run_guarded) {
  const auto launch = launched();
  if (!launch.may_be_several()) return run_guarded(run);
  if (launch.rank > 0) keep_silent();
  const MpiModule* mpi = nullptr;
  const int no_mpi = run_guarded([&] {
    mpi = mpi_module();
    if (!mpi) refuse_without_mpi(launch);
    return exit_done;
  });
  if (!mpi) {
    let_rank_zero_go_first(launch);
    return no_mpi;
  }
  Job job(*mpi);
  try {
    const int status = run_guarded([&] { return run_on(job.ranks(), arguments, run); });
    job.ranks().barrier();
    if (status == exit_interrupted) Job::end_soon();
    return status;
  } catch (const RanksLost& lost) {
    job.give_up(lost);
  }
}

}  // namespace echelon::cli

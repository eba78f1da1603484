// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/comm/agreement.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

/// FNV-1a, 64 bits.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char letter : text) value = (value ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return value;
}

/// Without its place, which what() begins with.
std::string sentence_of(const Error& error) {
  const std::string all = error.what();
  return error.where().empty() ? all : all.substr(error.where().size() + 2);
}

WorkEnd end_of(const std::function<void()>& work, int rank) {
  try {
    work();
    return {.well = true};
  } catch (const RankLeft&) {
    return {.well = false};
  } catch (const RanksLost&) {
    throw;
  } catch (const RankError& agreed) {
    return {.well = false, .failure = agreed.failure()};
  } catch (const Error& error) {
    return {
        .well = false,
        .failure = RankFailure{.rank = rank, .code = error.code(), .sentence = sentence_of(error), .where = error.where()}};
  } catch (const WorkStopped& stopped) {
    return {.well = false, .failure = RankFailure{.rank = rank, .stopped = stopped.verdict(), .sentence = stopped.what()}};
  } catch (const std::bad_alloc&) {
    return {.well = false,
            .failure = RankFailure{.rank = rank, .code = ErrorCode::out_of_memory, .sentence = "memory ran out"}};
  } catch (const std::exception& error) {
    return {.well = false, .failure = RankFailure{.rank = rank, .sentence = fmt::format("a bug of ours: {}", error.what())}};
  }
}

std::string naming_rank(const RankFailure& failure, int ranks) {
  return failure.rank == 0 ? failure.sentence : fmt::format("{} (rank {} of {})", failure.sentence, failure.rank, ranks);
}

}  // namespace

RankError::RankError(const RankFailure& failure, int ranks)
    : Error(failure.code, naming_rank(failure, ranks), failure.where), failure_(failure) {}

void all_or_none(const Communicator& communicator, const std::function<void()>& work) {
  if (communicator.size() == 1) return work();
  const auto number = communicator.begin_together();
  const auto failure = communicator.end_together(number, end_of(work, communicator.rank()));
  if (!failure) return;
  if (failure->stopped != Verdict::proceed) throw WorkStopped(failure->stopped);
  throw RankError(*failure, communicator.size());
}

void require_same(const Communicator& communicator, std::string_view text, std::string_view what) {
  const std::uint64_t mine = hash(text);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw Error(ErrorCode::bad_option, fmt::format("rank {} was given another {} than rank 0", rank, what));
  }
}

}  // namespace echelon

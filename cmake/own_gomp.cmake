# SPDX-License-Identifier: BSD-3-Clause
# GNU's OpenMP run time as a part of one program instead of a shared library: what the program sets for it is set in time
# (cli/waiting_threads.hpp). All of it is taken, so that the shared one is not needed beside it. Compilers with another run
# time, and systems that have only the shared one, keep that and its way of waiting.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT ECHELON_SANITIZE)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a
    OUTPUT_VARIABLE ECHELON_GOMP OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
function(echelon_own_gomp program)
  if(NOT IS_ABSOLUTE "${ECHELON_GOMP}")
    return()
  endif()
  target_link_options(${program} PRIVATE -Wl,--as-needed)
  target_link_libraries(${program} PRIVATE -Wl,--whole-archive ${ECHELON_GOMP} -Wl,--no-whole-archive)
endfunction()

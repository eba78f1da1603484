# SPDX-License-Identifier: BSD-3-Clause
# MPI, found once for libechelon_mpi.so and for the contenders of bench/ whose libraries are built over it. `mpi_libraries` is
# its C interface; its C++ bindings would be one more library.
set(ECHELON_HAS_MPI FALSE)
if(ECHELON_MPI)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(MPI_C_FOUND)
  set(ECHELON_HAS_MPI TRUE)
  add_library(mpi_libraries INTERFACE)
  target_compile_definitions(mpi_libraries INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(mpi_libraries INTERFACE MPI::MPI_C)

  # Nothing but this library and what links it itself needs MPI: the program loads it when a launcher started it
  # (echelon/comm/launcher.hpp), from beside itself.
  add_library(echelon_mpi SHARED echelon/comm/mpi/mpi_module.cpp)
  target_compile_options(echelon_mpi PRIVATE -std=c++20)
  target_include_directories(echelon_mpi PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(echelon_mpi PRIVATE echelon_flags PUBLIC mpi_libraries)
  set_target_properties(echelon_mpi PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()

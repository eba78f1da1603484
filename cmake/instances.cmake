# SPDX-License-Identifier: BSD-3-Clause
# Files that only name a block size or a stencil are written here, from one template beside the code they instantiate: each
# takes long to compile, so each is a translation unit of its own.
#
# echelon_instances(echelon/…/NAME.cu.in VALUES…) writes build/echelon/…/NAME_VALUE.cu, the template with @INSTANCE@
# replaced. A value GROUP=ONE,TWO writes NAME_GROUP.cu, in which the line with @INSTANCE@ stands once for ONE and once for
# TWO: what compiles fast shares a file, and its headers are read once. A file that would not change is not written, and
# nothing in it names a folder of this machine, so that a later build and another checkout take their objects from ccache.
# The files are added to ECHELON_SOURCES; those of GPU kernels only where there is CUDA.
function(echelon_instances template)
  get_filename_component(language ${template} NAME)
  string(REGEX REPLACE "^.*\\.([a-z]+)\\.in$" "\\1" language ${language})
  if(language STREQUAL "cu" AND NOT ECHELON_HAS_CUDA)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${template})
  file(READ ${template} text)
  string(REGEX MATCH "[^\n]*@INSTANCE@[^\n]*\n" line "${text}")
  foreach(value IN LISTS ARGN)
    string(REGEX REPLACE "=.*" "" name ${value})
    string(REGEX REPLACE ".*=" "" members ${value})
    string(REPLACE "," ";" members ${members})
    set(lines "")
    foreach(member IN LISTS members)
      string(REPLACE "@INSTANCE@" ${member} one "${line}")
      string(APPEND lines "${one}")
    endforeach()
    string(REPLACE "${line}" "${lines}" instance "${text}")
    string(REPLACE ".${language}.in" "_${name}.${language}" file ${template})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${file} CONTENT "${instance}" @ONLY)
    list(APPEND ECHELON_SOURCES ${CMAKE_BINARY_DIR}/${file})
  endforeach()
  set(ECHELON_SOURCES ${ECHELON_SOURCES} PARENT_SCOPE)
endfunction()

echelon_instances(echelon/factor/grid/struct_factor_block.cpp.in 2 3 4 5 6 7 8)
echelon_instances(echelon/sweep/grid/struct_sweep_block.cpp.in 2 3 4 5 6 7 8)
echelon_instances(echelon/factor/grid_gpu/wavefront_factor_rows.cu.in 1 2 3 4 5 6 7 8)
echelon_instances(echelon/factor/grid_gpu/wavefront_factor_scalar.cu.in
  small=Star5,Star7 flat=Star9,Box9 medium=Star13,Diamond13 diamond25=Diamond25 box27=Box27)
echelon_instances(echelon/factor/grid_gpu/wavefront_factor_team.cu.in
  flat=Star5,Star9,Box9 star7=Star7 star13=Star13 diamond13=Diamond13 diamond25=Diamond25 box27=Box27)
echelon_instances(echelon/sweep/grid_gpu/wavefront_sweep.cu.in 1 2 3 4 5 6 7 8)
echelon_instances(echelon/sweep/grid_gpu/wavefront_sweep_known.cu.in 1 2 3 4 5 6 7 8)

# Finds LLVM, MLIR and lld, and says how a part of the compiler is built.

find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(LLD REQUIRED CONFIG HINTS ${LLVM_DIR}/../lld /usr/lib/llvm-22/lib/cmake/lld)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Convoy needs LLVM and MLIR 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}. "
    "Point CMAKE_PREFIX_PATH to an installation of 22.")
endif()

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# Installed tools find LLVM's shared libraries where the build found them.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(CONVOY_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${CONVOY_LLVM_DEFINITIONS})

find_program(CONVOY_LLD NAMES ld.lld ld.lld-22 HINTS ${LLVM_TOOLS_BINARY_DIR})
if(CONVOY_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=${CONVOY_LLD})
endif()

# MLIR's headers cost 5 to 25 s a file; one precompiled header brings that to 1 to 6 s.
file(WRITE ${CMAKE_BINARY_DIR}/convoy_pch.cpp "")
add_library(convoy_pch OBJECT ${CMAKE_BINARY_DIR}/convoy_pch.cpp)
target_compile_options(convoy_pch PRIVATE -O1)
target_precompile_headers(convoy_pch PRIVATE ${CMAKE_CURRENT_LIST_DIR}/pch.h)

# The front end is most of a compile: -O1 is as fast to run here and quicker to build.
function(convoy_use_mlir target)
  target_compile_options(${target} PRIVATE -O1)
  target_precompile_headers(${target} REUSE_FROM convoy_pch)
endfunction()

# convoy_add_library(<name> <sources>... [LINK <libraries>...] [DEPENDS <TableGen targets>...])
function(convoy_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  convoy_use_mlir(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# convoy_add_tool(<name> <sources>... [LINK <libraries>...])
function(convoy_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  convoy_use_mlir(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

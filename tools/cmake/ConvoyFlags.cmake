# Compile flags that every target of the project shares. A precompiled header can only be
# reused by targets whose flags are equal to its own, so nothing here is per target.

add_compile_options(-fPIC -Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)

if(CONVOY_SANITIZE)
  # UBSan's vptr and function checks need typeinfo of LLVM's own classes: left out.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,function
    -fno-omit-frame-pointer -fno-sanitize-recover=undefined -g1 -UNDEBUG)
  add_link_options(-fsanitize=address,undefined)
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # With ccache, a time stamp in the precompiled header would make every other file miss.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

find_program(CONVOY_CCACHE ccache)
if(CONVOY_CCACHE)
  set(CONVOY_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CONVOY_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CONVOY_LAUNCHER})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CONVOY_LAUNCHER})
endif()

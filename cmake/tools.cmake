# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The interposers and the recorder, as `lockwork` carries them.
# Profilers that walk by frame pointers do not lose the stack in a lock call.
set(frames -fno-omit-frame-pointer -momit-leaf-frame-pointer)

file(GLOB PRELOAD CONFIGURE_DEPENDS preload/*.c)
list(REMOVE_ITEM PRELOAD ${CMAKE_CURRENT_SOURCE_DIR}/preload/passthrough.c)

add_library(lockwork-preload MODULE ${PRELOAD} ${LOCKS} ${USER_WORLD})
target_compile_options(lockwork-preload PRIVATE -ftls-model=initial-exec ${frames})
target_include_directories(lockwork-preload PRIVATE preload platform/preload
                           platform/user platform locks)
target_link_options(lockwork-preload PRIVATE -Wl,-z,relro,-z,now
                    -Wl,--no-undefined
                    -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/preload/versions.map)
target_link_libraries(lockwork-preload PRIVATE Threads::Threads
                      ${CMAKE_DL_LIBS})

add_library(lockwork-passthrough MODULE preload/passthrough.c)
target_include_directories(lockwork-passthrough PRIVATE preload platform/preload
                           platform/user platform)
target_link_libraries(lockwork-passthrough PRIVATE ${CMAKE_DL_LIBS})

file(GLOB RECORD CONFIGURE_DEPENDS record/*.c)
add_library(lockwork-record MODULE ${RECORD})
target_compile_options(lockwork-record PRIVATE -ftls-model=initial-exec ${frames})
target_include_directories(lockwork-record PRIVATE preload platform/preload
                           platform/user platform)
target_link_options(lockwork-record PRIVATE -Wl,-z,relro,-z,now
                    -Wl,--no-undefined)
target_link_libraries(lockwork-record PRIVATE Threads::Threads
                      ${CMAKE_DL_LIBS})

# Symbol versions come from .symver in file-scope assembly, which gcc's LTO loses. Each file has
# static functions of its own, of names that others have too.
foreach(module lockwork-preload lockwork-passthrough lockwork-record)
  set_target_properties(${module} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF
                        UNITY_BUILD OFF)
  target_compile_options(${module} PRIVATE -fno-lto)
  target_link_options(${module} PRIVATE -fno-lto)
endforeach()

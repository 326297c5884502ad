# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The interposers, as `lockwork run` carries them.
file(GLOB PRELOAD CONFIGURE_DEPENDS preload/*.c)
list(REMOVE_ITEM PRELOAD ${CMAKE_CURRENT_SOURCE_DIR}/preload/passthrough.c)

add_library(lockwork-preload MODULE ${PRELOAD} ${LOCKS} ${USER_WORLD})
target_compile_options(lockwork-preload PRIVATE -ftls-model=initial-exec)
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

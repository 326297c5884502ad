# SPDX-License-Identifier: MIT OR GPL-2.0-only
# What `cmake --install` puts where: the headers, both libraries, and what
# find_package(lockwork) and pkg-config read. The tree may be moved afterwards.
include(CMakePackageConfigHelpers)

install(TARGETS lockwork lockwork_shared EXPORT lockwork)
install(FILES ${PUBLIC_HEADERS}
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lockwork)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/lockwork)
install(DIRECTORY LICENSES DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/lockwork)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lockwork)
install(
  EXPORT lockwork
  NAMESPACE lockwork::
  FILE lockworkTargets.cmake
  DESTINATION ${package_dir})
configure_package_config_file(
  cmake/lockworkConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/lockworkConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/lockworkConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lockworkConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/lockworkConfigVersion.cmake
        DESTINATION ${package_dir})

# From the folder of lockwork.pc to the prefix, unless they are unrelated.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE
                                            "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/lockwork.pc.in lockwork.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lockwork.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

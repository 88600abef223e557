# XCUDA_HEADERS: a folder with nlohmann/, fmt/ and xxhash.h, for a machine whose packages lack them. It stands in
# for their CMake packages under the same target names.
if(XCUDA_HEADERS)
  if(NOT EXISTS ${XCUDA_HEADERS}/nlohmann/json.hpp OR NOT EXISTS ${XCUDA_HEADERS}/fmt/format.h)
    message(FATAL_ERROR "XCUDA_HEADERS=${XCUDA_HEADERS} holds no nlohmann/json.hpp or no fmt/format.h")
  endif()
  include_directories(SYSTEM ${XCUDA_HEADERS})
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)
  add_library(fmt::fmt-header-only INTERFACE IMPORTED GLOBAL)
  target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
  # find_package() for these answers "found" through the two files written here.
  foreach(package nlohmann_json fmt)
    file(WRITE ${CMAKE_BINARY_DIR}/carried/${package}Config.cmake "set(${package}_FOUND TRUE)\n")
    set(${package}_DIR ${CMAKE_BINARY_DIR}/carried CACHE PATH "" FORCE)
  endforeach()
endif()

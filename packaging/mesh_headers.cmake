# Installs the headers of the mesh library, by the names that they have there: mesh/data.hpp is perdure/mesh/data.hpp, and track/box.hpp is
# perdure/mesh/track/box.hpp. Needs headers, models (their folder), copies (a folder for what is written), folder (where they go).
file(REMOVE_RECURSE "${copies}")
foreach(header IN LISTS headers)
  file(READ "${models}/${header}.hpp" text)
  string(REPLACE "#include \"mesh/" "#include \"perdure/mesh/" text "${text}")
  string(REPLACE "#include \"automatic/" "#include \"perdure/mesh/automatic/" text "${text}")
  string(REPLACE "#include \"track/" "#include \"perdure/mesh/track/" text "${text}")
  string(REGEX REPLACE "^mesh/" "" name "${header}")
  file(WRITE "${copies}/${name}.hpp" "${text}")
endforeach()
file(INSTALL "${copies}/" DESTINATION "${folder}" FILES_MATCHING PATTERN "*.hpp")

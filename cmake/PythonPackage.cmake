# xcuda_install_python(FROM TO): the Python files of a folder, and what they read, into the package's folder TO.
function(xcuda_install_python from to)
  install(DIRECTORY ${from}/ DESTINATION ${to}
    FILES_MATCHING
    PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
    PATTERN "*.j2" PATTERN "*.html" PATTERN "*.css" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.json"
    PATTERN "__pycache__" EXCLUDE
    PATTERN ".ruff_cache" EXCLUDE)
endfunction()

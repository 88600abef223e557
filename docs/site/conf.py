"""Sphinx's settings for the site that `./run docs` builds; scripts/documentation.py lays its sources out."""

import os

import xcuda

project = "xeus-cuda"
author = "The xeus-cuda developers"
copyright = f"2026, {author}"
release = version = xcuda.__version__

extensions = ["myst_nb", "sphinx_copybutton"]
exclude_patterns = ["README.md", "LICENSE"]
html_theme = "furo"
html_title = "xeus-cuda"
html_logo = "logo.svg"
html_favicon = "logo.svg"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
myst_links_external_new_tab = True

# Tutorials are executed here, once for each state of theirs, by the kernel they are about.
nb_execution_mode = os.environ.get("XCUDA_DOCS_EXECUTION", "cache")  # "off" builds the pages alone
nb_execution_timeout = 180
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True

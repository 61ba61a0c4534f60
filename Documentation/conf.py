# SPDX-License-Identifier: MIT
# Sphinx configuration of Tessera's documentation: `make doc` renders it into build/doc.
project = "Tessera"
author = "the Tessera developers"
copyright = author
extensions = []
root_doc = "index"
html_theme = "alabaster"
html_theme_options = {"description": "tensors from one memory layout to another", "page_width": "64em"}
html_copy_source = False
nitpicky = True

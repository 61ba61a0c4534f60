# SPDX-License-Identifier: MIT
# Sphinx configuration of Tessera's documentation: `make doc` renders it into build/doc.
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
sys.dont_write_bytecode = True

project = "Tessera"
author = "the Tessera developers"
copyright = author
extensions = ["kernel_doc"]
root_doc = "index"
html_theme = "alabaster"
html_theme_options = {"description": "tensors from one memory layout to another", "page_width": "64em"}
html_copy_source = False
nitpicky = True
# The kernel's own types, in the reference of the header.
nitpick_ignore = [("c:identifier", name) for name in (
    "__u8", "__u32", "__u64", "__s64", "__le32", "__le64")]

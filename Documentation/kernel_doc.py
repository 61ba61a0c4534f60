# SPDX-License-Identifier: MIT
"""A Sphinx extension that renders the kernel-doc comments of a C header, so that a reference says
what the header does:

    .. kernel-doc:: ../uapi/drm/tessera_accel.h
       :doc: tessera errors

shows a section of prose, and in place of :doc: a list of names in the directive's content shows
structs, enums and defines. A name that the header does not have is an error, and so is, at the end
of the page, a comment of the header that is shown nowhere. Whether the comments are well formed is
for the kernel's own script to say (tests/lint kernel_doc)."""

import os
import re

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

HEADING = re.compile(r"(?:(DOC): |(struct|enum|define) )(.*?)(?: - (.*))?$")
MARGIN = re.compile(r"^\s*(?:/\*\*|\*(?!/)) ?|\s*\*/\s*$")
DIRECTIVES = {"struct": "c:struct", "enum": "c:enum", "define": "c:macro"}
log = logging.getLogger(__name__)


class Entity:
    """A comment: what it is about, its lines as (number, text), and what is declared below it."""

    def __init__(self, kind, name, lines):
        self.kind, self.name, self.lines = kind, name, lines
        self.members = []               # of a struct or an enum: (declaration, lines)
        self.value = ""                 # of a define


def take_comment(lines, first):
    """The lines of a comment without its stars, and the number of the line behind it."""
    end = first
    while "*/" not in lines[end]:
        end += 1
    return [(n, MARGIN.sub("", lines[n])) for n in range(first, end + 1)], end + 1


def trim(text):
    """Without the empty lines before and after."""
    while text and not text[0][1].strip():
        text = text[1:]
    while text and not text[-1][1].strip():
        text = text[:-1]
    return text


def take_members(entity, lines, at):
    """The members of a struct or an enum, each with the comment before it."""
    text = []
    while not lines[at].startswith("}"):
        if "/**" in lines[at]:
            text, at = take_comment(lines, at)
            text = trim(text)
            number, first = text[0]
            text[0] = (number, first.partition(": ")[2])
            continue
        declaration = lines[at].strip().rstrip(",;").partition(" = ")[0].split("\t")[0]
        if declaration and not declaration.endswith("{"):
            entity.members.append((declaration, text))
            text = []
        at += 1
    return at


def parse(path):
    """What a header has kernel-doc of, by name, in order."""
    with open(path) as header:
        lines = header.read().splitlines()
    entities, at = {}, 0
    while at < len(lines):
        if not lines[at].startswith("/**"):
            at += 1
            continue
        text, at = take_comment(lines, at)
        text = trim(text)
        heading = HEADING.match(text[0][1])
        if not heading:
            raise ExtensionError(f"{path}:{text[0][0] + 1}: '{text[0][1]}', expected kernel-doc "
                                 "of a struct, an enum or a define, or DOC:")
        doc, kind, name, brief = heading.groups()
        if brief:
            text[0] = (text[0][0], brief)
        else:
            text = text[1:]
        entity = entities[name] = Entity(doc or kind, name, trim(text))
        if kind in ("struct", "enum"):
            at = take_members(entity, lines, at)
        elif kind == "define":
            entity.value = lines[at].split(name)[1].strip()
    return entities


class KernelDoc(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"doc": str.strip}
    has_content = True

    def run(self):
        relative, self.path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        self.entities = parse(self.path)
        self.output = StringList()
        shown = self.env.temp_data.setdefault("kernel_doc", {}).setdefault(self.path, set())
        names = [self.options["doc"]] if "doc" in self.options else " ".join(self.content).split()
        for name in names:
            if name not in self.entities:
                raise self.error(f"{self.arguments[0]} has no kernel-doc of '{name}'")
            self.show(self.entities[name])
            shown.add(name)
        node = nodes.Element()
        self.state.nested_parse(self.output, 0, node, match_titles=1)
        return node.children

    def add(self, indent, text, number):
        self.output.append("   " * indent + text if text else "", self.path, number)

    def add_all(self, indent, lines):
        for number, text in lines:
            self.add(indent, self.link(text), number)
        self.add(0, "", lines[-1][0] if lines else 0)

    def link(self, text):
        """The kernel's ways to name a member, a struct and an enum, as references."""
        text = re.sub(r"@(\w+)", r"``\1``", text)
        text = re.sub(r"&(?:struct )?(\w+)\.(\w+)", r":c:member:`\1.\2`", text)
        return re.sub(r"&(struct|enum) (\w+)", self.reference, text)

    def reference(self, match):
        kind, name = match.groups()
        return f":c:{kind}:`{name}`" if name in self.entities else f"``{kind} {name}``"

    def show(self, entity):
        number = entity.lines[0][0] if entity.lines else 0
        if entity.kind == "DOC":
            self.add_all(0, entity.lines)
            return
        self.add(0, f".. {DIRECTIVES[entity.kind]}:: {entity.name}", number)
        self.add(0, "", number)
        if entity.value:
            self.add(1, f"``{entity.value}``", number)
            self.add(0, "", number)
        self.add_all(1, entity.lines)
        kind = "c:enumerator" if entity.kind == "enum" else "c:member"
        for declaration, lines in entity.members:
            self.add(1, f".. {kind}:: {declaration}", number)
            self.add(0, "", number)
            self.add_all(2, lines)


def expect_all(app, doctree):
    """A page that shows some of a header shows all of it."""
    for path, shown in app.env.temp_data.get("kernel_doc", {}).items():
        for name in parse(path):
            if name not in shown:
                log.warning("kernel-doc of '%s' is shown nowhere on the page of %s", name,
                            os.path.basename(path), location=app.env.docname)


def setup(app):
    app.add_directive("kernel-doc", KernelDoc)
    app.connect("doctree-read", expect_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

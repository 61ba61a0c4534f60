# SPDX-License-Identifier: MIT
"""All steps that a chain is made of, those that are drawn more often more than once."""

import computes
import indexed
import moves

TRANSFORMS = moves.TRANSFORMS + computes.TRANSFORMS + indexed.TRANSFORMS

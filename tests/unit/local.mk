# SPDX-License-Identifier: BSD-3-Clause
# Unit tests of what is pure: formats and parsers.

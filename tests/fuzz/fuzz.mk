# SPDX-License-Identifier: BSD-3-Clause
# The libFuzzer programs, built by clang apart from all else; `make fuzz` calls it. Variables:
# top_srcdir, top_builddir, and SOURCES, those of the libraries and of sp-report.
FUZZ_CC = clang
FUZZ_FLAGS = -g -O1 -std=gnu11 -Wall -Werror -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=undefined
CPPFLAGS = -DHAVE_CONFIG_H -I$(top_srcdir) -I$(top_builddir) $(INCLUDES)
PROGRAMS = fuzz/fuzz_trace fuzz/fuzz_container fuzz/fuzz_merge fuzz/fuzz_text

common = $(patsubst %.c,fuzz/%.o,$(filter-out report/sp_report.c,$(filter %.c,$(SOURCES))))
all: $(PROGRAMS)
$(PROGRAMS): fuzz/%: fuzz/tests/fuzz/%.o $(common)
	@echo '  FUZZLD   $@'
	@$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)
fuzz/%.o: $(top_srcdir)/%.c
	@mkdir -p $(@D)
	@echo '  FUZZCC   $@'
	@$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link $(CPPFLAGS) -MMD -c -o $@ $<
.SECONDARY:
-include $(common:.o=.d) $(PROGRAMS:fuzz/%=fuzz/tests/fuzz/%.d)

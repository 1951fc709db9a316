#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Spoils the step's spool after the program it is given: spoiler.sh COMMAND... Links to what is
# root's and to what is the user's, a FIFO, directories that are closed.
"$@" || exit
cd "$SLURM_SCOPE_PROFILE_SPOOL" || exit
[[ $SLURM_LOCALID == 0 ]] || exit 0
world=$(echo *-0)
ln -s /etc/shadow "$world/rank-000090.sptrace"
ln -s "$HOME/precious" "$world/rank-000091.sptrace"
mkfifo "$world/rank-000092.sptrace"
ln -s "$HOME" elsewhere-0
ln -s "$HOME" "$world/home"
mkdir -p "$world/rank-000093.sptrace" closed/inside
touch "$world/notes" closed/inside/file .hidden
chmod 000 closed/inside closed
chmod 500 .

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ten million steps of the simulation by the release executable given, over 100 seeds or those from
# $2 to $3, as many at a time as there are processors. Ends at the first that fails, with its output.
[ -x "$1" ] || { echo "$1 is not there: build it with make build/weir"; exit 1; }
# shellcheck disable=SC2016
seq "${2:-1001}" "${3:-1100}" | xargs -P "$(nproc)" -I SEED sh -c '
    out=$("$0" sim --seed SEED --steps 100000) || { echo "$out"; exit 255; }' "$1" && echo "whole"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ten million steps of the simulation over 100 seeds, by the release executable given.
[ -x "$1" ] || { echo "$1 is not there: build it with make build/weir"; exit 1; }
for seed in $(seq 1001 1100); do
    "$1" sim --seed "$seed" --steps 100000 > sim-long.txt || { cat sim-long.txt; exit 1; }
done
echo "10000000 steps"

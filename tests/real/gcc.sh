#!/usr/bin/env bash
# gcc compiling C++: the assembly is the same to the byte, and the program, itself on Allod, prints
# the same.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

source=$root/tests/real/compile.cc
compiler=$(g++ -print-prog-name=cc1plus)

check "the compiler proper finds malloc in Allod" uses_allod cc1plus "$compiler" --version
same_output "g++ -O2 writes the same assembly" g++ -std=c++17 -O2 -S -o - "$source"
same_output "g++ -O0 -g writes the same assembly" g++ -std=c++17 -g -S -o - "$source"
check "g++ links on Allod" on_allod g++ -std=c++17 -O1 -o "$work/program" "$source"
same_output "the compiled program prints the same" "$work/program"

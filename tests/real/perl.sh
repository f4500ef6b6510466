#!/usr/bin/env bash
# perl: hashes, strings, sorting, regular expressions, closures, fork.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

have perl perl

cat >"$work/program.pl" <<'END'
use strict; use warnings;
my ($state, %count, @rows) = (1);
for my $i (1 .. 200_000) {
    $state = ($state * 1103515245 + 12345) & 0x7fffffff;
    my $word = "w" . $state % 7000;
    $count{$word} .= chr(97 + $i % 26) if length($count{$word} // "") < 200;
    push @rows, { id => $i, word => $word } if $i % 10 == 0;
}
print scalar(keys %count), "\n";
print join(",", map { "$_=$count{$_}" } (sort keys %count)[0 .. 50]), "\n";
print join(",", map { $_->{id} } (sort { $a->{word} cmp $b->{word} or $a->{id} <=> $b->{id} } @rows)[0 .. 99]), "\n";
my $text = join " ", map { $_->{word} } @rows;
my $hits = () = $text =~ /w(\d)\d*\1/g;
print "$hits\n";
my @steps = map { my $n = $_; sub { $_[0] * 31 + $n } } 1 .. 5000;
my $sum = 0; $sum = $_->($sum) % 1000003 for @steps; print "$sum\n";
for my $child (1 .. 20) {
    my $pid = open(my $pipe, "-|") // die "fork: $!";
    if (!$pid) { my %copy = %count; print "child $child ", scalar(keys %copy), "\n"; exit 0 }
    print <$pipe>; close $pipe or die "child $child failed";
}
END

check "perl finds malloc in Allod" uses_allod perl perl -e 1
same_output "perl program prints the same" perl "$work/program.pl"

#!/usr/bin/env bash
# memcached: four threads, values of many sizes stored and read back by several clients at once.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

have memcached memcached
socket=$work/memcached.sock

cat >"$work/client.pl" <<'END'
# Stores and reads back: client.pl SOCKET NUMBER
use strict; use warnings; use IO::Socket::UNIX;
my ($path, $number) = @ARGV;
my $server = IO::Socket::UNIX->new(Type => SOCK_STREAM(), Peer => $path) or die "connect: $!";
sub value { my $i = shift; return chr(97 + $i % 26) x ($i * 31 % 20000 + 1) }
for my $i (1 .. 3000) {
    my $value = value($i);
    print $server "set key:$number:", $i % 1000, " 0 0 ", length $value, "\r\n$value\r\n";
    my $answer = <$server>;
    $answer eq "STORED\r\n" or die "set $i: $answer";
    if ($i % 5 == 0) { print $server "delete key:$number:", ($i - 3) % 1000, "\r\n"; <$server> }
}
my $found = 0;
for my $i (2001 .. 3000) {
    print $server "get key:$number:", $i % 1000, "\r\n";
    my $head = <$server>;
    next if $head eq "END\r\n";
    my $value = <$server>; $value =~ s/\r\n$//; <$server>;
    $value eq value($i) or die "wrong value of $i";
    $found++;
}
$found > 500 or die "only $found found";
END

start() {
    env LD_PRELOAD="$so" memcached -u nobody -s "$socket" -a 0777 -t 4 -m 256 &
    server=$!
    for _ in $(seq 100); do
        [ -S "$socket" ] && return
        sleep 0.1
    done
    return 1
}

clients() {
    local number pids='' status=0
    for number in 1 2 3 4; do
        perl "$work/client.pl" "$socket" "$number" &
        pids="$pids $!"
    done
    for pid in $pids; do wait "$pid" || status=1; done
    return "$status"
}

stops() {
    kill -TERM "$server"
    wait "$server" || [ $? -le 143 ]
}

chmod 777 "$work"
check "memcached finds malloc in Allod" uses_allod memcached memcached --version
check "memcached starts" start
check "the running server has Allod loaded" grep -q "$so" "/proc/$server/maps"
check "clients read back what they stored" clients
check "memcached stops" stops

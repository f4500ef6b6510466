#!/usr/bin/env bash
# node: buffers, compression, JSON, maps, worker threads.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

have node nodejs

cat >"$work/program.js" <<'END'
const crypto = require('crypto'), zlib = require('zlib');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

function load(seed) {
  const map = new Map();
  for (let i = 0; i < 60000; i++) {
    const key = 'k' + (i * 7919 + seed) % 9973;
    map.set(key, (map.get(key) || '') + String.fromCharCode(97 + i % 26));
  }
  const text = JSON.stringify([...map].sort());
  const packed = zlib.deflateSync(Buffer.from(text));
  const buffers = [];
  for (let i = 0; i < 2000; i++) buffers.push(Buffer.alloc(i * 37 % 20000, i));
  const hash = crypto.createHash('sha256').update(text).update(Buffer.concat(buffers));
  return `${map.size} ${zlib.inflateSync(packed).length} ${hash.digest('hex')}`;
}

if (isMainThread) {
  console.log(load(0));
  const jobs = [1, 2, 3, 4].map((seed) => new Promise((resolve, reject) => {
    const worker = new Worker(__filename, { workerData: seed });
    worker.on('message', resolve).on('error', reject);
  }));
  Promise.all(jobs).then((lines) => lines.forEach((line) => console.log(line)));
} else {
  parentPort.postMessage(load(workerData));
}
END

check "node finds malloc in Allod" uses_allod node node -e 1
same_output "node program prints the same" node "$work/program.js"

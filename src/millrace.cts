#!/usr/bin/env node
// Each consume and each transaction call holds a thread of libuv's pool, and the pool's size is read before the first
// module that loads asynchronously: hence this CommonJS file in front of main.
process.env['UV_THREADPOOL_SIZE'] ??= '32';
void import('./main.js');

import { expect, it } from 'vitest';

import { Frames } from '../../helpers/kafka-proxy/frames.ts';
import { aborts, commits, from, parseRequest, requestOf } from '../../helpers/kafka-proxy/request.ts';
import { bytes, int16, int32, string } from '../../helpers/raw-request.ts';

const framed = (...parts: Buffer[]): Buffer => {
  const rest = Buffer.concat(parts);
  return Buffer.concat([int32(rest.length), rest]);
};

const endTxn = (version: number, commit: boolean): Buffer => {
  const isFlexible = version >= 3;
  const header = [int16(26), int16(version), int32(7), string('app.p.a'), bytes(isFlexible ? [0] : [])];
  return framed(...header, string('id'), Buffer.alloc(10), bytes([commit ? 1 : 0]), bytes(isFlexible ? [0] : []));
};

it('cuts bytes into frames, however they come', () => {
  const frames = [framed(Buffer.from('one')), framed(), framed(Buffer.from('three'))];
  const all = Buffer.concat(frames);
  for (const size of [1, 2, 5, all.length]) {
    const cutter = new Frames();
    const found: Buffer[] = [];
    for (let at = 0; at < all.length; at += size) found.push(...cutter.take(all.subarray(at, at + size)));
    expect(found).toEqual(frames);
  }
});

it.each([1, 3])('tells a commit from an abort in EndTxn version %i', (version) => {
  const commit = parseRequest(endTxn(version, true));
  const abort = parseRequest(endTxn(version, false));
  expect([commits(commit), aborts(commit)]).toEqual([true, false]);
  expect([commits(abort), aborts(abort)]).toEqual([false, true]);
});

it('knows whose request it is', () => {
  const request = parseRequest(endTxn(1, true));
  expect(request).toMatchObject({ apiKey: 26, version: 1, correlationId: 7, clientId: 'app.p.a' });
  expect(from('a', requestOf('EndTxn'))(request)).toBe(true);
  expect(from('b', requestOf('EndTxn'))(request)).toBe(false);
});

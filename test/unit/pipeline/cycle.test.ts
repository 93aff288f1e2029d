import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { combineObservers } from '../../../src/observability/combine-observers.ts';
import { TransactionCycle } from '../../../src/pipeline/cycle.ts';
import type { AbortReason } from '../../../src/pipeline/observer.ts';
import { Verdicts } from '../../../src/pipeline/verdicts.ts';
import { TransactionWriter } from '../../../src/pipeline/writer.ts';
import { completed, FLOW, output } from './bench.ts';
import { ScriptedConsumer } from './scripted-consumer.ts';
import { ScriptedProducer } from './scripted-producer.ts';

const clock = performance.now.bind(performance);
let frozenMs = 0;

/** The process does not run for so long. */
function freeze(ms: number): void {
  frozenMs += ms;
}

beforeEach(() => {
  frozenMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock() + frozenMs);
});
afterEach(() => void vi.restoreAllMocks());

async function startCycle() {
  const producer = new ScriptedProducer();
  const aborted: AbortReason[] = [];
  const observer = combineObservers({ aborted: (reason) => void aborted.push(reason) });
  const { signal } = new AbortController();
  const writer = new TransactionWriter({
    createProducer: () => producer,
    consumer: new ScriptedConsumer(),
    observer,
    transactionalId: FLOW.transactionalId,
    transactionTimeoutMs: FLOW.transaction.timeoutMs,
    provenance: null,
    signal,
  });
  const cycle = new TransactionCycle({
    config: FLOW,
    observer,
    verdicts: new Verdicts(),
    writer,
    unpinned: () => [],
    wake: () => undefined,
    signal,
  });
  await writer.open();
  cycle.start();
  const settled = () => vi.waitUntil(() => !cycle.isSettling, { interval: 1 });
  return { cycle, producer, aborted, settled };
}

describe('a cycle of transactions', () => {
  it('has no room while outputs of 16 MiB wait, few as they may be, and has it when they are handed over', async () => {
    const { cycle } = await startCycle();
    for (let offset = 0; offset < 15; offset++) cycle.complete(completed(offset, [output(1 << 20)]));
    expect(cycle.hasRoom).toBe(true);
    cycle.complete(completed(15, [output(1 << 20)]));
    expect(cycle.hasRoom).toBe(false);
    cycle.step();
    expect(cycle.hasRoom).toBe(true);
    cycle.stop();
  });

  it('has no room while very many outputs wait, small as they may be', async () => {
    const { cycle } = await startCycle();
    const outputs = Array.from({ length: 10_000 }, () => output(1));
    cycle.complete(completed(0, outputs));
    expect(cycle.hasRoom).toBe(true);
    for (let offset = 1; offset < 6; offset++) cycle.complete(completed(offset, outputs));
    expect(cycle.hasRoom).toBe(false);
    cycle.stop();
  });

  it('commits a record within the interval of its completion, though the last transaction took that long to settle', async () => {
    const { cycle, producer, settled } = await startCycle();
    const commits = () => producer.calls.filter((call) => call === 'commit').length;
    const { commitIntervalMs } = FLOW.transaction;
    let confirm: () => void = () => undefined;
    producer.held = new Promise((resolve) => (confirm = resolve));
    cycle.complete(completed(0, [output()]));
    cycle.step();
    freeze(commitIntervalMs);
    cycle.step();
    expect(cycle.isSettling).toBe(true);
    cycle.complete(completed(1, [output()]));
    freeze(commitIntervalMs);
    confirm();
    await settled();
    cycle.step();
    await settled();
    expect(commits()).toBe(2);
    cycle.stop();
  });

  it('aborts what a process holds that stood still past its session: the group may have gone on without it', async () => {
    const { cycle, producer, aborted, settled } = await startCycle();
    cycle.complete(completed(0, [output()]));
    cycle.step();
    freeze(FLOW.group.sessionTimeoutMs);
    cycle.step();
    await settled();
    expect(aborted).toEqual(['stale']);
    expect(producer.calls).toEqual(['init', 'begin', 'abort', 'begin']);
    expect(cycle.mustRewind).toBe(true);
    cycle.stop();
  });

  it('notices at the last moment, before it gives up its partitions', async () => {
    const { cycle, producer, aborted } = await startCycle();
    cycle.complete(completed(0, [output()]));
    cycle.step();
    freeze(FLOW.group.sessionTimeoutMs);
    await cycle.end(false);
    expect(aborted).toEqual(['stale']);
    expect(producer.calls).not.toContain('commit');
    cycle.stop();
  });

  it('takes a third time in a row for a transform that holds the event loop, and commits', async () => {
    const { cycle, producer, aborted, settled } = await startCycle();
    for (let time = 1; time <= 3; time++) {
      cycle.complete(completed(0, [output()]));
      cycle.step();
      freeze(FLOW.group.sessionTimeoutMs);
      cycle.step();
      await settled();
      if (cycle.mustRewind) cycle.rewound();
    }
    expect(aborted).toEqual(['stale', 'stale']);
    expect(producer.calls.filter((call) => call === 'commit')).toHaveLength(1);
    cycle.stop();
  });
});

import { expect } from 'vitest';

import type { Expectation, ExpectedOutput } from '../../src/prove/checker/evidence.ts';
import type { LogRecord } from '../../src/prove/log-record.ts';
import { startScenario } from '../helpers/scenario.ts';
import { rowsWith } from './rows.ts';

const row = rowsWith();

const FAN_OUT = 10_000;
const FANNING = `
export default ({ value: { id } }) =>
  Array.from({ length: ${FAN_OUT} }, (_, n) => ({ to: n % 2 ? 'left' : 'right', key: 'k' + (n % 100), value: { id, n } }));
`;

const fanned =
  ({ left, right }: { left: string; right: string }) =>
  ({ value, headers, timestamp }: LogRecord): Expectation => {
    const { id } = JSON.parse(value?.toString() ?? '') as { id: number };
    const outputs = Array.from({ length: FAN_OUT }, (_, n): ExpectedOutput => ({
      topic: n % 2 ? left : right,
      key: Buffer.from(`k${n % 100}`),
      value: Buffer.from(JSON.stringify({ id, n })),
      headers,
      timestamp,
    }));
    return { kind: 'outputs', outputs };
  };

const FANNED = 10;
const MAX_BYTES = 400 << 20;

row('T12: one record has 10,000 outputs', async ({ rig, exposed }) => {
  const run = await startScenario(rig, { partitions: 2, transform: FANNING, expect: fanned });
  let processor = await run.startReady('a');
  const peaks: number[] = [];
  const sample = setInterval(() => {
    peaks.push(processor.lastMetrics?.sum('process_resident_memory_bytes') ?? 0);
  }, 500);
  rig.onEnd(() => clearInterval(sample));
  await run.seeder.send(
    Array.from({ length: FANNED }, (_, id) => ({
      key: null,
      value: Buffer.from(JSON.stringify({ id })),
      partition: id % 2,
    })),
  );
  await run.killInTransaction('a', processor);
  processor = await run.startReady('a');

  const { evidence } = await run.judge();
  rig.expose({ outputs: evidence.visible.length, peakMegabytes: Math.round(Math.max(...peaks) / (1 << 20)) });
  expect(Math.max(...peaks)).toBeLessThan(MAX_BYTES);
  exposed({ outputs: FANNED * FAN_OUT, killsInTransaction: 1, abortedRecords: 1 });
});

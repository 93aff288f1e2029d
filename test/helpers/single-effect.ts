import { partitionId } from '../../src/pipeline/ports.ts';
import type { LogRecord } from '../../src/prove/log-record.ts';
import type { Processor } from './processor.ts';
import { readSettled } from './read-settled.ts';
import type { Rig } from './rig.ts';
import { startSeeder, type Seed } from './seeder.ts';

/** One effect on one partition, and a process that runs it. */
export interface SingleEffect {
  readonly processor: Processor;
  send(...seeds: Seed[]): Promise<void>;
  /** All that was sent, with dead letters where they are due. */
  untilCommitted(): Promise<void>;
  deadLetters(): Promise<readonly LogRecord[]>;
}

export async function startSingleEffect(rig: Rig, effect: Readonly<Record<string, unknown>>): Promise<SingleEffect> {
  const { cluster, bootstrapServers, name } = rig;
  const input = await rig.topic('in', 1);
  const dead = await rig.topic('dead', 1);
  const config = {
    application: name,
    kafka: { bootstrapServers },
    effects: {
      e: {
        input: { topics: [input], key: 'string', value: 'json' },
        batch: { maxWait: '20ms' },
        retry: { attempts: 3, minDelay: '20ms', maxDelay: '200ms' },
        deadLetter: { topic: dead },
        ...effect,
      },
    },
  };
  const seeder = await startSeeder(bootstrapServers, input);
  rig.onEnd(() => seeder.close());
  const processor = await rig.run('a', config);
  let sent = 0;
  return {
    processor,
    async send(...seeds) {
      await seeder.send(seeds);
      sent += seeds.length;
    },
    async untilCommitted() {
      const partition = { topic: input, partition: 0 };
      await processor.until(
        `${sent} committed records`,
        async () => (await cluster.committed(`${name}.e`, [partition])).get(partitionId(partition)) === sent,
        { timeoutMs: 60_000 },
      );
    },
    deadLetters: () => readSettled(rig, [{ topic: dead, partition: 0 }]),
  };
}

/** A record with an event id. */
export const event = (id: string, key: string | null, value: unknown): Seed => ({
  key: key === null ? null : Buffer.from(key),
  value: value === null ? null : Buffer.from(JSON.stringify(value)),
  headers: [{ 'event-id': Buffer.from(id) }],
});

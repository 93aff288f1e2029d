import { lagOf, untilAtRest } from './at-rest.ts';
import type { Evidence, Expectation } from '../../src/prove/checker/evidence.ts';
import { assertExactlyOnce } from './checker.ts';
import { exposureOf, type Exposure } from './exposure.ts';
import { partitionId } from '../../src/pipeline/ports.ts';
import type { LogRecord, Partition } from '../../src/prove/log-record.ts';
import type { Processor } from './processor.ts';
import { pipelineConfig, TRANSACTION_TIMEOUT_MS, type Fields } from './pipeline-config.ts';
import { readSettled } from './read-settled.ts';
import { readUpTo, startReader } from './reader.ts';
import type { Rig } from './rig.ts';
import { startSeeder, type Seeder } from './seeder.ts';
import { waitFor } from './wait.ts';
import { expectationOf, TRANSFORM } from './workload.ts';

const PIPELINE = 'p';
const PATIENCE_MS = 60_000;

export interface ScenarioOptions {
  readonly partitions?: number;
  /** The transform's source; that of the workload where absent. */
  readonly transform?: string;
  /** Given the outputs' topics; that of the workload where absent. */
  readonly expect?: (topics: { left: string; right: string }) => (source: LogRecord) => Expectation;
  /** Fields of the pipeline and of its consumer, and fields beside the pipelines, on top of the tests' own. */
  readonly pipeline?: Fields;
  readonly consumer?: Fields;
  readonly config?: Fields;
  readonly outputConfig?: Readonly<Record<string, string>>;
  readonly deadLetterPartitions?: number;
  readonly deadLetterConfig?: Readonly<Record<string, string>>;
}

/** Fields beside the pipelines; under these names those of the pipeline and of its consumer. */
type OwnFields = Fields & { readonly pipeline?: Fields; readonly consumer?: Fields };

/** One pipeline from an input to two outputs and dead letters, the processes that run it, and everybody who watches. */
export interface Scenario {
  readonly seeder: Seeder;
  readonly input: string;
  readonly outputs: { readonly left: string; readonly right: string };
  readonly deadLetters: string;
  readonly group: string;
  readonly inputPartitions: readonly Partition[];
  /** Adds partitions to the input; returns them. */
  addPartitions(count: number): Promise<readonly Partition[]>;
  /** All that can be read of the input now. */
  readInput(): Promise<readonly LogRecord[]>;
  /** All processes that this run had, the dead ones too. */
  readonly processors: readonly Processor[];
  /** With fields of its own, if given. */
  start(instance: string, own?: OwnFields): Promise<Processor>;
  /** `start`, and wait until it is ready. */
  startReady(instance: string, own?: OwnFields): Promise<Processor>;
  /** So many records in all, whatever partitions they are in. */
  untilCommitted(records: number, timeoutMs?: number): Promise<void>;
  /** In every partition, all that was acknowledged to the seeder before the call. */
  untilCaughtUp(timeoutMs?: number): Promise<void>;
  hasOpenTransaction(instance: string): Promise<boolean>;
  /** Whether a transaction is neither committed nor aborted; one whose markers are still to be written is. */
  hasUndecidedTransaction(instance: string): Promise<boolean>;
  /** Whether records of an open transaction stand in an output. */
  hasOpenRecords(): Promise<boolean>;
  /**
   * SIGKILL while the broker lists an open transaction of the instance; says whether it was still open behind the kill,
   * for it may have ended in between.
   */
  killInTransaction(instance: string, processor: Processor): Promise<boolean>;
  /** SIGKILL, in an open transaction if there is one before the time is up and if the broker can tell. */
  kill(instance: string, processor: Processor, options: { aimMs: number }): Promise<void>;
  /** SIGSTOP with records of its open transaction in an output. Alone: the records of others look the same. */
  stopInTransaction(instance: string, processor: Processor): Promise<void>;
  /** Waits until all input is committed and the cluster is at rest, and judges what is left. */
  judge(options?: JudgeOptions): Promise<{ evidence: Evidence; exposure: Exposure & { killsInTransaction: number } }>;
}

export interface JudgeOptions {
  /** Input partitions that can not go on. */
  readonly heldAt?: ReadonlyMap<string, number>;
  readonly timeoutMs?: number;
  /** What is due, where that is not what the input holds now. */
  readonly sources?: readonly LogRecord[];
}

export async function startScenario(rig: Rig, options: ScenarioOptions = {}): Promise<Scenario> {
  const { partitions = 4, transform = TRANSFORM, expect = expectationOf, outputConfig } = options;
  const { deadLetterPartitions = 2, deadLetterConfig } = options;
  const { cluster, bootstrapServers } = rig;
  const input = await rig.topic('in', partitions);
  const outputs = {
    left: await rig.topic('left', 3, outputConfig),
    right: await rig.topic('right', 2, outputConfig),
  };
  const deadLetters = await rig.topic('dead', deadLetterPartitions, deadLetterConfig);
  const inputPartitions = [...partitionsOf(input, partitions)];
  const written = [
    ...partitionsOf(outputs.left, 3),
    ...partitionsOf(outputs.right, 2),
    ...partitionsOf(deadLetters, deadLetterPartitions),
  ];
  const group = `${rig.name}.${PIPELINE}`;

  await rig.write('transform.ts', transform);
  const configOf = ({ pipeline, consumer, ...config }: OwnFields): object =>
    pipelineConfig({
      application: rig.name,
      pipeline: PIPELINE,
      bootstrapServers,
      input,
      outputs,
      deadLetters,
      transform: './transform.ts',
      own: {
        pipeline: { ...options.pipeline, ...pipeline },
        consumer: { ...options.consumer, ...consumer },
        config: { ...options.config, ...config },
      },
    });

  const seeder = await startSeeder(bootstrapServers, input);
  rig.onEnd(() => seeder.close());
  const online = await startReader(bootstrapServers, written, 'read_committed');
  rig.onEnd(() => online.close());
  const uncommitted = await startReader(bootstrapServers, written, 'read_uncommitted');
  rig.onEnd(() => uncommitted.close());

  const processors: Processor[] = [];
  let killsInTransaction = 0;
  const committed = (): Promise<ReadonlyMap<string, number>> => cluster.committed(group, inputPartitions);
  const committedRecords = async (): Promise<number> =>
    [...(await committed()).values()].reduce((sum, offset) => sum + offset, 0);
  const lastWords = (): string => processors.map((processor) => processor.lastWords()).join('\n');

  async function start(instance: string, own: OwnFields = {}): Promise<Processor> {
    const processor = await rig.run(instance, configOf(own));
    processors.push(processor);
    return processor;
  }

  async function untilCommitted(records: number, timeoutMs = PATIENCE_MS): Promise<void> {
    let found = 0;
    await waitFor(`${records} committed records`, async () => (found = await committedRecords()) >= records, {
      timeoutMs,
      seen: () => `${found} are committed\n${lastWords()}`,
    });
  }

  async function untilPassed(ends: ReadonlyMap<string, number>, timeoutMs = PATIENCE_MS): Promise<void> {
    let found: ReadonlyMap<string, number> = new Map();
    const isPassed = ([partition, end]: [string, number]): boolean => (found.get(partition) ?? 0) >= end;
    const arePassed = async (): Promise<boolean> => {
      found = await committed();
      return [...ends].every(isPassed);
    };
    await waitFor('the group to commit all that is due', arePassed, {
      timeoutMs,
      seen: () => `due: ${show(ends)}\ncommitted: ${show(found)}\n${lastWords()}`,
    });
  }

  const openTransactions = async (idPrefix: string, states = /^(Ongoing|Prepare)/): Promise<string[]> =>
    (await cluster.transactions())
      .filter(({ transactionalId, state }) => transactionalId.startsWith(idPrefix) && states.test(state))
      .map(({ transactionalId }) => transactionalId);

  const hasOpenTransaction = async (instance: string): Promise<boolean> =>
    (await openTransactions(`${group}.${instance}.`)).length > 0;

  const hasUndecidedTransaction = async (instance: string): Promise<boolean> =>
    (await openTransactions(`${group}.${instance}.`, /^Ongoing/)).length > 0;

  const hasOpenRecords = async (): Promise<boolean> =>
    (await cluster.ends(written)).some(({ lastStable, highWatermark }) => lastStable < highWatermark);

  async function killInTransaction(instance: string, processor: Processor): Promise<boolean> {
    await processor.until(`an open transaction of ${instance}`, () => hasOpenTransaction(instance), { everyMs: 5 });
    await processor.kill();
    const wasOpen = await hasOpenTransaction(instance);
    if (wasOpen) killsInTransaction++;
    return wasOpen;
  }

  async function kill(instance: string, processor: Processor, { aimMs }: { aimMs: number }): Promise<void> {
    // A broker that is down can not tell; the kill counts as one outside of a transaction then.
    const isOpen = (): Promise<boolean> => hasOpenTransaction(instance).catch(() => false);
    const deadline = Date.now() + aimMs;
    const isTime = async (): Promise<boolean> => (await isOpen()) || Date.now() > deadline;
    await waitFor(`an open transaction of ${instance}, or its time`, isTime, { everyMs: 5 });
    await processor.kill();
    if (await isOpen()) killsInTransaction++;
  }

  async function stopInTransaction(instance: string, processor: Processor): Promise<void> {
    do {
      processor.cont(); // it had just committed
      await processor.until(`an open transaction of ${instance}`, () => hasOpenTransaction(instance), { everyMs: 5 });
      processor.stop();
    } while (!(await hasOpenRecords()));
  }

  async function judge({ heldAt = new Map(), timeoutMs, sources: due }: JudgeOptions = {}) {
    const free = inputPartitions.filter((partition) => !heldAt.has(partitionId(partition)));
    const sources = due ?? (await readSettled(rig, inputPartitions));
    const ends = new Map<string, number>();
    for (const source of sources)
      if (source.offset < (heldAt.get(partitionId(source)) ?? Infinity))
        ends.set(partitionId(source), source.offset + 1);
    await untilPassed(ends, timeoutMs);
    const rest = await untilAtRest(
      {
        ends: () => cluster.ends(written),
        openTransactions: () => openTransactions(`${group}.`),
        lag: () => lagOf(processors, free),
      },
      TRANSACTION_TIMEOUT_MS,
    );
    const readable = new Map(rest.ends.map((end) => [partitionId(end), end.lastStable]));
    await online.reached(readable);
    await uncommitted.reached(new Map(rest.ends.map((end) => [partitionId(end), end.highWatermark])));
    const evidence: Evidence = {
      ...rest,
      sources,
      expect: expect(outputs),
      deadLetterTopic: deadLetters,
      visible: await readUpTo(bootstrapServers, written, readable),
      online: online.records,
      uncommitted: uncommitted.records,
      committed: await committed(),
      heldAt,
    };
    const exposure = { killsInTransaction, ...exposureOf(evidence, processors) };
    rig.expose(exposure);
    console.info(JSON.stringify(exposure));
    assertExactlyOnce(evidence);
    return { evidence, exposure };
  }

  return {
    seeder,
    input,
    outputs,
    deadLetters,
    group,
    inputPartitions,
    async addPartitions(count) {
      const from = inputPartitions.length;
      inputPartitions.push(...partitionsOf(input, from + count).slice(from));
      await cluster.addPartitions(input, inputPartitions.length);
      return inputPartitions.slice(from);
    },
    readInput: () => readSettled(rig, inputPartitions),
    processors,
    start,
    async startReady(instance, own) {
      const processor = await start(instance, own);
      await processor.untilReady();
      return processor;
    },
    untilCommitted,
    untilCaughtUp: (timeoutMs) => untilPassed(seeder.ends(), timeoutMs),
    hasOpenTransaction,
    hasUndecidedTransaction,
    hasOpenRecords,
    killInTransaction,
    kill,
    stopInTransaction,
    judge,
  };
}

const show = (offsets: ReadonlyMap<string, number>): string => JSON.stringify(Object.fromEntries(offsets));

const partitionsOf = (topic: string, count: number): Partition[] =>
  Array.from({ length: count }, (_, partition) => ({ topic, partition }));

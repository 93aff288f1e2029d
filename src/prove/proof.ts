import { setTimeout as delay } from 'node:timers/promises';
import type { ClientProperties, CompiledConfig, PipelineConfig } from '../config/compiled.ts';
import { KafkaAdmin, type ToolOptions } from '../kafka/admin.ts';
import { GroupOffsets } from '../kafka/group-offsets.ts';
import { IdempotentProducer } from '../kafka/idempotent-producer.ts';
import { LogReader } from '../kafka/log-reader.ts';
import { maxRecordBytes } from '../kafka/record-limit.ts';
import { type InputRecord, type RecordTransform, type TopicPartition, partitionId } from '../pipeline/ports.ts';
import { check } from './checker.ts';
import type { Evidence, Expectation } from './checker/evidence.ts';
import { sourceOf } from './checker/trace.ts';
import { Crew } from './crew.ts';
import { exposureOf } from './exposure.ts';
import { disturb, INSTANCES } from './faults.ts';
import { Feed, rateOf } from './feed.ts';
import { readable, readAll, untilAtRest } from './gather.ts';
import { recordId, toLogRecord, type LogRecord } from './log-record.ts';
import { Original } from './original.ts';
import { reach } from './reach.ts';
import { ProofRefused } from './refused.ts';
import type { Findings } from './report.ts';
import { agreed, resultsOf, type ResultRules } from './results.ts';
import { copyOf, stageConfig, type Stage } from './stage.ts';
import { ThrowAway } from './throw-away.ts';
import { Watch } from './watch.ts';
import type { Worker } from './worker.ts';

export interface ProofOptions {
  /** As it would be run. */
  readonly config: CompiledConfig;
  readonly stage: Stage;
  readonly durationMs: number;
  /** How many records of the input to take. */
  readonly records: number;
  /** That of the pipeline on the stage. */
  readonly transform: RecordTransform;
  readonly launch: (instance: string) => Worker;
  /** Shows how far it is. */
  readonly progress: (line: string) => void;
  /** Prints a line that stays. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Patience with workers that commit nothing although records wait: longer than any session, back-off or transaction. */
const STUCK_MS = 90_000;
const READY_MS = 60_000;
/** Whoever interrupts a proof does not want to wait for long. */
const DISMISS_MS = 10_000;
const PAUSE_MS = 200;
/** With the consumer protocol the broker decides it: its default. */
const BROKERS_SESSION_MS = 45_000;

type Tools = ToolOptions & { readonly group: string };

/**
 *   sample ─▶ copies ─▶ workers ready ─▶ fed and disturbed ─▶ healed ─▶ caught up ─▶ at rest ─▶ read back ─▶ judged
 *
 * However it ends, the workers end, and what it has created is deleted. Throws a `ProofRefused` where it can't begin.
 */
export async function prove(options: ProofOptions): Promise<Findings> {
  const { config, stage, launch, say, signal } = options;
  const staged = stageConfig(config, stage, 'proof');
  const original = config.pipelines.find(({ name }) => name === stage.pipeline);
  const [pipeline] = staged.pipelines;
  if (!original || !pipeline) throw new Error(`there is no pipeline ${stage.pipeline}`);

  let complaint = 'no reason was given';
  const common = {
    cluster: staged.cluster,
    clientId: stage.name,
    group: stage.name,
    report: (error: Error) => (complaint = error.message),
  };
  const tools = {
    writing: { ...common, properties: pipeline.producerProperties },
    reading: { ...common, properties: withoutMembership(pipeline.consumerProperties) },
  };
  const connected = <T>(connect: (until: AbortSignal) => Promise<T>) => reach(connect, () => complaint, signal);

  const admin = await connected((until) => KafkaAdmin.connect(tools.writing, until));
  const throwAway = new ThrowAway(admin, stage.name);
  const crew = new Crew(launch);
  try {
    return await new Proof(options, { original, pipeline, admin, throwAway, crew, tools, connected }).run();
  } finally {
    await crew.dismiss(Math.min(config.shutdown.graceMs, DISMISS_MS));
    for (const left of await throwAway.remove()) say(`left behind: ${left}`);
    await admin.close();
  }
}

/** What reads here joins no group, and the client does not take what is for another group protocol. */
function withoutMembership(properties: ClientProperties): ClientProperties {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !/^(group|heartbeat)\./.test(name)));
}

interface Means {
  /** As it is configured, and as it is on the stage. */
  readonly original: PipelineConfig;
  readonly pipeline: PipelineConfig;
  readonly admin: KafkaAdmin;
  readonly throwAway: ThrowAway;
  readonly crew: Crew;
  readonly tools: { readonly writing: Tools; readonly reading: Tools };
  readonly connected: <T>(connect: (until: AbortSignal) => Promise<T>) => Promise<T>;
}

class Proof {
  readonly #options: ProofOptions;
  readonly #means: Means;
  readonly #startedAt = performance.now();
  #phase = 'starts workers';
  #inputs: readonly TopicPartition[] = [];
  /** All that the pipeline writes to. */
  #written: readonly TopicPartition[] = [];

  constructor(options: ProofOptions, means: Means) {
    this.#options = options;
    this.#means = means;
  }

  async run(): Promise<Findings> {
    const { tools, connected, crew } = this.#means;
    const sample = await this.#prepare();
    const online: LogRecord[] = [];
    const read = (record: InputRecord) => online.push(toLogRecord(record));
    const from = this.#written.map((partition) => ({ ...partition, offset: 0 }));
    const reader = await connected((until) =>
      LogReader.open({ ...tools.reading, isolation: 'read_committed', from, read }, until),
    );
    const producer = await connected((until) => IdempotentProducer.connect(tools.writing, until));
    const offsets = await connected((until) => GroupOffsets.connect(tools.reading.group, tools.reading, until));
    const feed = new Feed(producer);
    const watch = new Watch(offsets, this.#inputs, () => this.#show(feed, watch));
    try {
      for (const instance of INSTANCES) crew.start(instance);
      await this.#untilReady();
      await this.#disturbed(sample, feed, watch);
      for (const worker of crew.present) worker.thaw();
      return await this.#judge(watch, reader, online);
    } finally {
      await Promise.all([watch.close(), producer.close(), reader.close()]);
    }
  }

  /** Takes the sample and creates the copies; returns what to feed. */
  async #prepare(): Promise<readonly InputRecord[]> {
    const { stage, records, durationMs, say, signal } = this.#options;
    const { original, pipeline, admin, throwAway, tools } = this.#means;
    const topics = await Original.find(original, admin);
    const sample = await this.#feedable(await topics.sample(records, admin, tools.reading, signal));
    const shapes = new Map([...topics.shapes].map(([topic, shape]) => [copyOf(stage, topic), shape]));
    const perSecond = Math.round(rateOf(sample.length, durationMs));
    say(
      `sample: the latest ${sample.length} records of ${original.input.topics.join(', ')}, fed at ${perSecond} a second`,
    );
    say(`stage: ${shapes.size} topics named ${stage.name}.*, and the group ${stage.name}; deleted at the end`);
    const partitions = await throwAway.create(shapes, signal);
    const isInput = ({ topic }: TopicPartition) => pipeline.input.topics.includes(topic);
    this.#inputs = partitions.filter(isInput);
    this.#written = partitions.filter((partition) => !isInput(partition));
    return sample;
  }

  /** Without a topic for dead letters, a record that fails would only hold its partition. */
  async #feedable(sample: readonly InputRecord[]): Promise<readonly InputRecord[]> {
    if (this.#means.pipeline.deadLetter) return sample;
    const results = await resultsOf(sample, this.#rules);
    const sound = sample.filter((record) => results.get(recordId(record))?.kind !== 'dead-letter');
    const failing = sample.length - sound.length;
    if (sound.length === 0)
      throw new ProofRefused('every record of the sample fails, and the pipeline has no deadLetter topic');
    if (failing > 0)
      this.#options.say(
        `left out: ${failing} records that fail; they would hold their partitions, for there is no deadLetter topic`,
      );
    return sound;
  }

  get #rules(): ResultRules {
    const { pipeline } = this.#means;
    return {
      transform: this.#options.transform,
      attempts: pipeline.retry.attempts,
      maxRecordBytes: maxRecordBytes(pipeline.producerProperties),
    };
  }

  #show(feed: Feed, watch: Watch): void {
    const { crew } = this.#means;
    const { progress } = this.#options;
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    const { kills, freezes } = crew;
    progress(
      `${seconds} s, ${this.#phase}: ${feed.fed} records in, ${watch.total} done, ${kills.length} kills, ${freezes} freezes`,
    );
  }

  async #untilReady(): Promise<void> {
    const { crew } = this.#means;
    const deadline = performance.now() + READY_MS;
    for (;;) {
      const [words] = crew.collapses;
      if (words !== undefined) throw new ProofRefused(`the pipeline does not run: ${words}`);
      const ready = await Promise.all(crew.present.map((worker) => worker.isReady()));
      if (ready.every(Boolean)) return;
      if (performance.now() > deadline)
        throw new ProofRefused(`the workers were not ready within ${READY_MS / 1_000} s: ${crew.lastWords}`);
      await delay(PAUSE_MS, undefined, { signal: this.#options.signal });
    }
  }

  async #disturbed(sample: readonly InputRecord[], feed: Feed, watch: Watch): Promise<void> {
    const { stage, durationMs, signal } = this.#options;
    const { protocol, sessionTimeoutMs } = this.#means.pipeline.group;
    // Where one of them fails, the other is not to go on.
    const both = new AbortController();
    const until = AbortSignal.any([signal, both.signal]);
    const copy = (topic: string) => copyOf(stage, topic);
    this.#phase = 'hurts them';
    const committed = () => watch.total;
    const sessionMs = protocol === 'classic' ? sessionTimeoutMs : BROKERS_SESSION_MS;
    try {
      await Promise.all([
        feed.run({ sample, copyOf: copy, durationMs, committed }, until),
        disturb(this.#means.crew, { durationMs, sessionTimeoutMs: sessionMs }, until),
      ]);
    } finally {
      both.abort();
    }
  }

  /** Whether all of the input is done with; gives up on workers that stand still. */
  async #isCaughtUp(due: number, watch: Watch): Promise<boolean> {
    while (watch.total < due) {
      if (this.#means.crew.isCollapsing || performance.now() > watch.movedAt + STUCK_MS) return false;
      await delay(PAUSE_MS, undefined, { signal: this.#options.signal });
    }
    return true;
  }

  async #judge(watch: Watch, online: LogReader, seen: readonly LogRecord[]): Promise<Findings> {
    const { signal } = this.#options;
    const { admin, crew, tools, pipeline } = this.#means;
    const read = (partitions: readonly TopicPartition[], isolation: 'read_committed' | 'read_uncommitted') =>
      readAll(partitions, isolation, admin, tools.reading, signal);

    this.#phase = 'lets them catch up';
    const sources = await read(this.#inputs, 'read_committed');
    const first = await resultsOf(sources, this.#rules);
    const isDone = await this.#isCaughtUp(sources.length, watch);
    const around = { admin, crew, written: this.#written, inputs: isDone ? this.#inputs : [] };
    this.#phase = 'reads back';
    const { ends, lag } = await untilAtRest(around, pipeline.transaction.timeoutMs, signal);
    const visible = (await read(this.#written, 'read_committed')).map(toLogRecord);
    const uncommitted = (await read(this.#written, 'read_uncommitted')).map(toLogRecord);
    await online.reached(
      ends.map((end) => readable(end, 'read_committed')),
      signal,
    );
    // Much later than the first, so that a result that depends on the time shows.
    const results = agreed(first, await resultsOf(sources, this.#rules));

    const evidence: Evidence = {
      sources: sources.map(toLogRecord),
      expect: (source): Expectation => results.get(recordId(source)) ?? { kind: 'undetermined' },
      deadLetterTopic: pipeline.deadLetter?.topic ?? '',
      deadLetterFormat: pipeline.deadLetter?.format ?? 'headers',
      visible,
      online: seen,
      uncommitted,
      committed: watch.committed,
      // What is not done yet is no loss.
      heldAt: isDone
        ? new Map()
        : new Map(this.#inputs.map(partitionId).map((id) => [id, watch.committed.get(id) ?? 0])),
      ends,
      openTransactions: [],
      lag,
    };
    return {
      violations: check(evidence),
      exposure: exposureOf(evidence, crew),
      undetermined: undeterminedOf(evidence),
      stuck: isDone ? null : { records: sources.length - watch.total, lastWords: crew.lastWords },
      collapses: crew.collapses,
    };
  }
}

function undeterminedOf({ sources, expect, visible }: Evidence): Findings['undetermined'] {
  const undetermined = sources.filter((source) => expect(source).kind === 'undetermined').map(recordId);
  const settled = new Set(visible.map(sourceOf));
  return { records: undetermined.length, withoutResult: undetermined.filter((id) => !settled.has(id)).length };
}

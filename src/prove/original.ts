import type { PipelineConfig } from '../config/compiled.ts';
import type { KafkaAdmin, ToolOptions, TopicShape } from '../kafka/admin.ts';
import { denied, unmet } from '../kafka/topics.ts';
import type { InputRecord } from '../pipeline/ports.ts';
import { partitionsOf } from './log-record.ts';
import { allowed } from './reach.ts';
import { ProofRefused } from './refused.ts';
import { latest, readSample } from './sample.ts';

/** The topics that a pipeline reads and writes, which a proof only looks at. */
export class Original {
  readonly shapes: ReadonlyMap<string, TopicShape>;
  readonly #inputs: readonly string[];

  private constructor(shapes: ReadonlyMap<string, TopicShape>, inputs: readonly string[]) {
    this.shapes = shapes;
    this.#inputs = inputs;
  }

  /** Throws a `ProofRefused` where one is missing, or not to be read. */
  static async find({ input, outputs, deadLetter }: PipelineConfig, admin: KafkaAdmin): Promise<Original> {
    const written = [...outputs, ...(deadLetter ? [deadLetter] : [])].map(({ topic }) => topic);
    const described = await allowed(admin.describeTopics([...input.topics, ...written]));
    const problems = described.flatMap(({ name, error }) => {
      if (input.topics.includes(name)) return unmet({ topic: name, operation: 'Read' }, described) ?? [];
      if (error) return error.code === UNKNOWN_TOPIC ? `topic ${name} not found` : denied('Describe', 'topic', name);
      return [];
    });
    if (problems.length > 0) {
      throw new ProofRefused(`a proof copies the topics of the pipeline:\n${problems.join('\n')}`);
    }
    const shapes = described.map(({ name, partitions }): [string, TopicShape] => [
      name,
      { partitions: partitions.length, replicas: partitions[0]?.replicas.length ?? 1 },
    ]);
    return new Original(new Map(shapes), input.topics);
  }

  /** The latest committed records of the input. Throws a `ProofRefused` where there are none. */
  async sample(
    records: number,
    admin: KafkaAdmin,
    tools: ToolOptions & { readonly group: string },
    signal: AbortSignal,
  ): Promise<InputRecord[]> {
    const partitions = this.#inputs.flatMap((topic) => partitionsOf(topic, this.shapes.get(topic)?.partitions ?? 0));
    const ranges = latest(await allowed(admin.ends(partitions)), records);
    const sample = ranges.length === 0 ? [] : await allowed(readSample(ranges, tools, signal));
    if (sample.length > 0) return sample;
    const topics = `${this.#inputs.join(', ')} ${this.#inputs.length === 1 ? 'has' : 'have'}`;
    throw new ProofRefused(
      `${topics} no records at ${tools.cluster.bootstrapServers}, and a proof takes its input from there: ` +
        'write some, or name a cluster that has some with --bootstrap-servers',
    );
  }
}

const UNKNOWN_TOPIC = 3;

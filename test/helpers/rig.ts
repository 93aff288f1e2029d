import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { inject, onTestFailed, test, type TestContext } from 'vitest';
import { stringify } from 'yaml';

import { connectCluster, type Cluster } from './cluster.ts';
import type { Counts } from './exposure.ts';
import { startProcessor, type Processor, type ProcessorOptions } from './processor.ts';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

/** What a test stands on: a broker, a name of its own, a folder, and a clean end for all that it started. */
export interface Rig {
  /** Unique: prefix of the test's topics, groups and transactional ids. */
  readonly name: string;
  readonly bootstrapServers: string;
  readonly cluster: Cluster;
  /** An empty folder in which `millrace` can be imported, as after `npm install millrace`. */
  readonly folder: string;
  write(file: string, content: string): Promise<string>;
  topic(suffix: string, partitions: number, config?: Readonly<Record<string, string>>): Promise<string>;
  /** `millrace run` on this configuration, with a free port and the instance's name put in. */
  run(instance: string, config: object): Promise<Processor>;
  /** Any other `millrace` command. */
  command(...args: string[]): Processor;
  /** Clean-ups run in reverse order when the test has ended. */
  onEnd(cleanUp: () => unknown): void;
  /** Notes what the test went through, for reports. */
  expose(counts: Counts): void;
}

/** `it('…', async ({ rig }) => …)`, on the broker that all test files share. */
export const it = test.extend<{ rig: Rig }>({
  rig: async ({ task }, use) => provideRig(inject('bootstrapServers'), task, use),
});

type Task = TestContext['task'];

/** What `millrace` runs on. */
export interface Ground {
  /** `http.host`, so that the tests reach its endpoints. */
  readonly httpHost: string;
  start(options: ProcessorOptions): Processor;
}

const thisMachine: Ground = { httpHost: '127.0.0.1', start: startProcessor };

/** The `rig` fixture on any broker. */
export async function provideRig(
  bootstrapServers: string,
  task: Task,
  use: (rig: Rig) => Promise<void>,
  ground = thisMachine,
): Promise<void> {
  const { rig, processors, cleanUp } = await createRig(bootstrapServers, task, ground);
  // A failure is half explained by what the processes said last.
  onTestFailed(() => processors.forEach((processor) => console.error(processor.lastWords())));
  await use(rig);
  await cleanUp();
}

async function createRig(
  bootstrapServers: string,
  task: Task,
  ground: Ground,
): Promise<{ rig: Rig; processors: readonly Processor[]; cleanUp: () => Promise<void> }> {
  const name = `t-${randomBytes(4).toString('hex')}`;
  const cleanUps: (() => unknown)[] = [];
  const processors: Processor[] = [];
  const topics: string[] = [];
  const onEnd = (cleanUp: () => unknown): void => void cleanUps.push(cleanUp);

  const folder = await mkdtemp(join(tmpdir(), `millrace-${name}-`));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'node_modules'));
  await symlink(PACKAGE, join(folder, 'node_modules', 'millrace'));
  const cluster = await connectCluster(bootstrapServers);
  onEnd(() => cluster.close());
  onEnd(() => cluster.deleteTopics(topics));

  const write = async (file: string, content: string): Promise<string> => {
    await writeFile(join(folder, file), content);
    return join(folder, file);
  };
  const start = (args: readonly string[], httpPort?: number): Processor => {
    const processor = ground.start({ args, cwd: folder, ...(httpPort === undefined ? {} : { httpPort }) });
    processors.push(processor);
    onEnd(() => processor.kill());
    return processor;
  };

  const rig: Rig = {
    name,
    bootstrapServers,
    cluster,
    folder,
    write,
    onEnd,
    async topic(suffix, partitions, config) {
      const topic = `${name}.${suffix}`;
      await cluster.createTopic(topic, partitions, config);
      topics.push(topic);
      return topic;
    },
    async run(instance, config) {
      const port = await freePort();
      const file = await write(
        `${instance}.yaml`,
        stringify({ instance, http: { host: ground.httpHost, port }, log: { format: 'json' }, ...config }),
      );
      return start(['run', file], port);
    },
    command: (...args) => start(args),
    expose(counts) {
      task.meta.exposure = { ...task.meta.exposure, ...counts };
    },
  };
  return { rig, processors, cleanUp: () => runAll(cleanUps.reverse()) };
}

async function runAll(cleanUps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const cleanUp of cleanUps) {
    try {
      await cleanUp();
    } catch (error) {
      failures.push(error); // the others still have to run
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'the test left something behind');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

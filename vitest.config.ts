import { defineConfig } from 'vitest/config';

// Each blocking call of the Kafka client holds a thread of the pool, whose size a process reads once as it starts:
// the test processes inherit it from this one.
process.env['UV_THREADPOOL_SIZE'] ??= '24';

export default defineConfig({
  test: {
    // The Kafka client can not be loaded in worker threads.
    pool: 'forks',
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'], sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/integration/setup.ts'],
          // After the unit tests, and file by file: they start processes and brokers, and measure time.
          sequence: { groupOrder: 1 },
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          // `npm run chaos`; not part of `npm test`.
          name: 'chaos',
          include: ['test/chaos/**/*.test.ts'],
          globalSetup: ['test/chaos/setup.ts'],
          sequence: { groupOrder: 2 },
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          // `npm run test:container`; not part of `npm test`.
          name: 'container',
          include: ['test/container/**/*.test.ts'],
          globalSetup: ['test/container/setup.ts'],
          sequence: { groupOrder: 3 },
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          // `npm run soak`; not part of `npm test`.
          name: 'soak',
          include: ['test/soak/**/*.test.ts'],
          globalSetup: ['test/chaos/setup.ts', 'test/soak/setup.ts'],
          sequence: { groupOrder: 4 },
          hookTimeout: 120_000,
          // The checker holds all that was read, three times.
          execArgv: ['--max-old-space-size=8192'],
        },
      },
    ],
  },
});

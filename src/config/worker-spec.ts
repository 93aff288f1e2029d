import * as z from 'zod';
import { duration, integer, size } from './fields.ts';

/** What a supervisor does about its workers. */

const restart = z.strictObject({
  attempts: integer({ min: 1, max: 1_000_000 })
    .prefault(10)
    .describe(
      'How often in a row a worker is started again. When it ends once more, all of them are stopped and the process ' +
        'exits with code 1.',
    ),
  minDelay: duration({ min: '1ms', max: '1h' })
    .prefault('200ms')
    .describe('The wait before the first restart. It doubles with each further one.'),
  maxDelay: duration({ min: '1ms', max: '24h' }).prefault('30s').describe('The longest wait before a restart.'),
  resetAfter: duration({ min: '1s', max: '24h' })
    .prefault('5m')
    .describe('A worker that has run for this long is started again as if for the first time.'),
});

export const worker = z.strictObject({
  maxMemory: size({ min: '64MiB', max: '1024GiB' })
    .optional()
    .describe(
      'A worker whose resident memory passes this is replaced between two transactions. With it, even a single worker ' +
        'runs under a supervisor. By default there is no limit.',
    ),
  restart: restart.prefault({}).describe('What is done about a worker that ends without being asked to.'),
});

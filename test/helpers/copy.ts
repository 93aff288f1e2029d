import type { Expectation } from '../../src/prove/checker/evidence.ts';
import type { LogRecord } from '../../src/prove/log-record.ts';

/** A transform that copies each record to both outputs, for tests that are not about the transform. */
export const COPY = `
export default ({ value }) => [{ to: 'left', value }, { to: 'right', value }];
`;

/** What `COPY` must yield. */
export const copied =
  ({ left, right }: { readonly left: string; readonly right: string }) =>
  ({ key, value, headers, timestamp }: LogRecord): Expectation => ({
    kind: 'outputs',
    outputs: [left, right].map((topic) => ({ topic, key, value, headers, timestamp })),
  });

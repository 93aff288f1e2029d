import { expect, it } from 'vitest';

import { ATTEMPT_HEADER, signed, SOURCE_HEADER } from '../../../src/pipeline/provenance.ts';
import { output } from './bench.ts';

it('says once where an output comes from, however often its record went through a pipeline before', () => {
  const trace = { trace: Buffer.from('t1') };
  const first = signed({ ...output(), headers: [trace] }, { topic: 'a', partition: 0, offset: 1 }, 'x');
  const second = signed(first, { topic: 'b', partition: 2, offset: 3 }, 'y');
  expect(second.headers).toEqual([
    trace,
    { [SOURCE_HEADER]: Buffer.from('b/2/3') },
    { [ATTEMPT_HEADER]: Buffer.from('y') },
  ]);
});

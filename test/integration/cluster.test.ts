import { expect } from 'vitest';

import { withOwnBroker } from '../helpers/own-broker.ts';

// The group coordinator makes its topic at the first question, and takes longer over many partitions.
const it = withOwnBroker({ 'offsets.topic.num.partitions': '50' });

it('a broker that has just started is asked about a group until it can tell', async ({ rig }) => {
  const topic = await rig.topic('input', 1);
  expect(await rig.cluster.committed(rig.name, [{ topic, partition: 0 }])).toEqual(new Map());
});

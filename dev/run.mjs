/** `node dev/run.mjs FILE.ts` runs a TypeScript file on every supported version of Node, of which some can not. */
import { resolve } from 'node:path';

import { createJiti } from 'jiti';

// The file finds its own arguments where it expects them.
const [file] = process.argv.splice(2, 1);
if (!file) throw new Error('name a TypeScript file');

// Node itself has to load the Kafka client: it finds its native part by who called it.
const jiti = createJiti(import.meta.url, { nativeModules: ['@confluentinc/kafka-javascript'] });
await jiti.import(resolve(file));

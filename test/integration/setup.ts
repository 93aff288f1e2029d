import type { TestProject } from 'vitest/node';

import { useBroker } from '../../dev/broker.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The broker that all test files share: nobody may stop it. Tests that hurt a broker start their own. */
    bootstrapServers: string;
  }
}

/** One broker for the whole run; tests read its address with `inject('bootstrapServers')`. */
export default async function setup(project: TestProject) {
  const broker = await useBroker();
  console.log(`broker: ${broker.origin}, ${broker.bootstrapServers}`);
  project.provide('bootstrapServers', broker.bootstrapServers);
  return () => broker.remove();
}

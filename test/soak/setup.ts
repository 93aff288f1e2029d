import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** How long the load lasts. */
    minutes: number;
  }
}

export const MINUTES_VARIABLE = 'MILLRACE_SOAK_MINUTES';
const DEFAULT_MINUTES = 30;

export default function setup(project: TestProject): void {
  project.provide('minutes', Number(process.env[MINUTES_VARIABLE] ?? DEFAULT_MINUTES));
}

import type { Reporter, TestCase, TestModule } from 'vitest/node';

import type { Counts } from '../helpers/exposure.ts';
import { idOf } from './catalogue.ts';

/** What became of one test. */
export interface Verdict {
  readonly id: string;
  readonly title: string;
  readonly seconds: number;
  readonly exposure: Counts;
  /** Empty where it passed. */
  readonly failures: readonly string[];
}

/** Collects the verdicts, and prints each as soon as there is one. */
export class VerdictReporter implements Reporter {
  readonly verdicts: Verdict[] = [];
  /** Errors outside of any test. */
  readonly failures: string[] = [];

  onTestCaseResult(test: TestCase): void {
    const id = idOf(test.fullName);
    const { state, errors = [] } = test.result();
    if (id === undefined || state === 'skipped') return;
    const failures = errors.map(({ message, stack = '' }) => `${message}\n${placeOf(stack)}`.trimEnd());
    const seconds = (test.diagnostic()?.duration ?? 0) / 1_000;
    const { exposure = {} } = test.meta();
    const title = test.fullName.slice(`${id}: `.length);
    const verdict = { id, title, seconds, exposure, failures };
    this.verdicts.push(verdict);
    console.log(`${lineOf(verdict)}\n`);
  }

  onTestModuleEnd(module: TestModule): void {
    for (const { message, stack = '' } of module.errors()) this.#fail(`${module.relativeModuleId}: ${message}`, stack);
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly { message: string; stack?: string }[]): void {
    for (const { message, stack = '' } of errors) this.#fail(message, stack);
  }

  onUserConsoleLog({ type, content }: { type: 'stdout' | 'stderr'; content: string }): void {
    // What the processes of a failed row said last; what helpers tell otherwise is in the verdict.
    if (type === 'stderr') process.stderr.write(content);
  }

  #fail(message: string, stack: string): void {
    const failure = `${message}\n${placeOf(stack)}`.trimEnd();
    this.failures.push(failure);
    console.log(failure);
  }
}

/** The lines of a stack that are ours. */
function placeOf(stack: string): string {
  const ours = stack.split('\n').filter((line) => /^\s*at .*\/test\//.test(line));
  return ours.slice(0, 5).join('\n');
}

function lineOf({ id, title, seconds, exposure, failures }: Verdict): string {
  const seen = countsOf(exposure).map(([what, count]) => `${count} ${what}`);
  const verdict = failures.length === 0 ? 'passed' : 'FAILED';
  return [
    `${id} ${verdict} in ${seconds.toFixed(0)} s: ${title}`,
    ...(seen.length > 0 ? [`  ${seen.join(', ')}`] : []),
    ...failures.map((failure) => `  ${failure.replaceAll('\n', '\n  ')}`),
  ].join('\n');
}

/** What was seen at all, in words. */
export function countsOf(exposure: Counts): [what: string, count: number][] {
  return Object.entries(exposure)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => [what.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`), count]);
}

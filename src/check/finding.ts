/** One thing that was looked at. */
export interface Finding {
  /** `not checked`: this user, or this client, can't find out. */
  readonly verdict: 'ok' | 'warning' | 'error' | 'not checked';
  /** What it is about, what was found, and the remedy where one is needed; on one line. */
  readonly text: string;
}

export function finding(verdict: Finding['verdict'], text: string): Finding {
  return { verdict, text };
}

/** As it is printed. */
export function lineOf({ verdict, text }: Finding): string {
  return `${verdict.padEnd('not checked'.length)}  ${text}`;
}

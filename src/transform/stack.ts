import { dirname, sep } from 'node:path';

const FRAME = /^\s+at (?:.*\()?(?:file:\/\/)?(\/.*):(\d+):\d+\)?$/;
const OURS = dirname(import.meta.dirname) + sep;

/** A line of a stack trace. */
export interface Frame {
  readonly text: string;
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

const MAX_FRAMES = 10;

/** The innermost of `userFrames`, one a line; empty where there is none. */
export function userStack(error: Error): string {
  return userFrames(error)
    .slice(0, MAX_FRAMES)
    .map(({ text }) => text)
    .join('\n');
}

/** The frames of an error that lie in the user's own files: not in Node, in installed packages or in this one. Innermost first. */
export function userFrames(error: Error): Frame[] {
  const frames: Frame[] = [];
  for (const text of error.stack?.split('\n') ?? []) {
    const [, file, line] = FRAME.exec(text) ?? [];
    if (file === undefined || file.includes('/node_modules/') || file.startsWith(OURS)) continue;
    frames.push({ text: text.trim(), file, line: Number(line) });
  }
  return frames;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

export interface Guard {
  /** Runs the command now; resolves when it has ended. */
  release(): Promise<void>;
}

/**
 * Runs a shell command once this process is gone. It works after a SIGKILL too: the guard waits for the end of its
 * standard input, and the system closes the other side of that pipe.
 */
export function onceGone(command: string): Guard {
  const guard = spawn('sh', ['-c', `cat >/dev/null; ${command}`], {
    // A group of its own, so that a Ctrl-C in the terminal does not end the guard before its work.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(guard, 'exit');
  // The guard must not keep this process alive.
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  return {
    async release() {
      guard.ref();
      guard.stdin.end();
      await ended;
    },
  };
}

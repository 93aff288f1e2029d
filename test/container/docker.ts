import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Gives what a `docker` command prints. */
export async function docker(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', args);
  return stdout.trim();
}

import type { Level, LogLevel } from './observability/log-level.ts';
import type { Logger } from './observability/logger.ts';

/**
 * Debug lines from one SIGUSR2 to the next. It is not SIGUSR1, by which Node.js starts its debugger.
 *
 * @param changed Called with the new level.
 */
export function changeLevelOnSignal(
  level: LogLevel,
  logger: Logger,
  changed: (level: Level) => void = () => undefined,
): void {
  process.on('SIGUSR2', () => {
    const logLevel = level.next;
    const tell = () => logger.info({ logLevel }, 'the log level changes on SIGUSR2');
    // One of the two levels is debug, which prints this line; the other one need not.
    if (logLevel !== 'debug') tell();
    level.current = logLevel;
    if (logLevel === 'debug') tell();
    changed(logLevel);
  });
}

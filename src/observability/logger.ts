import { types } from 'node:util';
import { pino, type DestinationStream, type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { CompiledConfig } from '../config/compiled.ts';
import { LogLevel } from './log-level.ts';
import { CENSOR, redactedJson, redactSecrets } from './redact.ts';

export type { Logger };

/** Fields that hold credentials by their name, at the top and one level down, whether or not the value is a known secret. */
const CREDENTIAL_PATHS = ['password', 'secret', 'token', 'authorization', 'sasl.password', 'ssl.key.password'].flatMap(
  (field) => [`["${field}"]`, `*["${field}"]`],
);

/** Of a line that is longer than this, in characters, long texts are cut: who throws a megabyte shall not fill the disk. */
const LONG_LINE = 16_384;
const LONG_TEXT = 2_000;

/**
 * The process's logger: one JSON object a line on standard output, or text for people where that is a terminal.
 * No line contains one of `config.secrets`, whatever field, message or stack trace it came in.
 *
 * Lines are written synchronously, so nothing is lost when the process exits right after; it is quiet enough to afford that.
 *
 * @param options.destination Where the lines go instead of standard output.
 * @param options.level May change while it is used; by default it stays what the configuration says.
 */
export function createLogger(
  config: Pick<CompiledConfig, 'application' | 'instance' | 'log' | 'secrets'>,
  {
    destination = pino.destination({ dest: 1, sync: true }),
    level = new LogLevel(config.log.level),
  }: { destination?: DestinationStream; level?: LogLevel } = {},
): Logger {
  const redact = redactSecrets(config.secrets);
  const pretty = config.log.format === 'pretty' || (config.log.format === 'auto' && process.stdout.isTTY);
  const prettify = prettyFactory({ ignore: 'application,instance', singleLine: true, translateTime: 'SYS:HH:MM:ss.l' });

  return pino(
    {
      // A child keeps the level that it is made with, and users make some: what is printed is decided line by line.
      level: 'debug',
      base: { application: config.application, instance: config.instance },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // What describes an error already stays as it is.
      serializers: { err: (err: unknown) => (types.isNativeError(err) ? pino.stdSerializers.errWithCause(err) : err) },
      redact: { paths: CREDENTIAL_PATHS, censor: CENSOR },
      hooks: {
        logMethod(args, method, severity) {
          if (level.admits(severity)) method.apply(this, args);
        },
        streamWrite(line) {
          const safeLine = redact(line) === line ? line : `${redactedJson(JSON.parse(line), redact)}\n`;
          // Not before: of a secret that is cut in half, the half would stay.
          const short = safeLine.length > LONG_LINE ? `${shortenedJson(JSON.parse(safeLine))}\n` : safeLine;
          return pretty ? prettify(short) : short;
        },
      },
    },
    destination,
  );
}

function shortenedJson(fields: unknown): string {
  return JSON.stringify(fields, (_, value: unknown) =>
    typeof value === 'string' && value.length > LONG_TEXT ? `${value.slice(0, LONG_TEXT)}…` : value,
  );
}

import { ClientError } from '../pipeline/ports.ts';
import type { Client } from './native.ts';

/** librdkafka's own codes. */
const AUTHENTICATION = -169;
const SSL = -181;

/**
 * An error event comes without its code: the binding leaves librdkafka's name for it only, which is fixed for each code
 * (rd_kafka_err2str). A broker that closes the connection in the middle of it counts as "broker transport failure".
 */
const CODE_BY_NAME: Readonly<Record<string, number>> = { 'authentication failure': AUTHENTICATION, 'ssl error': SSL };

/** TLS alerts (RFC 8446, 6.2) by which a broker says that it does not take our certificate, or wants one. */
const CERTIFICATE_ALERTS = new Set([42, 43, 44, 45, 46, 48, 49, 116]);

/** Watches a client's connections for those that will not do better when they are tried again. */
export interface ConnectionWatch {
  /** What the client last said of a connection that failed; empty if none did. */
  readonly reason: string;
  /** Whether that was of an access token, which comes before any broker. */
  readonly isAboutToken: boolean;
}

/** @param refused Called for each connection on which one side does not take what the other shows. */
export function watchConnections(client: Client, refused: (refusal: ClientError) => void): ConnectionWatch {
  let reason = '';
  let isAboutToken = false;
  client.on('event.log', (event) => {
    const { fac, message = '' } = event as { fac?: string; message?: string };
    if (fac !== 'FAIL' && fac !== 'OIDC') return;
    reason = plain(message);
    isAboutToken = fac === 'OIDC';
    // The identity provider answered, and it is not its fault: the status stands at the end.
    if (isAboutToken && /\(4\d\d\)$/.test(message)) {
      refused(new ClientError(withoutToken(reason), 'denied', AUTHENTICATION));
    }
    const alert = /SSL alert number (\d+)/.exec(message)?.[1];
    if (alert === undefined || !CERTIFICATE_ALERTS.has(Number(alert))) return;
    reason += ': they do not take our certificate, or want one: see kafka.tls.certificate';
    refused(refusal(SSL, reason));
  });
  client.on('event.error', (error) => {
    const code = CODE_BY_NAME[(error as Error).message];
    // That of a missing token does not tell why there is none: the log has said it.
    if (code !== undefined && !isAboutToken) refused(refusal(code, reason));
  });
  return {
    get reason() {
      return reason;
    },
    get isAboutToken() {
      return isAboutToken;
    },
  };
}

export function withoutToken(reason: string): string {
  return `kafka.sasl.oauth gets no access token: ${reason}`;
}

function refusal(code: number, reason: string): ClientError {
  const what = code === SSL ? 'kafka.tls does not fit the brokers' : 'kafka.sasl is refused by the brokers';
  return new ClientError(`${what}: ${reason}`, 'denied', code);
}

/** librdkafka's advice names a property that is refused here, and leaves out that the address may be the wrong one. */
const ADVICE_ON_CA = /, verify that ssl\.ca\.location .*\(install ca-certificates package\)/;
const OWN_ADVICE_ON_CA =
  ': see that kafka.tls.ca is of its authority, and that it is for this name in kafka.bootstrapServers';

/** Without the names of the client's thread and broker handle in front, and without how long it took behind. */
function plain(message: string): string {
  return message
    .replace(ADVICE_ON_CA, OWN_ADVICE_ON_CA)
    .replace(/^(\[[^\]]*\]: )?(\S+\/\w+: )?/, '')
    .replace(/ \(after \d+ms in state \w+(, \d+ identical error\(s\) suppressed)?\)$/, '');
}

import { readFileSync } from 'node:fs';

import { Pool, type Dispatcher } from 'undici';

import { EffectFailure, type Adapter, type Applied, type EffectRecord } from '../adapter.ts';
import { errorCode, isCertificateError } from '../error-codes.ts';
import { inPlace } from '../reference.ts';
import { compileBody, type BodyTemplate } from './body-template.ts';
import type { HttpConfig } from '../../config/compiled.ts';
import { compileHeaders } from './header-templates.ts';
import { classifyStatus, retryAfterMs } from './status.ts';
import { compileUrl, type UrlTemplate } from './url-template.ts';

export interface HttpOptions {
  /** Where the configuration comes from, for messages: `effects.notify-desk.http`. */
  readonly place: string;
  /** Takes secrets out of what a service answers before it is logged or stored. */
  readonly redact: (text: string) => string;
}

/** Of an answer that says no. */
const READ_BYTES = 4_096;
const SHOWN_CHARACTERS = 500;

/**
 * One request a record, in order, each with its event id as `Idempotency-Key`. The service has to know a key again:
 * after a time-out, a reset or a crash the same request comes with the same key.
 */
export class HttpAdapter implements Adapter {
  /** What waits, is refused or is given up is then one request, and no other is sent again because of it. */
  readonly maxBatch = 1;
  readonly #config: HttpConfig;
  readonly #place: string;
  readonly #redact: (text: string) => string;
  readonly #url: UrlTemplate;
  readonly #headers: (record: EffectRecord) => Readonly<Record<string, string>>;
  readonly #body: BodyTemplate;
  #pool: Pool | null = null;

  /** Throws an `Error` that names the place when the URL, a header or the body can't be understood. */
  constructor(config: HttpConfig, { place, redact }: HttpOptions) {
    this.#config = config;
    this.#place = place;
    this.#redact = redact;
    this.#url = inPlace(`${place}.url`, () => compileUrl(config.url));
    this.#headers = inPlace(`${place}.headers`, () => compileHeaders(config));
    this.#body = inPlace(`${place}.body`, () => compileBody(config.body));
  }

  /** Sends nothing: a request without an event would be an effect too. */
  // eslint-disable-next-line @typescript-eslint/require-await -- what it throws is a rejection this way
  async open(): Promise<void> {
    const { tls, timeoutMs, connections } = this.#config;
    const read = (field: string, path: string | null | undefined) =>
      path === null || path === undefined ? undefined : readPem(`${this.#place}.tls.${field}`, path);
    const files = {
      ca: read('ca', tls?.caPath),
      cert: read('certificate', tls?.certificatePath),
      key: read('key', tls?.keyPath),
    };
    this.#pool ??= new Pool(this.#url.origin, {
      connections,
      connect: {
        timeout: timeoutMs,
        ...Object.fromEntries(Object.entries(files).filter(([, pem]) => pem !== undefined)),
      },
    });
  }

  async apply(batch: readonly EffectRecord[]): Promise<readonly Applied[]> {
    const outcomes: Applied[] = [];
    for (const record of batch) outcomes.push(await this.#send(record));
    return outcomes;
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  async #send(record: EffectRecord): Promise<Applied> {
    if (this.#pool === null) throw new Error('the HTTP adapter is not open');
    const { method, timeoutMs } = this.#config;
    const path = this.#url.path(record);
    const what = `${method} ${this.#url.origin}${path}`;
    const request = {
      method,
      path,
      headers: this.#headers(record),
      body: this.#body?.(record) ?? null,
      signal: AbortSignal.timeout(timeoutMs),
    };
    let response: Dispatcher.ResponseData;
    try {
      response = await this.#pool.request(request);
    } catch (error) {
      throw this.#unanswered(error, what);
    }
    return this.#judge(response, what);
  }

  async #judge({ statusCode, headers, body }: Dispatcher.ResponseData, what: string): Promise<Applied> {
    const reply = classifyStatus(statusCode);
    const outcome =
      reply === 'done' ? 'applied' : reply === 'conflict' && this.#config.conflictIsDone ? 'repeat' : null;
    if (outcome !== null) {
      // Read to its end, so that the connection can be used again. The status has said it all: `dump` resolves too where
      // the answer breaks off or its time is up.
      await body.dump();
      return outcome;
    }
    const kind = reply === 'transient' || reply === 'denied' ? reply : 'poison';
    const location =
      statusCode >= 300 && statusCode < 400 ? ` (redirects are not followed) to ${String(headers['location'])}` : '';
    const answer = await readBeginning(body);
    const text = this.#redact(`${what}: status ${statusCode}${location}: ${answer}`);
    const wait = kind === 'transient' ? retryAfterMs(headers['retry-after'], Date.now()) : undefined;
    throw new EffectFailure(kind, text.slice(0, what.length + SHOWN_CHARACTERS), {
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
    });
  }

  #unanswered(error: unknown, what: string): EffectFailure {
    const message = error instanceof Error ? error.message : String(error);
    const code = errorCode(error);
    const text = this.#redact(`${what}: ${message || 'no connection'}${code === undefined ? '' : ` (${code})`}`);
    if (isCertificateError(error))
      return new EffectFailure('denied', `${text}; see ${this.#place}.tls.ca`, { cause: error });
    // Refused by undici before anything was sent.
    const kind = code === 'UND_ERR_INVALID_ARG' ? 'poison' : 'transient';
    return new EffectFailure(kind, text, { cause: error });
  }
}

/** Whatever an answer's end brings, its beginning is shown, on one line. */
async function readBeginning(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= READ_BYTES) break;
    }
  } catch {
    // Cut or too slow: the status is what decides, and what has come is shown.
  }
  const text = Buffer.concat(chunks).subarray(0, READ_BYTES).toString('utf8');
  // eslint-disable-next-line no-control-regex -- these are what must not get into a log line
  return text.replace(/[\s\x00-\x1f\x7f]+/g, ' ').trim() || 'no text';
}

function readPem(place: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const reason = errorCode(error) ?? String(error);
    throw new EffectFailure('denied', `${place}: can not read ${path}: ${reason}`, { cause: error });
  }
}

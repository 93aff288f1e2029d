/**
 * The HTTP adapter's configuration, as YAML under `effects.<name>.http`:
 *
 * ```yaml
 * http:
 *   url: 'https://desk.example/delays/{key}'   # placeholders are URL-encoded; none in scheme and host
 *   method: POST                               # POST, PUT, PATCH or DELETE
 *   headers: { X-Origin: '{value.origin}' }    # Idempotency-Key, Authorization with a bearerToken, Content-Length, … are refused
 *   body: value                                # the default: the value as JSON; `none`; or a template:
 *   # body: { flight: '{key}', minutes: '{value.delay}', text: 'late by {value.delay} minutes' }
 *   timeout: 10s                               # of one request, from connecting to the end of the response
 *   done: [409]                                # statuses besides 2xx that mean: was done before. Default: none; 409 alone is allowed
 *   connections: 8                             # at most this many at once
 *   bearerToken: ${file:/run/secrets/desk-token}
 *   tls: { ca: ./ca.pem, certificate: ./client.pem, key: ./client.key }
 * ```
 *
 * References in braces are those of the Postgres adapter; `{{` is a brace as it is. In a body template a text that is
 * one placeholder and nothing else keeps the type of what it refers to.
 */
export interface HttpConfig {
  readonly url: string;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body:
    { readonly type: 'value' } | { readonly type: 'none' } | { readonly type: 'template'; readonly template: unknown };
  readonly timeoutMs: number;
  /** A 409 counts as done before; else it is poison as other 4xx are. */
  readonly conflictIsDone: boolean;
  readonly connections: number;
  /** A secret. */
  readonly bearerToken: string | null;
  /** Absolute paths of PEM files. */
  readonly tls: {
    readonly caPath: string | null;
    readonly certificatePath: string | null;
    readonly keyPath: string | null;
  } | null;
}

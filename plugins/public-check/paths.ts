/** On the operator listener: issues a pass. */
export const passPath = '/public-check/pass';

/** Of the public listener; each needs a pass. */
export const publicPaths = {
  /** Echoes the received request. A further path may follow. */
  arrived: '/v1/public-check/arrived',
  /** A WebSocket that sends messages back; for other requests what arrives, with status 426. */
  upgrade: '/v1/public-check/upgrade',
  /** The length of a body. */
  body: '/v1/public-check/body',
  /** Events at a known pace. */
  stream: '/v1/public-check/stream',
  /** An event stream that is silent for `?seconds`. */
  silence: '/v1/public-check/silence',
  /** A response that is not streamed, after `?seconds`. */
  wait: '/v1/public-check/wait',
  /** The same as the last two for a minute, under `?id`: its client leaves. */
  leaveSilence: '/v1/public-check/leave-silence',
  leaveWait: '/v1/public-check/leave-wait',
  /** State of the client of `?id`: whether it has left. */
  left: '/v1/public-check/left',
} as const;

/** Name of the endpoint that opens WebSockets. */
export const echoEndpoint = 'public_check_echo';

/** Events of `stream`, and ms between two. */
export const pace = { events: 20, interval: 100 } as const;

/** Seconds that `silence` and `wait` may take. */
export const longestWait = 600;

/** Response of `arrived`. */
export interface Arrival {
  readonly path: string;
  /** Of the client, as the gateway takes it from the proxies that it trusts. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Response of `left`; `unknown` until the call has arrived. */
export interface Departure {
  readonly state: 'unknown' | 'waiting' | 'left';
}

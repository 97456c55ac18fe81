/** Path on the operator listener that issues a pass. */
export const passPath = '/public-check/pass';

/** Paths on the public listener. Each needs a pass. */
export const publicPaths = {
  /** Echoes the request. More path segments may follow. */
  arrived: '/v1/public-check/arrived',
  /** A WebSocket that echoes messages. Other requests are echoed with status 426. */
  upgrade: '/v1/public-check/upgrade',
  /** Responds with the length of the body. */
  body: '/v1/public-check/body',
  /** Sends events at a fixed rate. */
  stream: '/v1/public-check/stream',
  /** An event stream that stays silent for `?seconds`. */
  silence: '/v1/public-check/silence',
  /** Responds after `?seconds`, without streaming. */
  wait: '/v1/public-check/wait',
  /** Like `silence` and `wait`, but for a minute and with an `?id`. The client disconnects during the call. */
  leaveSilence: '/v1/public-check/leave-silence',
  leaveWait: '/v1/public-check/leave-wait',
  /** Reports whether the client of `?id` has left. */
  left: '/v1/public-check/left',
} as const;

/** Name of the endpoint that opens WebSockets. */
export const echoEndpoint = 'public_check_echo';

/** How many events `stream` sends, and the ms between them. */
export const testStream = { events: 20, interval: 100 } as const;

/** How long `silence` and `wait` may take. */
export const maxWaitSeconds = 600;

/** What `arrived` responds. */
export interface Arrival {
  readonly path: string;
  /** The client's address according to the proxies that the gateway trusts. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What `left` responds; `unknown` until the call has arrived. */
export interface Departure {
  readonly state: 'unknown' | 'waiting' | 'left';
}

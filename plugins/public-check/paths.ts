export const passPath = '/public-check/pass'; // on the operator listener; issues a pass

/** Paths on the public listener. Each needs a pass. */
export const publicPaths = {
  arrived: '/v1/public-check/arrived', // echoes the request; more path segments may follow
  upgrade: '/v1/public-check/upgrade', // a WebSocket that echoes messages; other requests are echoed with status 426
  body: '/v1/public-check/body', // responds with the length of the body
  stream: '/v1/public-check/stream', // sends events at a fixed rate
  silence: '/v1/public-check/silence', // an event stream without events for `?seconds`
  wait: '/v1/public-check/wait', // responds after `?seconds`, without streaming
  /** Responds like `silence` and `wait`, but for a minute and with an `?id`. The client disconnects during the call. */
  leaveSilence: '/v1/public-check/leave-silence',
  leaveWait: '/v1/public-check/leave-wait',
  left: '/v1/public-check/left', // reports whether the client of `?id` has left
} as const;

export const echoEndpoint = 'public_check_echo';

export const testStream = { events: 20, interval: 100 } as const; // interval in ms

export const maxWaitSeconds = 600; // of `silence` and `wait`

/** Response of `arrived`. */
export interface Arrival {
  readonly path: string;
  readonly address: string; // according to the proxies that the gateway trusts
  readonly headers: Readonly<Record<string, string>>;
}

/** Response of `left`; `unknown` until the call has arrived. */
export interface Departure {
  readonly state: 'unknown' | 'waiting' | 'left';
}

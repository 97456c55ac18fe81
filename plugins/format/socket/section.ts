import { defineSection } from '#core/config/section.ts';
import { longestSlotWait } from '#core/gateway/facts.ts';
import { boolean, integer, number, object } from '#core/platform/schema.ts';

export const websocketSection = defineSection({
  name: 'websocket',
  schema: object({ default: {} }, 'The Responses API over WebSockets, at GET /v1/responses.', {
    enabled: boolean(
      { default: true },
      'If false, every WebSocket is answered with 426, and Codex then sends POST requests.',
    ),
    max_sockets: integer(
      { minimum: 1, maximum: 100_000, default: 200 },
      'Maximum number of WebSockets that an account can have open in each process; further ones get 429.',
    ),
    max_minutes: number(
      { minimum: 0.01, maximum: 1440, default: 60 },
      'Minutes after which a WebSocket accepts no further requests, so that clients open another one. OpenAI closes its own after 60.',
    ),
    queue_wait: number(
      { minimum: 0, maximum: longestSlotWait / 1000, default: 15 },
      'How many seconds a request on a WebSocket waits if its key already has the maximum number of requests in flight, including POST requests; after that, it gets 429.',
    ),
    max_kept_bytes: integer(
      { minimum: 0, maximum: 17_179_869_184, default: 268_435_456 },
      'Maximum bytes of memory in each process for the conversations that WebSockets continue, at most a quarter of its memory. The least recently used are dropped first, and their clients send them again.',
    ),
  }),
});

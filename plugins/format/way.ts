import type { ReplyReader, UpstreamRequest } from '#core/model-call/adapter.ts';

/** How a request goes to one route and its reply comes back. */
export interface Way {
  readonly request: UpstreamRequest;
  read(): ReplyReader;
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { MessageRunner } from '#core/gateway/http/run-message.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import type { KeptConversations } from './kept.ts';

/** Shared by all sockets of the process. */
export interface SocketContext {
  readonly conversations: MessageRunner;
  readonly kept: KeptConversations;
  readonly endpoint: Endpoint;
  readonly warmUp: Endpoint;
  now(): number; // ms, monotonic
}

/** A connection that has been accepted. */
export interface SocketInit {
  readonly ws: WebSocket;
  readonly socket: Socket;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly remoteAddress: string | undefined;
  readonly isCodex: boolean;
  /** False if the key is not valid. */
  readonly isAuthenticated: boolean;
  readonly noticePrefix: string;
  readonly minutes: number;
  readonly queueWait: number; // seconds
  /** Memory for the arriving message, and for messages whose bodies have not been read yet. */
  readonly memory: MemoryShare;
  readonly waiting: MemoryShare;
  readonly maxBytes: number; // bytes, for one message and for all waiting messages
}

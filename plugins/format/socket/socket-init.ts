import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { InboundMessage, MessageRunner } from '#core/gateway/http/run-message.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import type { KeptConversations } from './kept-conversations.ts';

/** Shared by all sockets of the process. */
export interface SocketContext {
  readonly messageRunner: MessageRunner;
  readonly keptConversations: KeptConversations;
  readonly endpoint: Endpoint;
  readonly warmUp: Endpoint;
  now(): number; // ms, monotonic
}

export interface SocketInit extends Pick<InboundMessage, 'headers' | 'path' | 'query' | 'remoteAddress'> {
  readonly ws: WebSocket;
  readonly socket: Socket;
  readonly isCodex: boolean;
  readonly isAuthenticated: boolean;
  readonly noticePrefix: string;
  readonly maxMinutes: number;
  readonly queueWaitSeconds: number;
  /** Memory for the message that is arriving. */
  readonly memory: MemoryShare;
  /** Memory for messages whose bodies have not been read yet. */
  readonly waitingMemory: MemoryShare;
  readonly maxBytes: number; // bytes, for one message and for all waiting messages
}

import type { Server } from '@hapi/hapi';
import { listen } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { parseNetwork } from '#core/gateway/http/network.ts';
import { parseQuery } from '#core/gateway/http/open-exchange.ts';
import type { SocketEndpoint, Upgrade } from '#core/gateway/http/upgrades.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import { runInBackground } from '#core/platform/background.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { type Acceptor, loadAcceptor } from './accept-socket.ts';
import { ClientSocket } from './client-socket.ts';
import { isCodexClient } from './error-frames.ts';
import { hasKey, createSocketHeaders, createMissingKeyError } from './handshake.ts';
import { KeptConversations } from './kept-conversations.ts';
import { websocketSection } from './section.ts';
import { SocketCounts } from './socket-counts.ts';
import type { SocketContext } from './socket-init.ts';
import { createWarmUpEndpoint } from './warm-up.ts';

const sweepIntervalMs = 5_000;
const retryAfterSeconds = 5; // for a client with too many sockets
const maxUnauthenticated = 16; // open sockets without a valid key, per network
const maxAccountBytes = 64 * 1024 ** 2; // bytes of kept conversations

type Caller = Parameters<Upgrade['messageRunner']['accountOf']>[0];

/** All WebSockets of the process. */
export class SocketFront implements Pick<SocketEndpoint, 'open' | 'drain'> {
  readonly #endpointName: string;
  readonly #server: Server;
  readonly #sockets = new Set<ClientSocket>();
  readonly #accountSockets = new SocketCounts();
  readonly #unauthenticatedSockets = new SocketCounts(); // by network
  #context: SocketContext | undefined;
  #acceptorPromise: Promise<Acceptor> | undefined;
  #sweepTimer: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(server: Server, endpointName: string) {
    this.#server = server;
    this.#endpointName = endpointName;
  }

  get count(): number {
    return this.#sockets.size;
  }

  get keptBytes(): number {
    return this.#context?.keptConversations.heldBytes ?? 0;
  }

  readonly drain = (): void => {
    this.#isDraining = true;
    for (const socket of this.#sockets) socket.drain();
  };

  readonly open = async (upgrade: Upgrade): Promise<void> => {
    const { request, messageRunner, refuse, socket } = upgrade;
    const { pipeline, host, corsOrigins } = messageRunner.serving;
    const { origin } = request.headers;
    // Browsers send no preflight before they open a WebSocket.
    if (origin !== undefined && !corsOrigins.has('*') && !corsOrigins.has(origin))
      return refuse(new GatewayError('forbidden', `Pages from ${origin.slice(0, 200)} may not call this API.`));
    const headers = createSocketHeaders(request.headers);
    const needsKey = pipeline.accountOf !== undefined;
    if (needsKey && !hasKey(headers)) return refuse(createMissingKeyError());
    const remoteAddress = messageRunner.addressOf(socket.remoteAddress, request.headers);
    const { endpoint } = this.#getContext(upgrade, host);
    const caller = { endpoint, path: upgrade.path, query: parseQuery(request.url), headers, remoteAddress };
    const account = await findAccount(upgrade, caller);
    if (account instanceof GatewayError) return refuse(account);
    if (socket.destroyed) return;
    // Without accounts, all sockets have the same owner.
    const accountId = needsKey ? account : (account ?? '');
    // Counted immediately, because many sockets may be opened at the same moment.
    const removeSocket =
      accountId === undefined
        ? this.#unauthenticatedSockets.addSocket(parseNetwork(remoteAddress), maxUnauthenticated)
        : this.#accountSockets.addSocket(accountId, host.section(websocketSection).max_sockets);
    if (removeSocket === undefined) {
      const message =
        accountId === undefined
          ? 'Too many WebSockets from your address have no valid API key.'
          : 'Your account has too many open WebSockets.';
      return refuse(createTooManySocketsError(message));
    }
    socket.once('close', removeSocket);
    await this.#accept(upgrade, host, { ...caller, accountId });
  };

  async #accept(
    upgrade: Upgrade,
    host: Host,
    { accountId, headers, ...caller }: Omit<Caller, 'endpoint'> & { readonly accountId: string | undefined },
  ): Promise<void> {
    const { socket } = upgrade;
    const { max_body_bytes: maxBytes } = host.section(listen);
    const { max_minutes: maxMinutes, queue_wait: queueWaitSeconds } = host.section(websocketSection);
    const accept = await this.#loadAcceptor();
    if (socket.destroyed) return;
    const ws = await accept(upgrade, maxBytes);
    const memoryOwner = accountId ?? caller.remoteAddress ?? '';
    const client = new ClientSocket(this.#getContext(upgrade, host), {
      ...caller,
      ws,
      socket,
      headers,
      isCodex: isCodexClient(headers),
      isAuthenticated: accountId !== undefined,
      noticePrefix: `x-${host.service.slug}-`,
      maxMinutes,
      queueWaitSeconds,
      maxBytes,
      memory: host.memory.createShare(memoryOwner),
      waitingMemory: host.memory.createShare(memoryOwner),
    });
    this.#sockets.add(client);
    client.listen(() => {
      this.#sockets.delete(client);
      if (this.#sockets.size > 0) return;
      clearInterval(this.#sweepTimer);
      this.#sweepTimer = undefined;
    });
    this.#sweepTimer ??= setInterval(() => this.#sweep(), sweepIntervalMs).unref();
    if (this.#isDraining) client.drain();
  }

  #loadAcceptor(): Promise<Acceptor> {
    return (this.#acceptorPromise ??= loadAcceptor().catch((error: unknown) => {
      this.#acceptorPromise = undefined;
      throw error;
    }));
  }

  #sweep(): void {
    const host = this.#server.host();
    const section = host.section(listen);
    const limits = {
      writeTimeoutSeconds: section.write_timeout,
      bodyTimeoutSeconds: section.body_timeout,
      minBytesPerSecond: section.body_rate,
    };
    for (const socket of this.#sockets) runInBackground(host.log, 'checking a WebSocket', () => socket.sweep(limits));
  }

  #getContext({ messageRunner }: Upgrade, host: Host): SocketContext {
    return (this.#context ??= this.#createContext(messageRunner, host));
  }

  #createContext(messageRunner: Upgrade['messageRunner'], host: Host): SocketContext {
    const { memory } = host;
    const totalBytes = Math.min(host.section(websocketSection).max_kept_bytes, Math.floor(memory.capacity / 4));
    const keptConversations = new KeptConversations({ totalBytes, accountBytes: maxAccountBytes }, (bytes) =>
      memory.canCache(bytes),
    );
    memory.registerCache(keptConversations);
    const endpoint = this.#server.gateway.endpoints.find(({ name }) => name === this.#endpointName) as Endpoint;
    const warmUp = createWarmUpEndpoint(endpoint, () => this.#server.host());
    return { messageRunner, keptConversations, endpoint, warmUp, now: () => host.monotonic() };
  }
}

/** Returns undefined for an unknown key. Returns errors instead of throwing them. */
async function findAccount({ messageRunner }: Upgrade, caller: Caller): Promise<string | GatewayError | undefined> {
  try {
    return await messageRunner.accountOf(caller);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    return new GatewayError('unavailable', 'Keys cannot be verified at the moment. Try again.', {
      retryAfter: 2,
      cause: error,
    });
  }
}

function createTooManySocketsError(message: string): GatewayError {
  return new GatewayError('rate_limited', `${message} Close some.`, { retryAfter: retryAfterSeconds });
}

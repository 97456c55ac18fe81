import type { Server } from '@hapi/hapi';
import { listen } from '#core/config/sections/core-sections.ts';
import { inBackground } from '#core/platform/background.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { networkOf } from '#core/gateway/http/network.ts';
import { parseQuery } from '#core/gateway/http/open-exchange.ts';
import type { SocketEndpoint, Upgrade } from '#core/gateway/http/upgrades.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import { type Acceptor, loadAcceptor } from './accept-socket.ts';
import { ClientSocket } from './client-socket.ts';
import { namesCodex } from './error-frames.ts';
import { hasKey, headersOfSocket, missingKey } from './handshake.ts';
import { KeptConversations } from './kept.ts';
import { websocketSection } from './section.ts';
import { SocketCounts } from './socket-counts.ts';
import type { SocketContext } from './socket-init.ts';
import { warmUpEndpoint } from './warm-up.ts';

const sweepEvery = 5_000; // ms between two looks at all sockets
const defaultRetryAfter = 5; // seconds after which a client with too many sockets may retry
/** Maximum number of open sockets without a valid key per network. */
const mostUnauthenticated = 16;
const mostOfAccount = 64 * 1024 ** 2; // bytes of the conversations of one account

/** All WebSockets of the process. */
export class SocketFront implements Pick<SocketEndpoint, 'open' | 'drain'> {
  readonly #endpoint: string;
  readonly #server: Server;
  readonly #sockets = new Set<ClientSocket>();
  readonly #byAccount = new SocketCounts();
  readonly #unauthenticated = new SocketCounts(); // by network
  #context: SocketContext | undefined;
  #loading: Promise<Acceptor> | undefined;
  #sweeping: NodeJS.Timeout | undefined;
  #isDraining = false;

  /** @param endpoint name of the endpoint that is also served over WebSockets */
  constructor(server: Server, endpoint: string) {
    this.#server = server;
    this.#endpoint = endpoint;
  }

  get count(): number {
    return this.#sockets.size;
  }

  get keptBytes(): number {
    return this.#context?.kept.held ?? 0;
  }

  readonly drain = (): void => {
    this.#isDraining = true;
    for (const socket of this.#sockets) socket.drain();
  };

  readonly open = async (upgrade: Upgrade): Promise<void> => {
    const { request, conversations, refuse, socket } = upgrade;
    const { pipeline, host, corsOrigins } = conversations.serving;
    const { origin } = request.headers;
    // Browsers send no preflight before they open a WebSocket.
    if (origin !== undefined && !corsOrigins.has('*') && !corsOrigins.has(origin))
      return refuse(new GatewayError('forbidden', `Pages of ${origin.slice(0, 200)} may not call this API.`));
    const headers = headersOfSocket(request.headers);
    const needsKey = pipeline.accountOf !== undefined;
    if (needsKey && !hasKey(headers)) return refuse(missingKey());
    const remoteAddress = conversations.addressOf(socket.remoteAddress, request.headers);
    const { endpoint } = this.#contextOf(upgrade, host);
    const caller = { endpoint, path: upgrade.path, query: parseQuery(request.url), headers, remoteAddress };
    const account = await findAccount(upgrade, caller);
    if (account instanceof GatewayError) return refuse(account);
    if (socket.destroyed) return;
    const id = needsKey ? account : (account ?? '');
    // The socket is counted immediately: many sockets may be opened at the same moment.
    const close =
      id === undefined
        ? this.#unauthenticated.open(networkOf(remoteAddress), mostUnauthenticated)
        : this.#byAccount.open(id, host.section(websocketSection).max_sockets);
    if (close === undefined)
      return refuse(
        tooMany(
          id === undefined
            ? 'Too many WebSockets of your address have no valid API key.'
            : 'Your account has too many open WebSockets.',
        ),
      );
    socket.once('close', close);
    await this.#accept(upgrade, host, { ...caller, id });
  };

  async #accept(
    upgrade: Upgrade,
    host: Host,
    { id, headers, ...caller }: Omit<Caller, 'endpoint'> & { readonly id: string | undefined },
  ): Promise<void> {
    const { socket } = upgrade;
    const { max_body_bytes: maxBytes } = host.section(listen);
    const { max_minutes: minutes, queue_wait: queueWait } = host.section(websocketSection);
    const accept = await this.#loadAcceptor();
    if (socket.destroyed) return;
    const ws = await accept(upgrade, maxBytes);
    const owner = id ?? caller.remoteAddress ?? '';
    const client = new ClientSocket(this.#contextOf(upgrade, host), {
      ...caller,
      ws,
      socket,
      headers,
      isCodex: namesCodex(headers),
      isAuthenticated: id !== undefined,
      noticePrefix: `x-${host.service.slug}-`,
      minutes,
      queueWait,
      maxBytes,
      memory: host.memory.share(owner),
      waiting: host.memory.share(owner),
    });
    this.#sockets.add(client);
    client.listen(() => {
      this.#sockets.delete(client);
      if (this.#sockets.size > 0) return;
      clearInterval(this.#sweeping);
      this.#sweeping = undefined;
    });
    this.#sweeping ??= setInterval(() => this.#sweep(), sweepEvery).unref();
    if (this.#isDraining) client.drain();
  }

  /** Loads the acceptor once; a failure, such as too many open files, is not cached. */
  #loadAcceptor(): Promise<Acceptor> {
    return (this.#loading ??= loadAcceptor().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    }));
  }

  #sweep(): void {
    const host = this.#server.host();
    const { write_timeout: writeTimeout, body_timeout: bodyTimeout, body_rate: minRate } = host.section(listen);
    for (const socket of this.#sockets)
      inBackground(host.log, 'looking after a WebSocket', () => socket.sweep({ writeTimeout, bodyTimeout, minRate }));
  }

  /** The context that all sockets share; created for the first socket. */
  #contextOf({ conversations }: Upgrade, host: Host): SocketContext {
    return (this.#context ??= this.#makeContext(conversations, host));
  }

  #makeContext(conversations: Upgrade['conversations'], host: Host): SocketContext {
    const { memory } = host;
    const total = Math.min(host.section(websocketSection).max_kept_bytes, Math.floor(memory.capacity / 4));
    const kept = new KeptConversations({ total, account: mostOfAccount }, (bytes) => memory.mayKeep(bytes));
    memory.keep(kept);
    const endpoint = this.#server.gateway.endpoints.find(({ name }) => name === this.#endpoint) as Endpoint;
    const warmUp = warmUpEndpoint(endpoint, () => this.#server.host());
    return { conversations, kept, endpoint, warmUp, now: () => host.monotonic() };
  }
}

type Caller = Parameters<Upgrade['conversations']['accountOf']>[0];

/** The id of the account; undefined for an unknown key. */
async function findAccount({ conversations }: Upgrade, caller: Caller): Promise<string | GatewayError | undefined> {
  try {
    return await conversations.accountOf(caller);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    return new GatewayError('unavailable', 'Keys cannot be verified at the moment. Try again.', {
      retryAfter: 2,
      cause: error,
    });
  }
}

function tooMany(message: string): GatewayError {
  return new GatewayError('rate_limited', `${message} Close some.`, { retryAfter: defaultRetryAfter });
}

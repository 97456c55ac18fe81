import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '#core/platform/bounds.ts';
import type { Gauge } from '../health/gauge.ts';
import type { HealthCheck, HealthVerdict } from '../health/health-check.ts';
import { healthReason } from '../health/health-reason.ts';
import type { ParserRefusals } from './parser-refusals.ts';

const unhealthyForMs = 60_000; // after a rejected connection

const surplus = Symbol('connection over the limit');

interface ClientSocket extends Socket {
  [surplus]?: true;
}

/** Returns true for a connection over the limit, whose requests get 503. */
export function isSurplus(socket: Socket): boolean {
  return (socket as ClientSocket)[surplus] === true;
}

/**
 * Counts client connections. Over the limit, a few more are accepted and get 503, or the response of a health check; further ones get 503
 * without being read. Without a limit, file descriptors would run out for the database, the journal and upstreams too, and the system would
 * reset new connections.
 */
export class ConnectionLimit {
  readonly #openFiles: number;
  readonly #refusals: ParserRefusals;
  #limit = Number.POSITIVE_INFINITY;
  #open = 0;
  #refusedAt = Number.NEGATIVE_INFINITY; // performance.now()
  #since = 0; // epoch ms

  /** @param openFiles maximum open files of this process */
  constructor(refusals: ParserRefusals, openFiles = readOpenFilesLimit()) {
    this.#refusals = refusals;
    this.#openFiles = openFiles;
  }

  /** Applies `listen.max_connections`, limited by the open files. May be called while the server listens. */
  apply(configured = Number.POSITIVE_INFINITY): void {
    this.#limit = Math.min(configured, connectionsFor(this.#openFiles));
  }

  /** Number of open connections. */
  get open(): number {
    return this.#open;
  }

  /** Text for the startup log; undefined without a limit. */
  get description(): string | undefined {
    if (this.#limit === Number.POSITIVE_INFINITY) return undefined;
    return `accepting up to ${this.#limit} connections of clients; the system allows ${this.#openFiles} open files`;
  }

  get gauges(): readonly Gauge[] {
    const readLimit = () => (Number.isFinite(this.#limit) ? [{ value: this.#limit }] : []);
    return [
      { name: 'client_connections', description: 'Open connections of clients.', read: () => [{ value: this.#open }] },
      {
        name: 'client_connections_limit',
        description: 'Connections of clients over which further ones get 503; missing without a limit.',
        read: readLimit,
      },
    ];
  }

  get healthCheck(): HealthCheck {
    return { name: 'connections', runbook: 'connections-full', check: () => this.#check() };
  }

  /** Inserts itself before the server's existing request listeners. */
  attach(server: Server): void {
    const listeners = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      if (isSurplus(request.socket)) {
        if (!isHealthCheck(request.url)) return this.#refusals.refuseSurplus(request, response);
        response.setHeader('connection', 'close');
      }
      for (const listener of listeners) listener.call(server, request, response);
    });
    server.on('connection', (socket: ClientSocket) => this.#admit(socket));
  }

  #admit(socket: ClientSocket): void {
    this.#open++;
    socket.once('close', () => this.#open--);
    if (this.#open <= this.#limit) return;
    const now = performance.now();
    if (now - this.#refusedAt > unhealthyForMs) this.#since = Date.now();
    this.#refusedAt = now;
    if (this.#open > this.#limit + surplusFor(this.#openFiles)) return this.#refusals.refuseConnection(socket);
    socket[surplus] = true;
    const timer = setTimeout(() => socket.destroy(), bounds.surplusTime);
    socket.once('close', () => clearTimeout(timer));
  }

  #check(): HealthVerdict {
    if (performance.now() - this.#refusedAt > unhealthyForMs) return { ok: true };
    const reason = healthReason('health.reason.connections', { limit: this.#limit, files: this.#openFiles });
    return { ok: false, reason, since: this.#since };
  }
}

/**
 * Connections for which the open files suffice: each may need another to an upstream, and the database, the journal and the operator need
 * some.
 */
export function connectionsFor(openFiles: number): number {
  return Math.max(bounds.leastConnections, Math.floor((openFiles - bounds.reservedFiles - surplusFor(openFiles)) / 2));
}

function surplusFor(openFiles: number): number {
  return Math.min(bounds.surplusConnections, Math.floor(openFiles / 8));
}

function isHealthCheck(url: string | undefined): boolean {
  return url === '/livez' || url === '/readyz';
}

function readOpenFilesLimit(): number {
  // Otherwise the report would look up the names of all peers.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } };
  const soft = userLimits?.open_files.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

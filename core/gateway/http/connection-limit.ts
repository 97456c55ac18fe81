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

export function isSurplus(socket: Socket): boolean {
  return (socket as ClientSocket)[surplus] === true;
}

/**
 * Limits client connections. A few connections over the limit are accepted, and their requests get 503, except health checks. Further
 * connections get 503 without being read. Without a limit, the database, the journal and upstreams would run out of file descriptors, and
 * the system would reset new connections.
 */
export class ConnectionLimit {
  readonly #maxOpenFiles: number;
  readonly #refusals: ParserRefusals;
  #limit = Number.POSITIVE_INFINITY;
  #openCount = 0;
  #refusedAt = Number.NEGATIVE_INFINITY; // performance.now()
  #unhealthySince = 0; // epoch ms

  constructor(refusals: ParserRefusals, maxOpenFiles = readOpenFilesLimit()) {
    this.#refusals = refusals;
    this.#maxOpenFiles = maxOpenFiles;
  }

  /** Applies `listen.max_connections`, capped by the number of open files. May be called while the server listens. */
  apply(configured = Number.POSITIVE_INFINITY): void {
    this.#limit = Math.min(configured, maxConnectionsFor(this.#maxOpenFiles));
  }

  get openCount(): number {
    return this.#openCount;
  }

  /** Text for the startup log; undefined without a limit. */
  get description(): string | undefined {
    if (this.#limit === Number.POSITIVE_INFINITY) return undefined;
    return `accepting up to ${this.#limit} client connections; the system allows ${this.#maxOpenFiles} open files`;
  }

  get gauges(): readonly Gauge[] {
    const readLimit = () => (Number.isFinite(this.#limit) ? [{ value: this.#limit }] : []);
    return [
      { name: 'client_connections', description: 'Open client connections.', read: () => [{ value: this.#openCount }] },
      {
        name: 'client_connections_limit',
        description: 'Client connections above which further ones get 503; missing without a limit.',
        read: readLimit,
      },
    ];
  }

  get healthCheck(): HealthCheck {
    return { name: 'connections', runbook: 'connections-full', check: () => this.#checkHealth() };
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
    this.#openCount++;
    socket.once('close', () => this.#openCount--);
    if (this.#openCount <= this.#limit) return;
    const now = performance.now();
    if (now - this.#refusedAt > unhealthyForMs) this.#unhealthySince = Date.now();
    this.#refusedAt = now;
    if (this.#openCount > this.#limit + maxSurplusFor(this.#maxOpenFiles))
      return this.#refusals.refuseConnection(socket);
    socket[surplus] = true;
    const timer = setTimeout(() => socket.destroy(), bounds.surplusTimeoutMs);
    socket.once('close', () => clearTimeout(timer));
  }

  #checkHealth(): HealthVerdict {
    if (performance.now() - this.#refusedAt > unhealthyForMs) return { ok: true };
    const reason = healthReason('health.reason.connections', { limit: this.#limit, files: this.#maxOpenFiles });
    return { ok: false, reason, since: this.#unhealthySince };
  }
}

/**
 * Returns the number of client connections that a limit on open files allows. Each client connection may need another one to an upstream,
 * and some files are reserved for the database, the journal and the operator.
 */
export function maxConnectionsFor(openFiles: number): number {
  return Math.max(bounds.minConnections, Math.floor((openFiles - bounds.reservedFiles - maxSurplusFor(openFiles)) / 2));
}

function maxSurplusFor(openFiles: number): number {
  return Math.min(bounds.surplusConnections, Math.floor(openFiles / 8));
}

function isHealthCheck(url: string | undefined): boolean {
  return url === '/livez' || url === '/readyz';
}

function readOpenFilesLimit(): number {
  // Otherwise the report would resolve the host names of all peers.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } };
  const soft = userLimits?.open_files.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

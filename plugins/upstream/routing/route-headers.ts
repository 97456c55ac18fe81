import type { Model } from '#core/config/catalog/catalog.ts';
import type { AttemptRecord, Delivery } from '#core/gateway/facts.ts';
import type { DocumentedHeader } from '#core/gateway/host/api-documentation.ts';
import type { Service } from '#core/gateway/host/host.ts';
import { notesHeaderName } from '#core/gateway/model-call/notes-header.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { GatewayError } from '#core/platform/errors/table.ts';

/** How routes are identified to clients: not at all, by position in the model's list, or by the names of upstream and model. */
export const routeExposures = ['hidden', 'numbers', 'names'] as const;
export type RouteExposure = (typeof routeExposures)[number];

const maxRouteLength = 120;

/**
 * Creates the response headers `x-daypass-route`, with the route that served, and `x-daypass-attempts`, with the routes that were tried.
 */
export class RouteHeaders {
  readonly #exposure: RouteExposure;
  readonly #slug: string;

  constructor({ slug }: Pick<Service, 'slug'>, exposure: RouteExposure) {
    this.#slug = slug;
    this.#exposure = exposure;
  }

  /** Adds the headers to the reply, or to the error if the promise rejects. */
  addToReply(reply: Promise<Reply>, model: Model, delivery: Delivery): Promise<Reply> {
    return this.#exposure === 'hidden' ? reply : this.#addHeaders(reply, model, delivery);
  }

  async #addHeaders(reply: Promise<Reply>, model: Model, delivery: Delivery): Promise<Reply> {
    try {
      const { headers, ...rest } = await reply;
      return { ...rest, headers: { ...headers, ...this.#createHeaders(model, delivery, rest.status) } };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const headers = { ...error.details.headers, ...this.#createHeaders(model, delivery) };
      throw new GatewayError(error.code, error.message, { ...error.details, headers });
    }
  }

  #createHeaders(model: Model, { attempts, servedBy }: Delivery, status?: number): Record<string, string> {
    const attemptTexts = attempts
      .filter(({ outcome }) => outcome !== 'served')
      .map((attempt) => this.#describeAttempt(model, attempt));
    const servingRoute = servedBy === undefined ? undefined : this.#formatRoute(model, servedBy);
    if (servingRoute !== undefined) attemptTexts.push(`${servingRoute} ${status}`);
    return {
      ...(servingRoute !== undefined && { [`x-${this.#slug}-route`]: servingRoute }),
      ...(attemptTexts.length > 0 && { [`x-${this.#slug}-attempts`]: attemptTexts.join(', ') }),
    };
  }

  #describeAttempt(model: Model, { route, status = 0, fault, outcome }: AttemptRecord): string {
    return `${this.#formatRoute(model, route)} ${status >= 300 ? status : (fault ?? outcome)}`;
  }

  #formatRoute({ routes }: Model, id: string): string {
    if (this.#exposure === 'numbers') return String(routes.findIndex((route) => route.id === id) + 1);
    // Replaces characters that a header does not allow, and those that separate the list.
    return id.replace(/[^\x21-\x7e]|[,;]/g, '?').slice(0, maxRouteLength);
  }
}

/** Returns the name of the header for requests that waited for a slot; see `SlotRequest.headers`. */
export function createQueueHeaderName({ slug }: Pick<Service, 'slug'>): string {
  return `x-${slug}-queue`;
}

export function describeQueueHeader(service: Pick<Service, 'slug'>): DocumentedHeader {
  return {
    name: createQueueHeaderName(service),
    text: 'upstream.docs.queue',
    example: 'position=12, expected=4.2, waited=15.0',
    in: 'response',
  };
}

export function describeRouteHeaders(service: Pick<Service, 'slug'>, exposure: RouteExposure): DocumentedHeader[] {
  const notes = { name: notesHeaderName(service), text: 'upstream.docs.notes', example: 'top_k dropped' };
  const [first, second] = exposure === 'names' ? ['main/model', 'backup/model'] : ['1', '2'];
  const routes = [
    { name: `x-${service.slug}-route`, text: 'upstream.docs.route', example: second },
    { name: `x-${service.slug}-attempts`, text: 'upstream.docs.attempts', example: `${first} 503, ${second} 200` },
  ];
  return [notes, ...(exposure === 'hidden' ? [] : routes)].map((header) => ({ ...header, in: 'response' }));
}
